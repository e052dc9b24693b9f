package session

import (
	"context"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"plexus/engine/catalog"
	"plexus/engine/client"
	"plexus/engine/control"
	"plexus/engine/flow"
	"plexus/engine/session/sessionpb"
	"plexus/primitives"
)

// Runtime is what the node executes.
type Runtime interface {
	// Settle waits until this node executes a domain at least as of a runtime
	// revision. The error of an installation that failed is an *ActivationError.
	Settle(ctx context.Context, domain string, revision uint64) error
	// Quiesce holds the intake of a domain on every live node and waits until nothing
	// is unfinished. The hold lasts until it is released; after an error nothing is
	// held.
	Quiesce(ctx context.Context, domain string) (Hold, error)
	// Domain returns a domain that executes here, nil for none.
	Domain(name string) *flow.Domain
	// ActivationFailure is why the newest revision of a domain does not execute
	// here, nil while it does.
	ActivationFailure(domain string) error
	// Admitted reports whether the node passed runtime admission.
	Admitted() bool
}

// Hold is work that stands still.
type Hold interface {
	// Confirm proves that every node still holds, right before the effect is
	// proposed. After an error the effect must not happen.
	Confirm(ctx context.Context) error
	Release()
}

// Deps is what the service needs of its node.
type Deps struct {
	Group     *control.Group
	Runtime   Runtime
	Passwords *Passwords
	Version   string
	ClientURL string // what redirects name
	// Cluster is nil for a node that is alone.
	Cluster Cluster
	// Limits are put in force by the leader, and what ended is forgotten after these
	// times.
	Limits               catalog.Limits
	RetryValidity        time.Duration
	TransactionRetention time.Duration
	// Counts takes one finished command.
	Counts func(statement string, disposition sessionpb.Disposition)
}

// Service serves sessions.
type Service struct {
	world primitives.World
	deps  Deps

	lock     *primitives.Mutex
	sessions map[string]*session
	tenure   *tenure // nil while this node does not lead

	stopping *primitives.Event
	tasks    *primitives.Group
	next     atomic.Uint64 // subscription generations
}

// NewService returns a service without sessions.
func NewService(ctx context.Context, w primitives.World, deps Deps) *Service {
	return &Service{
		world: w, deps: deps, lock: primitives.NewMutex(w),
		sessions: map[string]*session{}, stopping: primitives.NewEvent(w), tasks: primitives.NewGroup(ctx, w),
	}
}

// session is one client. Its lane orders what must be ordered.
type session struct {
	id        string
	user      string
	revision  uint64 // of the user
	lane      *primitives.Mutex
	inFlight  atomic.Int32
	displaced atomic.Bool // another session took the transaction over
	ended     *primitives.Event
	notices   *primitives.Queue[*sessionpb.Notice]
	skipped   atomic.Uint64 // notices that found no room

	// subscriptions change under the service's lock.
	subscriptions map[string]*subscription
}

// Authenticate checks the credentials of one call.
func (s *Service) Authenticate(ctx context.Context, authorization string) (*catalog.User, error) {
	if s.stopping.IsSet() {
		return nil, errStopping
	}
	return s.deps.Passwords.Authenticate(ctx, s.deps.Group.State(), authorization)
}

// Stop refuses further calls, ends every session, and waits for the commands that
// were admitted. One that still waits for running work when the grace is over has
// proposed nothing and is given up.
func (s *Service) Stop(ctx context.Context) error {
	s.stopping.Set()
	grace, cancel := primitives.WithDeadline(ctx, s.world, s.world.Clock().Now().Add(stopGrace))
	defer cancel()
	for s.busy() && primitives.Sleep(grace, s.world, stopPoll) == nil {
	}
	s.tasks.Cancel(errStopping)
	if err := s.tasks.Wait(ctx); err != nil && ctx.Err() != nil {
		return err
	}
	return nil
}

// busy reports whether commands are under way.
func (s *Service) busy() bool {
	_ = s.lock.Lock(context.Background()) // short
	defer s.lock.Unlock()
	return s.tenure != nil && len(s.tenure.applying) > 0
}

// Open serves one session until its stream ends.
func (s *Service) Open(ctx context.Context, user *catalog.User, r *sessionpb.OpenRequest, send func(*sessionpb.Event) error) error {
	if !s.deps.Runtime.Admitted() {
		return refusal(client.Unavailable, "the node has not been admitted yet; retry")
	}
	x := &session{
		id: primitives.NewUUIDv4(s.world.Entropy()).String(), user: user.Name, revision: user.Revision,
		lane: primitives.NewMutex(s.world), ended: primitives.NewEvent(s.world),
		notices: primitives.NewQueue[*sessionpb.Notice](s.world, noticesQueued), subscriptions: map[string]*subscription{},
	}
	if err := s.admit(ctx, x); err != nil {
		return err
	}
	defer s.remove(x)
	s.world.Log().Debug("session opened", "session", x.id, "user", x.user, "client", r.GetClient())
	follower := s.deps.Group.Follow()
	defer s.deps.Group.Unfollow(follower)
	return s.events(ctx, x, follower, send)
}

func (s *Service) admit(ctx context.Context, x *session) error {
	if err := s.lock.Lock(ctx); err != nil {
		return err
	}
	defer s.lock.Unlock()
	if s.stopping.IsSet() {
		return errStopping
	}
	if len(s.sessions) >= sessionsMax {
		return refusal(client.ResourceExhausted, "the node serves %d sessions already", sessionsMax)
	}
	s.sessions[x.id] = x
	return nil
}

// remove forgets a session with all it holds.
func (s *Service) remove(x *session) {
	x.ended.Set()
	// The wait is short and must not be skipped.
	_ = s.lock.Lock(context.Background())
	delete(s.sessions, x.id)
	s.release(x) // an open transaction stays, for whoever attaches to it
	open := make([]*subscription, 0, len(x.subscriptions))
	for _, name := range primitives.SortedKeys(x.subscriptions) {
		open = append(open, x.subscriptions[name])
	}
	s.lock.Unlock()
	for _, sub := range open {
		sub.end()
	}
}

// events sends what a session is told beside replies: welcome, leadership and
// domains first, then each change.
func (s *Service) events(ctx context.Context, x *session, follower *control.Follower, send func(*sessionpb.Event) error) error {
	limits := &sessionpb.Limits{RequestBytes: requestBytesMax, ReplyBytes: replyBytesMax, RequestsInFlight: inFlightMax}
	welcome := &sessionpb.Welcome{SessionId: x.id, Node: s.deps.Group.Identity().NodeID, Limits: limits, Version: s.deps.Version}
	if err := send(&sessionpb.Event{Body: &sessionpb.Event_Welcome{Welcome: welcome}}); err != nil {
		return err
	}
	told := told{}
	for {
		for _, event := range told.news(s) {
			if err := send(event); err != nil {
				return err
			}
		}
		if !s.current(x) {
			return send(ending(sessionpb.Ending_USER_REMOVED))
		}
		var notice *sessionpb.Notice
		fired, err := primitives.Select(ctx, s.world, follower.OnChange(), x.ended.OnSet(), s.stopping.OnSet(), x.notices.OnRecv(&notice))
		switch {
		case err != nil:
			return err
		case fired == 3:
			if err := send(&sessionpb.Event{Body: &sessionpb.Event_Notice{Notice: notice}}); err != nil {
				return err
			}
		case fired == 1:
			return nil
		case fired == 2:
			return send(ending(sessionpb.Ending_SHUTTING_DOWN))
		}
	}
}

// Notify tells every session about something that happened beside its replies. A
// session that does not keep up misses notices, and is told how many.
func (s *Service) Notify(ctx context.Context, level, source, text string) error {
	if err := s.lock.Lock(ctx); err != nil {
		return err
	}
	defer s.lock.Unlock()
	for _, id := range primitives.SortedKeys(s.sessions) {
		x := s.sessions[id]
		skipped := x.skipped.Load()
		notice := &sessionpb.Notice{Level: level, Source: source, Text: text, SkippedBefore: skipped}
		if x.notices.TrySend(notice) {
			x.skipped.Add(-skipped)
		} else {
			x.skipped.Add(1)
		}
	}
	return nil
}

func ending(reason sessionpb.Ending_Reason) *sessionpb.Event {
	return &sessionpb.Event{Body: &sessionpb.Event_Ending{Ending: &sessionpb.Ending{Reason: reason}}}
}

// current reports whether the session's user is the one that opened it: a dropped
// user, and one with another password, have no sessions.
func (s *Service) current(x *session) bool {
	user, known := s.deps.Group.State().User(x.user)
	return known && user.Revision == x.revision
}

// told is what a session knows.
type told struct {
	leadership *sessionpb.Leadership
	domains    *sessionpb.Domains
}

func (t *told) news(s *Service) (events []*sessionpb.Event) {
	l := s.leader()
	leadership := &sessionpb.Leadership{LeadsHere: l.Here}
	if l.Known {
		leadership.Node, leadership.ClientUrl, leadership.ConsoleUrl = l.Node, l.ClientURL, l.ConsoleURL
	}
	if t.leadership == nil || !proto.Equal(leadership, t.leadership) {
		t.leadership = leadership
		events = append(events, &sessionpb.Event{Body: &sessionpb.Event_Leadership{Leadership: leadership}})
	}
	list := &sessionpb.Domains{}
	for d := range s.deps.Group.State().Domains() {
		list.Domains = append(list.Domains, &sessionpb.DomainSummary{Name: d.Name, Running: d.Running, Generation: d.Generation})
	}
	if t.domains == nil || !proto.Equal(list, t.domains) {
		t.domains = list
		events = append(events, &sessionpb.Event{Body: &sessionpb.Event_Domains{Domains: list}})
	}
	return events
}

// find returns the caller's session.
func (s *Service) find(ctx context.Context, user *catalog.User, id string) (*session, error) {
	if err := s.lock.Lock(ctx); err != nil {
		return nil, err
	}
	defer s.lock.Unlock()
	x, ok := s.sessions[id]
	if !ok || x.user != user.Name {
		return nil, refusal(client.NotFound, "session '%s' is unknown; open a new one", id)
	}
	if !s.current(x) {
		x.ended.Set()
		return nil, refusal(client.NotFound, "session '%s' ended when its user was changed; open a new one", id)
	}
	return x, nil
}

// enter takes one place in flight and the lane.
func (s *Service) enter(ctx context.Context, x *session) (leave func(), err error) {
	if x.inFlight.Add(1) > inFlightMax {
		x.inFlight.Add(-1)
		return nil, refusal(client.ResourceExhausted, "the session has %d requests in flight already", inFlightMax)
	}
	if err := x.lane.Lock(ctx); err != nil {
		x.inFlight.Add(-1)
		return nil, err
	}
	return func() {
		x.lane.Unlock()
		x.inFlight.Add(-1)
	}, nil
}

// Inspect returns what is known of a reference, and the transaction.
func (s *Service) Inspect(ctx context.Context, user *catalog.User, r *sessionpb.InspectRequest) (*sessionpb.InspectReply, error) {
	x, err := s.find(ctx, user, r.GetSessionId())
	if err != nil {
		return nil, err
	}
	reply := &sessionpb.InspectReply{}
	if r.GetExecutionReference() != "" {
		reference, err := parseReference(r.GetExecutionReference())
		if err != nil {
			return nil, refusal(client.InvalidArgument, "execution_reference: %v", err)
		}
		if known, ok := s.deps.Group.State().Execution(reference); ok && known.Owner == user.Name && known.Phase == catalog.Finished {
			reply.Reply = recovered(known)
		}
	}
	held, err := s.boundTo(ctx, x)
	if err != nil {
		return nil, err
	}
	reply.Transaction = &sessionpb.TransactionStatus{}
	if of, ok := s.deps.Group.State().Transaction(held); ok {
		reply.Transaction = s.statusOf(of)
	}
	return reply, nil
}
