package script

import (
	"cmp"
	"strings"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/decide"
	"plexus/engine/transaction"
	"plexus/nspl/ast"
	"plexus/nspl/parse"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// A fault is reported where it is. What fails behind it, only because it did, says
// nothing new: a relay whose CREATE is broken is missing to everyone who reads it.

// verb is what a statement that failed was to do with an entity.
type verb uint8

const (
	declares verb = 1 << iota
	drops
)

// failedKey is an entity of a domain, or of the cluster where the domain is "". A
// kind of 0 says that nobody knows it.
type failedKey struct {
	domain string
	key    catalog.Key
}

// unknownDomain is selected by a USE that names none.
const unknownDomain = "~"

// world is where the statements about a domain are carried out.
type world struct {
	*transaction.Rehearsal
	domain string
	// supposed says that the domain does not exist; unknown, that nobody knows what
	// it should hold.
	supposed, unknown bool
}

// here is the world of the selected domain. Of one that does not exist it says so
// once, and supposes it from then on.
func (r *runner) here(at ast.Statement) *world {
	if r.real.HasDomain(r.domain) {
		return &world{Rehearsal: r.real, domain: r.domain}
	}
	if w, ok := r.worlds[r.domain]; ok {
		return w
	}
	declared := r.did(declares, "", ast.Entity{Kind: vocab.EntityDomain, Name: r.domain})
	if !declared {
		r.fault(decide.CodeDomainMissing, at.Place(), "domain '%s' does not exist", r.domain)
	}
	return r.suppose(!declared)
}

// suppose makes the selected domain.
func (r *runner) suppose(unknown bool) *world {
	state := catalog.New(primitives.UUID{})
	state, _, _ = state.Apply(1, &catalogpb.Command{Steps: []*catalogpb.Step{
		{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: r.domain}}}}})
	w := &world{rehearsal(state), r.domain, true, unknown}
	r.worlds[r.domain] = w
	return w
}

// attempted remembers what a statement that does not parse was to do.
func (r *runner) attempted(a parse.Attempt) {
	switch a.Word {
	case "USE":
		r.domain = cmp.Or(a.Name.Text, unknownDomain)
		if !r.real.HasDomain(r.domain) && r.worlds[r.domain] == nil {
			r.suppose(true)
		}
	case "BEGIN":
		if r.tx == nil {
			r.begin(a.Span)
		}
	case "COMMIT":
		if r.tx != nil {
			r.commit(a.Span)
		}
	case "REVERT":
		r.tx = nil
	case "CREATE":
		r.mark(declares, a.Kind, a.Name.Text)
	case "DROP":
		r.mark(drops, a.Kind, a.Name.Text)
	}
}

// mark remembers that a statement failed.
func (r *runner) mark(v verb, kind vocab.EntityKind, name string) {
	if name != "" {
		r.failed[r.failedKey(kind, name)] |= v
	}
}

func (r *runner) failedKey(kind vocab.EntityKind, name string) failedKey {
	domain := r.domain
	if r.tx != nil {
		domain = r.tx.world.domain
	}
	if kind == vocab.EntityDomain || kind == vocab.EntityUser {
		domain = ""
	}
	return failedKey{domain, catalog.Key{Kind: kind, Name: name}}
}

// did reports whether a statement failed that was to do something with an entity.
func (r *runner) did(v verb, domain string, e ast.Entity) bool {
	kinds := []vocab.EntityKind{0, e.Kind}
	if e.Kind == 0 {
		kinds = vocab.EntityKinds()
	}
	for _, kind := range kinds {
		if r.failed[failedKey{domain, catalog.Key{Kind: kind, Name: e.Name}}]&v != 0 {
			return true
		}
	}
	return false
}

// follows reports whether a fault only follows from another one.
func (r *runner) follows(w *world, d *ast.Diagnostic) bool {
	target := d.Target
	if target.Name == "" {
		target = d.Entity
	}
	switch d.Code {
	case ast.CodeRefMissing:
		return w.unknown || r.did(declares, w.domain, target)
	case decide.CodeExists:
		return r.did(drops, w.domain, target)
	case decide.CodeInUse:
		return r.unused(w, d)
	}
	return false
}

// unused reports whether everyone who uses an entity was to be dropped.
func (r *runner) unused(w *world, d *ast.Diagnostic) bool {
	_, users, _ := strings.Cut(d.Message, " is used by ")
	for user := range strings.SplitSeq(users, ", ") {
		kind, name, _ := strings.Cut(strings.TrimSuffix(user, "'"), " '")
		k, ok := kindOf(kind)
		if !ok || !r.did(drops, w.domain, ast.Entity{Kind: k, Name: name}) {
			return false
		}
	}
	return true
}

func kindOf(words string) (vocab.EntityKind, bool) {
	for _, k := range vocab.EntityKinds() {
		if k.String() == words {
			return k, true
		}
	}
	return 0, false
}

// lost reports why a statement cannot be carried out and remembers what it was to do.
func (r *runner) lost(w *world, s *queued, found ast.Diagnostics) {
	key := declared(s.Parsed)
	switch s.Parsed.(type) {
	case ast.Declaration:
		r.failed[failedKey{w.domain, key}] |= declares
	case *ast.Drop:
		r.failed[failedKey{w.domain, key}] |= drops
	}
	for _, d := range found {
		switch {
		case d.Code == ast.CodeUnavailable:
			r.unchecked(s.file, placed(d.Span, s.Parsed.Place()), d.Message)
		case !r.follows(w, d):
			d.Span = placed(d.Span, s.Parsed.Place())
			r.report(s.file, d)
		}
	}
}

// carried forgets what failed before, where it was done now.
func (r *runner) carried(w *world, s ast.Statement) {
	switch s.(type) {
	case ast.Declaration, *ast.Drop:
		delete(r.failed, failedKey{w.domain, declared(s)})
	}
}

// placed returns a span, or another one where it is none.
func placed(span, other vocab.Span) vocab.Span {
	if span == (vocab.Span{}) {
		return other
	}
	return span
}

// declared returns what a statement declares, changes or drops.
func declared(s ast.Statement) catalog.Key {
	switch x := s.(type) {
	case ast.Declaration:
		return catalog.Key{Kind: x.Declares(), Name: x.Declared().Name.Text}
	case ast.Alteration:
		return catalog.Key{Kind: x.Alters(), Name: x.Altered().Name.Text}
	case *ast.Drop:
		return catalog.Key{Kind: x.Kind, Name: x.Name.Text}
	}
	return catalog.Key{}
}
