package http

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"plexus/engine/catalog"
	"plexus/engine/client"
	"plexus/engine/session/sessionpb"
	"plexus/primitives"
	"plexus/primitives/dns"
	"plexus/real"
	"plexus/real/http/sessionclient"
)

// sessions answers with what it was asked.
type sessions struct {
	ended *primitives.Event
	gone  *primitives.Event // set when a stream's client vanished
}

func (s *sessions) Authenticate(_ context.Context, authorization string) (*catalog.User, error) {
	if authorization != client.BasicAuthorization("ann", "correct") {
		return nil, &client.Error{Code: client.Unauthenticated, Message: "user or password is wrong"}
	}
	return &catalog.User{Name: "ann"}, nil
}

func (s *sessions) Open(ctx context.Context, _ *catalog.User, _ *sessionpb.OpenRequest, send func(*sessionpb.Event) error) error {
	err := send(&sessionpb.Event{Body: &sessionpb.Event_Welcome{Welcome: &sessionpb.Welcome{SessionId: "s-1", Node: "node-1"}}})
	if err != nil {
		return err
	}
	return s.ended.Wait(ctx)
}

func (s *sessions) Attach(context.Context, *catalog.User, *sessionpb.AttachRequest) (*sessionpb.AttachReply, error) {
	return &sessionpb.AttachReply{Disposition: sessionpb.Disposition_COMPLETED}, nil
}

func (s *sessions) Execute(_ context.Context, user *catalog.User, r *sessionpb.ExecuteRequest) (*sessionpb.ExecuteReply, error) {
	if r.GetSessionId() != "s-1" {
		return nil, &client.Error{Code: client.NotFound, Message: "no such session"}
	}
	return &sessionpb.ExecuteReply{Disposition: sessionpb.Disposition_COMPLETED, Text: user.Name + " ran " + r.GetStatements()}, nil
}

func (s *sessions) Inspect(context.Context, *catalog.User, *sessionpb.InspectRequest) (*sessionpb.InspectReply, error) {
	return &sessionpb.InspectReply{}, nil
}

func (s *sessions) Suggest(_ context.Context, _ *catalog.User, r *sessionpb.SuggestRequest) (*sessionpb.SuggestReply, error) {
	return &sessionpb.SuggestReply{Suggestions: []*sessionpb.Suggestion{{Display: r.GetInput()}}}, nil
}

func (s *sessions) Choices(context.Context, *catalog.User, *sessionpb.ChoicesRequest) (*sessionpb.ChoicesReply, error) {
	return &sessionpb.ChoicesReply{}, nil
}

func (s *sessions) Close(context.Context, *catalog.User, *sessionpb.CloseRequest) (*sessionpb.CloseReply, error) {
	s.ended.Set()
	return &sessionpb.CloseReply{}, nil
}

func (s *sessions) Subscribe(ctx context.Context, _ *catalog.User, r *sessionpb.SubscribeRequest, send func(*sessionpb.SubscriptionFrame) error) error {
	if r.GetStatement() == "wrong" {
		return &client.Error{Code: client.InvalidArgument, Message: "no such relay"}
	}
	for _, row := range []string{`{"x":1}`, `{"x":2}`} {
		rows := &sessionpb.Rows{Count: 1, Json: []string{row}}
		if err := send(&sessionpb.SubscriptionFrame{Body: &sessionpb.SubscriptionFrame_Rows{Rows: rows}}); err != nil {
			return err
		}
	}
	if r.GetStatement() == "endless" {
		<-ctx.Done()
		s.gone.Set()
		return ctx.Err()
	}
	return nil
}

func (s *sessions) Unsubscribe(context.Context, *catalog.User, *sessionpb.UnsubscribeRequest) (*sessionpb.UnsubscribeReply, error) {
	return &sessionpb.UnsubscribeReply{}, nil
}

func TestSessionBinding(t *testing.T) {
	w := real.NewWorld(real.Options{Log: slog.NewTextHandler(io.Discard, nil)})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := w.LoadResolver(ctx, dns.Options{ConfigFile: "/etc/resolv.conf", HostsFile: "/etc/hosts"}); err != nil {
		t.Skip(err)
	}
	service := &sessions{ended: primitives.NewEvent(w), gone: primitives.NewEvent(w)}
	server := NewSessionServer(w, netip.MustParseAddrPort("127.0.0.1:0"), service)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	connect := func(password string) client.Options {
		return client.Options{
			Servers: []string{"http://127.0.0.1:1", "http://" + server.Addr().String()}, Dial: sessionclient.New(w, "ann", password),
		}
	}

	_, err := client.Open(ctx, w, connect("wrong"))
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Code != client.Unauthenticated {
		t.Fatalf("a wrong password was answered %v", err)
	}

	options := connect("correct")
	options.Domain = "shop"
	session, err := client.Open(ctx, w, options)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := session.Execute(ctx, "LIST DOMAINS")
	if err != nil || reply.GetText() != "ann ran LIST DOMAINS" {
		t.Errorf("reply %v, %v", reply, err)
	}

	rows := func(statement string) (client.Stream[*sessionpb.SubscriptionFrame], []string, error) {
		stream, err := session.Subscribe(ctx, statement, sessionpb.RowFormat_JSON)
		if err != nil {
			return nil, nil, err
		}
		var all []string
		for len(all) < 2 {
			frame, err := stream.Recv()
			if err != nil {
				return stream, all, err
			}
			all = append(all, frame.GetRows().GetJson()...)
		}
		return stream, all, nil
	}
	stream, all, err := rows("two")
	if err != nil || strings.Join(all, "") != `{"x":1}{"x":2}` {
		t.Errorf("rows %v, %v", all, err)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last row: %v", err)
	}
	if _, _, err := rows("wrong"); !errors.As(err, &refused) || refused.Code != client.InvalidArgument || refused.Message != "no such relay" {
		t.Errorf("a wrong subscription was answered %v", err)
	}
	if stream, _, err = rows("endless"); err != nil {
		t.Fatal(err)
	}
	stream.Close()
	if err := service.gone.Wait(ctx); err != nil {
		t.Errorf("the server did not notice that its client vanished: %v", err)
	}

	plain, err := http.Get("http://" + server.Addr().String() + "/")
	if err != nil {
		t.Fatal(err)
	}
	plain.Body.Close()
	if plain.StatusCode != http.StatusUnauthorized || plain.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("a plain request without credentials was answered %d", plain.StatusCode)
	}
	if err := session.Close(ctx); err != nil {
		t.Error(err)
	}
	if err := server.Close(ctx); err != nil {
		t.Error(err)
	}
	if _, err := client.Open(ctx, w, connect("correct")); !errors.Is(err, client.ErrNotConnected) {
		t.Errorf("a closed server was answered %v", err)
	}
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	elsewhere := connect("correct")
	elsewhere.Servers = []string{other.URL}
	if _, err := client.Open(ctx, w, elsewhere); err == nil || !strings.Contains(err.Error(), "not the client port of a node") {
		t.Errorf("another server was answered %v", err)
	}
}
