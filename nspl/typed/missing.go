package typed

// Missing names the first part of a checked expression that engine/expr cannot
// compute yet, "" if it computes all of it. A nil expression misses nothing.
func (e *Expr) Missing() string {
	if e == nil {
		return ""
	}
	if e.missing != "" {
		return e.missing
	}
	if e.Op == OpColumn && e.Column.Scope > ScopeMetadata {
		return "scope " + e.Column.Scope.String()
	}
	for _, a := range e.Args {
		if what := a.Missing(); what != "" {
			return what
		}
	}
	return ""
}

// Missing names the first part of a construction that engine/expr cannot compute
// yet, "" if it computes all of it.
func (k *Construction) Missing() string {
	for _, s := range k.Steps {
		if what := s.Expr.Missing(); what != "" {
			return what
		}
	}
	return k.Where.Missing()
}
