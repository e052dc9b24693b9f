package render

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
)

// signaling writes one line, except where CONFIG stands in it.
func (w *writer) signaling(s *model.Signaling) {
	w.put("SIGNALING PROTOCOL ").name(s.Name).put(" FORMAT ", s.Format.String())
	next := func() *writer { return w.put(" ") }
	if p := s.Protobuf; p != nil {
		next = func() *writer { return w.clause(2) }
		next().put("USING RESOURCE ").binding(p.Binding)
		w.config(p.Config, 2)
		next().put("SEND MESSAGE ").string(p.Send).put(" WAIT MESSAGE ").string(p.Wait)
	}
	if len(s.Fail) > 0 {
		next().strings("FAIL JAQ ", s.Fail)
	}
	next().put("ON CONNECT").option(s.AcceptData, "ACCEPT DATA")
	for _, step := range s.Steps {
		w.signalingStep(next, step)
	}
	next().put("TIMEOUT ", s.Timeout.Text)
}

func (w *writer) signalingStep(next func() *writer, s ast.SignalingStep) {
	if len(s.Send) > 0 {
		next().strings("SEND JAQ ", s.Send)
		return
	}
	next().strings("WAIT JAQ ", s.Wait)
	if len(s.Fail) > 0 {
		w.strings(" FAIL JAQ ", s.Fail)
	}
	w.program(" CAPTURE ", s.Capture)
	w.option(s.AcceptData, "ACCEPT DATA")
}

// strings writes words and a list of strings.
func (w *writer) strings(words string, list []ast.Text) {
	w.put(words)
	for i, t := range list {
		w.put([]string{"", ", "}[min(i, 1)]).string(t.Text)
	}
}
