package contracttest

import (
	"context"
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"

	"plexus/connectors/redis"
	"plexus/primitives"
	driver "plexus/real/drivers/redis"
)

// redisReal is a server seen through a client of its own.
type redisReal struct {
	t      *testing.T
	relay  *relay
	admin  *goredis.Client
	mini   *miniredis.Miniredis // nil: redis-server
	sub    *goredis.PubSub
	mu     sync.Mutex
	got    map[string][]string
	closed chan struct{}
}

// startRedis starts redis-server where it is installed, else a miniredis.
func startRedis(t *testing.T) *redisReal {
	r := &redisReal{t: t, got: map[string][]string{}, closed: make(chan struct{})}
	addr := ""
	if path, err := exec.LookPath("redis-server"); err == nil {
		addr = startRedisServer(t, path)
	} else {
		r.mini = miniredis.RunT(t)
		addr = r.mini.Addr()
	}
	r.admin = goredis.NewClient(&goredis.Options{Addr: addr, Protocol: 2, DisableIdentity: true})
	r.sub = r.admin.PSubscribe(t.Context(), "*")
	if _, err := r.sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.closed)
		for m := range r.sub.Channel() {
			r.mu.Lock()
			r.got[m.Channel] = append(r.got[m.Channel], m.Payload)
			r.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		r.sub.Close()
		<-r.closed
		r.admin.Close()
	})
	r.relay = newRelay(t, addr)
	return r
}

func startRedisServer(t *testing.T, path string) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	listener.Close()
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command(path, "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return addr
		}
	}
	t.Fatal("redis-server did not start")
	return ""
}

func (r *redisReal) addr() string { return "redis://" + r.relay.addr() }

func (r *redisReal) password(text string) {
	if r.mini != nil {
		r.mini.RequireAuth(text)
		return
	}
	if err := r.admin.ConfigSet(r.t.Context(), "requirepass", text).Err(); err != nil {
		r.t.Error(err)
	}
}

func (r *redisReal) published(channel string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got[channel]
}

func (r *redisReal) dropConnections() { r.relay.drop() }

// connections counts those through the relay that the other side has not closed.
func (r *redisReal) connections() int { return r.relay.open() }

func (r *redisReal) settle(ctx context.Context, w primitives.World) {
	_ = primitives.Sleep(ctx, w, settleTime)
}

func TestRedisDriver(t *testing.T) {
	runRedis(t, func(t *testing.T) (stage, redisServer, redis.Driver) {
		return realStage(t), startRedis(t), driver.Driver{}
	})
}
