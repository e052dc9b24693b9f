package containerworld

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"plexus/features/realworld"
)

// startWithin bounds the start of one container.
const startWithin = 2 * time.Minute

// New returns the containers world.
func New() (*realworld.World, error) {
	return realworld.New("containers", func(string) map[string]realworld.Provider {
		return map[string]realworld.Provider{"nats": images[0], "redis": images[1]}
	})
}

var images = [...]image{
	{name: "plexus-test/nats:local", port: "4222/tcp", ready: "natsserver: ready"},
	{name: "plexus-test/redis:local", port: "6379/tcp", ready: "Ready to accept connections"},
}

// image runs one local image. Nothing is ever pulled: an image that is missing
// fails at once, because no registry has it.
type image struct{ name, port, ready string }

// Missing implements realworld.Provider.
func (image) Missing() string {
	host := os.Getenv("DOCKER_HOST")
	if host == "" {
		return "no container engine is named by DOCKER_HOST (make containers starts one)"
	}
	at, err := url.Parse(host)
	if err != nil {
		return fmt.Sprintf("DOCKER_HOST %q does not parse", host)
	}
	network, address := at.Scheme, at.Host
	if network == "unix" {
		address = at.Path
	}
	conn, err := net.DialTimeout(network, address, 2*time.Second)
	if err != nil {
		return fmt.Sprintf("the container engine does not answer: %v", err)
	}
	conn.Close()
	return ""
}

// Start implements realworld.Provider.
func (i image) Start() (string, func() error, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	container, err := testcontainers.Run(ctx, i.name,
		testcontainers.WithExposedPorts(i.port),
		testcontainers.WithWaitStrategy(wait.ForLog(i.ready)))
	// Neither keeps anything worth a graceful stop.
	stop := func() error { return testcontainers.TerminateContainer(container, testcontainers.StopTimeout(0)) }
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("container of %s: %w", i.name, err)
	}
	address, err := container.PortEndpoint(ctx, i.port, "")
	if err != nil {
		stop()
		return "", nil, err
	}
	return strings.TrimPrefix(address, "//"), stop, nil
}

var _ realworld.Provider = image{}
