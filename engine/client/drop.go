package client

import "context"

// Drop ends the session without a word, as a client does that loses its power.
func (s *Session) Drop() {
	l := s.link.Load()
	l.cancel()
	_ = l.tasks.Wait(context.Background()) // the stream's end is all that is left to hear
}
