package session

import (
	"context"
	"errors"
	"time"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/session/sessionpb"
	"plexus/primitives"
)

// tenure is one uninterrupted leadership of this node. What it remembers is gone
// with it; what the cluster has to remember is replicated.
type tenure struct {
	term  uint64
	tasks *primitives.Group // commands, transactions and duties

	// What follows changes under the service's lock.
	applying map[primitives.UUID]*applying // by reference
	bound    map[*session]primitives.UUID  // transactions
	holder   map[primitives.UUID]*session
}

// applying is a command under way; who repeats its reference joins it.
type applying struct {
	binding
	done  *primitives.Event
	reply *sessionpb.ExecuteReply
	err   error
}

var (
	errLeadershipLost = errors.New("this node leads no longer")
	// errNoAnswer ends a command whose outcome only the replicated state can tell.
	errNoAnswer = errors.New("the outcome is not known here")
)

// Intervals of the duties of a tenure.
const (
	resumeEvery = 250 * time.Millisecond
	expireEvery = time.Second
)

// Start begins to watch for leadership. It is called once the group runs.
func (s *Service) Start() {
	s.tasks.Go("session leadership", s.watch)
}

// watch begins and ends tenures.
func (s *Service) watch(ctx context.Context) error {
	follower := s.deps.Group.Follow()
	defer s.deps.Group.Unfollow(follower)
	for {
		s.turn(s.deps.Group.Tenure())
		if err := follower.Wait(ctx); err != nil {
			s.turn(0, false)
			return err
		}
	}
}

// turn makes the tenure what the group says. The one before it has ended when it
// returns: its tasks are cancelled, and end soon.
func (s *Service) turn(term uint64, leads bool) {
	_ = s.lock.Lock(context.Background()) // short, and must not be skipped
	old := s.tenure
	if old != nil && leads && old.term == term || old == nil && !leads {
		s.lock.Unlock()
		return
	}
	s.tenure = nil
	if leads && !s.stopping.IsSet() {
		s.tenure = s.newTenure(term)
	}
	s.lock.Unlock()
	if old != nil {
		old.tasks.Cancel(errLeadershipLost)
		_ = old.tasks.Wait(context.Background()) // how they ended is told to who waits for them
	}
}

func (s *Service) newTenure(term uint64) *tenure {
	t := &tenure{
		term: term, tasks: primitives.NewGroup(s.tasks.Context(), s.world),
		applying: map[primitives.UUID]*applying{}, bound: map[*session]primitives.UUID{}, holder: map[primitives.UUID]*session{},
	}
	t.tasks.Go("session duties", func(ctx context.Context) error { return s.duties(ctx, t) })
	return t
}

// leading returns the tenure of this node, nil while another node leads or none.
func (s *Service) leading(ctx context.Context) (*tenure, error) {
	if err := s.lock.Lock(ctx); err != nil {
		return nil, err
	}
	defer s.lock.Unlock()
	return s.tenure, nil
}

// duties goes on with what earlier leaders began, and forgets what is over.
func (s *Service) duties(ctx context.Context, t *tenure) error {
	follower := s.deps.Group.Follow()
	defer s.deps.Group.Unfollow(follower)
	clock := s.world.Clock()
	due := clock.Now()
	for {
		s.resume(t)
		if !clock.Now().Before(due) {
			s.tidy(ctx)
			due = clock.Now().Add(expireEvery)
		}
		tick := primitives.AtCase(s.world, clock.Now().Add(resumeEvery))
		if s.idle() {
			tick = primitives.AtCase(s.world, due)
		}
		if _, err := primitives.Select(ctx, s.world, follower.OnChange(), tick); err != nil {
			return err
		}
	}
}

// idle reports whether there is nothing to resume.
func (s *Service) idle() bool {
	for range s.deps.Group.State().Unfinished() {
		return false
	}
	return true
}

// resume starts what is to be finished and has no task here.
func (s *Service) resume(t *tenure) {
	state := s.deps.Group.State()
	committing := map[primitives.UUID]*catalog.Transaction{}
	for x := range state.ActiveTransactions() {
		if x.State == catalog.Committing {
			committing[x.Reference] = x
		}
	}
	for x := range state.Unfinished() {
		s.goOn(t, x, committing[x.Reference])
	}
}

// goOn resumes one execution.
func (s *Service) goOn(t *tenure, x *catalog.Execution, of *catalog.Transaction) {
	_ = s.lock.Lock(context.Background()) // short, and must not be skipped
	defer s.lock.Unlock()
	if t.applying[x.Reference] != nil {
		return
	}
	resumed.Hit()
	s.world.Log().Info("going on with a command of an earlier leader", "reference", x.Reference, "domain", x.Domain)
	if of != nil {
		s.begin(t, x.Reference, bindingOf(x), (&committing{service: s, id: of.ID}).run)
		return
	}
	s.begin(t, x.Reference, bindingOf(x), s.resumed(t, x).run)
}

// begin starts a command under its reference. The lock is held.
func (s *Service) begin(t *tenure, reference primitives.UUID, b binding, run func(context.Context) (*sessionpb.ExecuteReply, error)) *applying {
	under := &applying{binding: b, done: primitives.NewEvent(s.world)}
	t.applying[reference] = under
	t.tasks.Go("command", func(ctx context.Context) error {
		under.reply, under.err = run(ctx)
		if errors.Is(under.err, errNoAnswer) {
			under.reply, under.err = s.unknown(ctx), nil
		}
		under.done.Set()
		_ = s.lock.Lock(context.Background()) // must not be skipped
		delete(t.applying, reference)
		s.lock.Unlock()
		return nil
	})
	return under
}

// unknown is the answer while nobody here can tell the outcome.
func (s *Service) unknown(ctx context.Context) *sessionpb.ExecuteReply {
	detail, text := "still_applying", "the command may have been admitted; ask again under the same reference"
	if ctx.Err() != nil && !s.stopping.IsSet() {
		detail = "leadership_lost"
	}
	return &sessionpb.ExecuteReply{Disposition: sessionpb.Disposition_UNKNOWN, Detail: detail, Text: text}
}

// tidy puts this node's limits in force, expires what is idle and forgets what is
// old. What fails is tried again the next time.
func (s *Service) tidy(ctx context.Context) {
	state := s.deps.Group.State()
	now := max(s.world.Clock().Wall().UnixNano(), state.HighWater)
	var steps []*catalogpb.Step
	if state.Limits != s.deps.Limits {
		steps = append(steps, s.deps.Limits.Step())
	}
	retry, retention := now-int64(s.deps.RetryValidity), now-int64(s.deps.TransactionRetention)
	if state.Expired(retry, retention) {
		steps = append(steps, &catalogpb.Step{Body: &catalogpb.Step_Reclaim{Reclaim: &catalogpb.Reclaim{
			Before: retry, TransactionsBefore: retention}}})
	}
	for _, step := range steps {
		s.duty(ctx, step)
	}
	for x := range state.ActiveTransactions() {
		if x.State == catalog.Open && now >= x.Deadline {
			transactionExpired.Hit()
			s.duty(ctx, &catalogpb.Step{Body: &catalogpb.Step_ExpireTransaction{ExpireTransaction: &catalogpb.ExpireTransaction{Id: x.ID[:]}}})
		}
	}
}

func (s *Service) duty(ctx context.Context, step *catalogpb.Step) {
	result, err := s.deps.Group.Propose(ctx, &catalogpb.Command{Steps: []*catalogpb.Step{step}})
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.world.Log().Warn("a duty of the leader was not taken", "error", err)
	case result.Refused != nil && !result.Refused.Stale:
		s.world.Log().Warn("a duty of the leader was refused", "refusal", result.Refused)
	}
}
