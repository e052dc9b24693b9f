package render

import (
	"strconv"
	"strings"

	"plexus/nspl/ast"
)

func (w *writer) start(s *ast.Start) {
	w.put("START")
	switch {
	case s.AtNow:
		w.put(" AT NOW")
	case s.At != nil:
		w.put(" AT ").string(s.At.Text)
	}
	if s.Rate != nil {
		w.put(" TIME RATE ", strings.Replace(strconv.FormatFloat(s.Rate.Value, 'g', -1, 64), "+", "", 1))
	}
}

func (w *writer) resetWASM(s *ast.ResetWASM) {
	w.put("RESET WASM PROCESSOR ").name(s.Name.Text).put(" STATE IN DOMAIN ").name(s.Domain.Text)
	switch s.Scope {
	case ast.ResetUnbranched:
		w.put(" FOR UNBRANCHED")
	case ast.ResetAllBranches:
		w.put(" FOR ALL BRANCHES")
	case ast.ResetBranch:
		w.clause(2, "FOR BRANCH VALUES {")
		for i, v := range s.Values {
			w.put([]string{"", ","}[min(i, 1)]).clause(4).keyValue(v)
		}
		w.clause(2, "}")
	}
}

func (w *writer) subscription(s *ast.CreateSubscription) {
	w.put("CREATE SUBSCRIPTION ").name(s.Name.Text).put(" TO ").name(s.Relay.Text)
	if s.Dropping {
		w.put(" DROPPING")
	}
	if s.SampleRate != nil {
		w.put(" BATCH SAMPLE RATE ", strconv.FormatFloat(s.SampleRate.Value, 'f', -1, 64))
	}
	if s.Where != nil {
		w.put(" WHERE ").expr(s.Where)
	}
}
