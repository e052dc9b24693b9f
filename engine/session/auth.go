package session

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"

	"plexus/engine/catalog"
	"plexus/engine/client"
	"plexus/primitives"
)

// Cost is what one password hash costs. Elapsed is how long it takes on a
// production machine.
type Cost struct {
	MemoryKiB uint32
	Passes    uint32
	Elapsed   time.Duration
}

// DefaultCost is the specification's.
var DefaultCost = Cost{MemoryKiB: 19456, Passes: 2, Elapsed: 40 * time.Millisecond}

// LeastCost is the smallest legal one, for simulated nodes.
var LeastCost = Cost{MemoryKiB: 8, Passes: 1, Elapsed: 40 * time.Millisecond}

const (
	saltBytes = 16
	tagBytes  = 32
)

// Passwords hashes and verifies passwords, one at a time.
type Passwords struct {
	world    primitives.World
	executor *primitives.Executor
	cost     Cost
	key      [sha256.Size]byte
	nobody   string // what unknown names are compared with
	attempts func(outcome string)

	lock     *primitives.Mutex
	verified map[[sha256.Size]byte]verified
	failed   map[string]primitives.Instant // when the name may be tried again
}

// verified is a remembered success.
type verified struct {
	revision uint64
	until    primitives.Instant
}

// NewPasswords returns a verifier with an empty cache. Attempts takes the outcome
// of each authentication: success or failure.
func NewPasswords(w primitives.World, executor *primitives.Executor, cost Cost, attempts func(outcome string)) *Passwords {
	p := &Passwords{
		world: w, executor: executor, cost: cost, lock: primitives.NewMutex(w), attempts: attempts,
		verified: map[[sha256.Size]byte]verified{}, failed: map[string]primitives.Instant{},
	}
	_, _ = w.Entropy().Read(p.key[:]) // it never fails
	b64 := base64.RawStdEncoding
	p.nobody = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, cost.MemoryKiB, cost.Passes,
		b64.EncodeToString(make([]byte, saltBytes)), b64.EncodeToString(make([]byte, tagBytes)))
	return p
}

// Hash returns the PHC string of a password.
func (p *Passwords) Hash(ctx context.Context, password string) (string, error) {
	var salt [saltBytes]byte
	_, _ = p.world.Entropy().Read(salt[:])
	var text string
	err := p.executor.Run(ctx, primitives.Credentials, p.cost.Elapsed, func() { text = phc(p.cost, salt[:], password) })
	return text, err
}

func phc(c Cost, salt []byte, password string) string {
	tag := argon2.IDKey([]byte(password), salt, c.Passes, c.MemoryKiB, 1, tagBytes)
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, c.MemoryKiB, c.Passes,
		b64.EncodeToString(salt), b64.EncodeToString(tag))
}

// matches verifies a password against a PHC string of any cost.
func matches(stored, password string) bool {
	var version int
	var c Cost
	parts := strings.Split(stored, "$")
	if len(parts) != 6 {
		return false
	}
	if _, err := fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=1", &version, &c.MemoryKiB, &c.Passes); err != nil {
		return false
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false
	}
	return subtle.ConstantTimeCompare([]byte(phc(c, salt, password)), []byte(stored)) == 1
}

var errCredentials error = &client.Error{Code: client.Unauthenticated, Message: "user name or password is wrong"}

// Authenticate checks an Authorization header against the users of a state and
// returns the user. Unknown names take the same path as wrong passwords.
func (p *Passwords) Authenticate(ctx context.Context, state *catalog.State, authorization string) (*catalog.User, error) {
	user, err := p.authenticate(ctx, state, authorization)
	outcome := "success"
	if err != nil {
		outcome = "failure"
	}
	p.attempts(outcome)
	return user, err
}

func (p *Passwords) authenticate(ctx context.Context, state *catalog.State, authorization string) (*catalog.User, error) {
	name, password, ok := parseBasic(authorization)
	if !ok {
		return nil, refusal(client.Unauthenticated, "HTTP Basic authentication is required")
	}
	user, known := state.User(name)
	mac := p.mac(name, password)
	hit, err := p.cached(ctx, mac, name, user)
	if err != nil || hit {
		return user, err
	}
	stored := p.nobody
	if known {
		stored = user.PasswordHash
	}
	var match bool
	if err := p.executor.Run(ctx, primitives.Credentials, p.cost.Elapsed, func() { match = matches(stored, password) }); err != nil {
		return nil, refusal(client.Unavailable, "the node is busy verifying passwords: %v", err)
	}
	if err := p.record(ctx, mac, name, user, match && known); err != nil {
		return nil, err
	}
	if !match || !known {
		return nil, errCredentials
	}
	return user, nil
}

func (p *Passwords) mac(name, password string) [sha256.Size]byte {
	h := hmac.New(sha256.New, p.key[:])
	fmt.Fprintf(h, "%d %s%s", len(name), name, password)
	return [sha256.Size]byte(h.Sum(nil))
}

// cached answers from memory, or waits for the name's turn after a failure.
func (p *Passwords) cached(ctx context.Context, mac [sha256.Size]byte, name string, user *catalog.User) (bool, error) {
	if err := p.lock.Lock(ctx); err != nil {
		return false, err
	}
	now := p.world.Clock().Now()
	v, found := p.verified[mac]
	if found && user != nil && v.revision == user.Revision && now.Before(v.until) {
		p.lock.Unlock()
		return true, nil
	}
	next, limited := p.failed[name]
	if limited {
		p.failed[name] = max(next, now).Add(authFailureEvery)
	}
	p.lock.Unlock()
	if !limited {
		return false, nil
	}
	return false, primitives.SleepUntil(ctx, p.world, next)
}

func (p *Passwords) record(ctx context.Context, mac [sha256.Size]byte, name string, user *catalog.User, ok bool) error {
	if err := p.lock.Lock(ctx); err != nil {
		return err
	}
	defer p.lock.Unlock()
	now := p.world.Clock().Now()
	// A full table starts over: what it costs is one more hash, or one unlimited
	// attempt, for each name.
	if len(p.verified) >= authCacheMax {
		p.verified = map[[sha256.Size]byte]verified{}
	}
	if len(p.failed) >= authCacheMax {
		p.failed = map[string]primitives.Instant{}
	}
	if !ok {
		if _, limited := p.failed[name]; !limited {
			p.failed[name] = now.Add(authFailureEvery)
		}
		return nil
	}
	delete(p.failed, name)
	p.verified[mac] = verified{revision: user.Revision, until: now.Add(authCacheFor)}
	return nil
}

func parseBasic(authorization string) (user, password string, ok bool) {
	scheme, encoded, ok := strings.Cut(authorization, " ")
	if !ok || !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(decoded), ":")
}
