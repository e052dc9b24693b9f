package render

import "plexus/nspl/ast"

func (w *writer) backup(s *ast.Backup) {
	w.put(ast.Words(s))
	if s.Domain != nil {
		w.put(" ").name(s.Domain.Text)
	}
	w.put(" TO ").string(s.Path.Text)
	w.option(s.WithoutResources, "WITHOUT RESOURCES").option(s.WithoutState, "WITHOUT STATE").option(s.WithoutPause, "WITHOUT PAUSE")
	if s.Timeout != nil {
		w.put(" TIMEOUT ", s.Timeout.Text)
	}
}

func (w *writer) restore(s *ast.Restore) {
	w.put(ast.Words(s))
	if !s.Cluster {
		w.put(" ").name(s.Domain.Text)
	}
	if s.As != nil {
		w.put(" AS ").name(s.As.Text)
	}
	w.put(" FROM ").string(s.Path.Text).option(s.Resume, "RESUME")
	if s.ExistingUser != ast.ExistingUserOmitted {
		w.put(" ON EXISTING USER ", s.ExistingUser.String())
	}
	w.option(s.DryRun, "DRY RUN").option(s.WithoutState, "WITHOUT STATE").option(s.WithoutOffsets, "WITHOUT SOURCE OFFSETS")
}

// option writes words that were written.
func (w *writer) option(on bool, words string) *writer {
	if on {
		w.put(" ", words)
	}
	return w
}
