package session

import (
	"context"
	"encoding/base64"
	"testing"
	"time"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/client"
	"plexus/primitives"
	"plexus/sim"
)

func withUser(t *testing.T, s *catalog.State, p *Passwords, index uint64, name, password string) *catalog.State {
	hash, err := p.Hash(context.Background(), password)
	if err != nil {
		t.Error(err)
	}
	step := &catalogpb.Step{Body: &catalogpb.Step_CreateUser{CreateUser: &catalogpb.CreateUser{Name: name, PasswordHash: hash}}}
	if _, exists := s.User(name); exists {
		step = &catalogpb.Step{Body: &catalogpb.Step_AlterUser{AlterUser: &catalogpb.AlterUser{Name: name, PasswordHash: hash}}}
	}
	next, result, _ := s.Apply(index, &catalogpb.Command{Steps: []*catalogpb.Step{step}})
	if result.Refused != nil {
		t.Error(result.Refused)
	}
	return next
}

func TestAuthentication(t *testing.T) {
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	w := s.Host("node-1").World()
	err := s.Do("authenticate", func() {
		ctx := context.Background()
		p := NewPasswords(w, primitives.NewExecutor(w, 2), LeastCost, func(string) {})
		state := withUser(t, catalog.New(primitives.UUID{1}), p, 2, "ann", "first password")
		try := func(user, password string) (time.Duration, error) {
			before := w.Clock().Now()
			_, err := p.Authenticate(ctx, state, client.BasicAuthorization(user, password))
			return w.Clock().Now().Sub(before), err
		}
		took, err := try("ann", "first password")
		if err != nil || took < LeastCost.Elapsed {
			t.Errorf("first time: %v after %v", err, took)
		}
		if took, err := try("ann", "first password"); err != nil || took != 0 {
			t.Errorf("from the cache: %v after %v", err, took)
		}
		if _, err := try("ann", "wrong"); err == nil {
			t.Error("a wrong password passed")
		}
		unknown, err := try("bob", "wrong")
		if err == nil || unknown < LeastCost.Elapsed {
			t.Errorf("an unknown name is told apart: %v after %v", err, unknown)
		}
		// After a failure attempts of the name are paced.
		start := w.Clock().Now()
		for range 10 {
			if _, err := try("ann", "wrong"); err == nil {
				t.Error("a wrong password passed")
			}
		}
		if pace := w.Clock().Now().Sub(start); pace < 9*authFailureEvery {
			t.Errorf("ten attempts in %v", pace)
		}
		// A changed password ends what the cache remembers.
		state = withUser(t, state, p, 3, "ann", "second password")
		if _, err := try("ann", "first password"); err == nil {
			t.Error("the old password still passes")
		}
		if _, err := try("ann", "second password"); err != nil {
			t.Error(err)
		}
	}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
}

func TestPasswordHashesVerify(t *testing.T) {
	text := phc(LeastCost, []byte("0123456789abcdef"), "secret")
	for stored, want := range map[string]bool{text: true, text[:len(text)-1] + "x": false, "": false, "$argon2id$v=19$m=8,t=1$x$y": false} { //plexus:orderfree independent cases
		if matches(stored, "secret") != want {
			t.Errorf("%q: want %t", stored, want)
		}
	}
}

func FuzzBasicAuth(f *testing.F) {
	f.Add("Basic " + base64.StdEncoding.EncodeToString([]byte("a:b")))
	f.Add("Bearer x")
	f.Fuzz(func(t *testing.T, header string) {
		user, password, ok := parseBasic(header)
		if !ok {
			return
		}
		again, same, ok := parseBasic(client.BasicAuthorization(user, password))
		if !ok || again != user || same != password {
			t.Fatalf("%q does not survive", header)
		}
	})
}
