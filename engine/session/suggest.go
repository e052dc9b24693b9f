package session

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"plexus/engine/catalog"
	"plexus/engine/client"
	"plexus/engine/decide"
	"plexus/engine/session/sessionpb"
	"plexus/engine/transaction"
	"plexus/nspl/complete"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// suggestPageMax bounds one page of suggestions or choices.
const suggestPageMax = 100

// Suggest proposes what can be written at a place of a text: with the committed
// definitions of the domain and the statements of the session's own transaction.
// It changes nothing, and does not wait for commands of the session.
func (s *Service) Suggest(ctx context.Context, user *catalog.User, r *sessionpb.SuggestRequest) (*sessionpb.SuggestReply, error) {
	input, cursor := r.GetInput(), int(min(r.GetCursor(), requestBytesMax+1))
	switch {
	case len(input) > requestBytesMax:
		return nil, refusal(client.InvalidArgument, "input: more than %d bytes", requestBytesMax)
	case cursor > len(input) || cursor < len(input) && !utf8.RuneStart(input[cursor]):
		return nil, refusal(client.InvalidArgument, "cursor: %d is between no two characters of the input", r.GetCursor())
	}
	names, bound, status, err := s.names(ctx, user, r.GetSessionId(), r.GetDomain(), r.GetPageSize())
	if err != nil || status != sessionpb.SuggestStatus_READY {
		return &sessionpb.SuggestReply{Status: status}, err
	}
	result := complete.At(input, cursor, names)
	if result.NeedsDomain && len(result.Suggestions) == 0 {
		return &sessionpb.SuggestReply{Status: sessionpb.SuggestStatus_MISSING_CONTEXT}, nil
	}
	p := page{size: int(r.GetPageSize()), of: xxh3.New()}
	p.bind(input, fmt.Sprint(cursor), r.GetDomain(), bound)
	for i := range result.Suggestions {
		p.bind(result.Suggestions[i].Display)
	}
	first, last, next, status, err := p.cut(r.GetContinuation(), len(result.Suggestions))
	if err != nil || status != sessionpb.SuggestStatus_READY {
		return &sessionpb.SuggestReply{Status: status}, err
	}
	reply := &sessionpb.SuggestReply{Continuation: next}
	for _, one := range result.Suggestions[first:last] {
		reply.Suggestions = append(reply.Suggestions, &sessionpb.Suggestion{
			Display: one.Display, Kind: one.Kind.String(), Start: uint64(one.Edit.Start), End: uint64(one.Edit.End),
			Replacement: one.Edit.Text, LocalPath: one.Kind == complete.KindLocalPath, Detail: one.Detail,
		})
	}
	return reply, nil
}

// Choices lists the values that a field of a form can take.
func (s *Service) Choices(ctx context.Context, user *catalog.User, r *sessionpb.ChoicesRequest) (*sessionpb.ChoicesReply, error) {
	names, bound, status, err := s.names(ctx, user, r.GetSessionId(), r.GetDomain(), r.GetPageSize())
	if err != nil || status != sessionpb.SuggestStatus_READY {
		return &sessionpb.ChoicesReply{Status: status}, err
	}
	if !names.Selected() {
		return &sessionpb.ChoicesReply{Status: sessionpb.SuggestStatus_MISSING_CONTEXT}, nil
	}
	list, err := choices(names, r.GetWhat(), r.GetOf())
	if err != nil {
		return nil, err
	}
	p := page{size: int(r.GetPageSize()), of: xxh3.New()}
	p.bind(r.GetWhat().String(), r.GetOf(), r.GetDomain(), bound)
	for _, one := range list {
		p.bind(one.GetName())
	}
	first, last, next, status, err := p.cut(r.GetContinuation(), len(list))
	if err != nil || status != sessionpb.SuggestStatus_READY {
		return &sessionpb.ChoicesReply{Status: status}, err
	}
	return &sessionpb.ChoicesReply{Choices: list[first:last], Continuation: next}, nil
}

// names returns what a session sees of a domain now, and the configuration and the
// transaction that it is bound to.
func (s *Service) names(ctx context.Context, user *catalog.User, id, domain string, pageSize uint32) (*decide.Names, string, sessionpb.SuggestStatus, error) {
	if pageSize < 1 || pageSize > suggestPageMax {
		return nil, "", 0, refusal(client.InvalidArgument, "page_size: %d is not 1 to %d", pageSize, suggestPageMax)
	}
	x, err := s.find(ctx, user, id)
	if err != nil {
		return nil, "", 0, err
	}
	if x.inFlight.Add(1) > inFlightMax {
		x.inFlight.Add(-1)
		return nil, "", 0, refusal(client.ResourceExhausted, "the session has %d requests in flight already", inFlightMax)
	}
	defer x.inFlight.Add(-1)
	held, err := s.boundTo(ctx, x)
	if err != nil {
		return nil, "", 0, err
	}
	subscriptions, err := s.subscriptionsOf(ctx, x)
	if err != nil {
		return nil, "", 0, err
	}
	state := s.deps.Group.State()
	d, ok := state.Domain(domain)
	if !ok {
		return decide.NewNames(state, nil).OfSession(subscriptions), "", sessionpb.SuggestStatus_READY, nil
	}
	bound := fmt.Sprint(d.Definition, " ", held)
	if of, open := state.Transaction(held); held != (primitives.UUID{}) && open && of.Domain == domain {
		list, err := operations(state, held)
		if err != nil {
			return nil, "", sessionpb.SuggestStatus_LOOKUP_FAILED, nil
		}
		after, candidate, fault := transaction.Draft(s.view(state), domain, list)
		if fault != nil {
			return nil, "", sessionpb.SuggestStatus_LOOKUP_FAILED, nil
		}
		return decide.NewNames(after, candidate).OfSession(subscriptions), fmt.Sprint(bound, " ", of.Operations), sessionpb.SuggestStatus_READY, nil
	}
	candidate, missing := decide.NewCandidate(state, domain)
	if missing != nil {
		return nil, "", sessionpb.SuggestStatus_LOOKUP_FAILED, nil
	}
	return decide.NewNames(state, candidate).OfSession(subscriptions), bound, sessionpb.SuggestStatus_READY, nil
}

// subscriptionsOf lists the subscriptions of a session by name.
func (s *Service) subscriptionsOf(ctx context.Context, x *session) ([]string, error) {
	if err := s.lock.Lock(ctx); err != nil {
		return nil, err
	}
	defer s.lock.Unlock()
	return primitives.SortedKeys(x.subscriptions), nil
}

// page cuts a list. A continuation carries a digest of what it continues.
type page struct {
	size int
	of   *xxh3.Hasher
}

// bind adds what the page depends on.
func (p *page) bind(texts ...string) {
	var size [8]byte
	for _, text := range texts {
		binary.BigEndian.PutUint64(size[:], uint64(len(text)))
		_, _ = p.of.Write(size[:])
		_, _ = p.of.WriteString(text)
	}
}

// continuationBytes is the size of a continuation: a digest and where to go on.
const continuationBytes = 16 + 4

// cut returns the part of a list that a continuation asks for, and the next one.
func (p *page) cut(continuation string, length int) (first, last int, next string, status sessionpb.SuggestStatus, err error) {
	sum := p.of.Sum128().Bytes()
	if continuation != "" {
		b, err := base64.RawURLEncoding.DecodeString(continuation)
		if err != nil || len(b) != continuationBytes {
			return 0, 0, "", 0, refusal(client.InvalidArgument, "continuation: not one of this protocol")
		}
		first = int(binary.BigEndian.Uint32(b[len(sum):]))
		if string(b[:len(sum)]) != string(sum[:]) || first > length {
			return 0, 0, "", sessionpb.SuggestStatus_STALE_CONTEXT, nil
		}
	}
	last = min(first+p.size, length)
	if last < length {
		next = base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(sum[:], uint32(last)))
	}
	return first, last, next, sessionpb.SuggestStatus_READY, nil
}

// choices lists what a field of a form can be.
func choices(names *decide.Names, what sessionpb.ChoicesRequest_What, of string) ([]*sessionpb.Choice, error) {
	kind, keep := vocab.EntitySchema, func(model.Entity) bool { return true }
	switch what {
	case sessionpb.ChoicesRequest_SCHEMAS:
	case sessionpb.ChoicesRequest_BRANCHES:
		kind = vocab.EntityBranch
	case sessionpb.ChoicesRequest_RELAYS:
		kind, keep = vocab.EntityRelay, func(e model.Entity) bool {
			r := e.(*model.Relay)
			return of == "" && r.Branch.By == nil || r.Branch.By != nil && r.Branch.By.Text == of
		}
	case sessionpb.ChoicesRequest_DECODERS:
		kind, keep = vocab.EntityCodec, complete.Decodes
	case sessionpb.ChoicesRequest_CLIENTS:
		kind, keep = vocab.EntityClient, func(e model.Entity) bool { return e.(*model.Client).Type.String() == of }
	case sessionpb.ChoicesRequest_ENDPOINTS:
		kind = vocab.EntityEndpoint
	case sessionpb.ChoicesRequest_SCHEMA_FIELDS:
		return fieldChoices(names, of), nil
	case sessionpb.ChoicesRequest_RELAY_FIELDS:
		e, ok := names.Entity(vocab.EntityRelay, of)
		if !ok {
			return nil, nil
		}
		return fieldChoices(names, e.(*model.Relay).Schema.Text), nil
	case sessionpb.ChoicesRequest_VERSIONS:
		return versionChoices(names, of), nil
	default:
		return nil, refusal(client.InvalidArgument, "what: %d is unknown", what)
	}
	var list []*sessionpb.Choice
	for _, name := range names.Names(kind) {
		if e, ok := names.Entity(kind, name); ok && keep(e) {
			list = append(list, &sessionpb.Choice{Name: name, Detail: kind.String()})
		}
	}
	return list, nil
}

func versionChoices(names *decide.Names, resource string) (list []*sessionpb.Choice) {
	for _, n := range names.Versions(resource) {
		list = append(list, &sessionpb.Choice{Name: fmt.Sprint(n), Detail: vocab.EntityResource.String() + " " + resource})
	}
	return list
}

func fieldChoices(names *decide.Names, schema string) (list []*sessionpb.Choice) {
	e, ok := names.Entity(vocab.EntitySchema, schema)
	if !ok {
		return nil
	}
	for _, f := range e.(*model.Schema).Fields {
		detail := f.Type.String()
		if f.Optional {
			detail += " OPTIONAL"
		}
		if f.Sensitive {
			detail += " SENSITIVE"
		}
		list = append(list, &sessionpb.Choice{Name: f.Name, Detail: detail})
	}
	return list
}
