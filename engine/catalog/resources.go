package catalog

import (
	"iter"
	"slices"

	"plexus/engine/catalog/catalogpb"
	"plexus/nspl/ast"
	"plexus/nspl/model"
)

// Resource is a sequence of versions of a directory tree, which definitions of its
// domain bind by number.
type Resource struct {
	Domain, Name string
	// Next is the number of the next version; numbers are never reused.
	Next     uint64
	Versions []Version // by number
	Revision uint64    // index that wrote it
}

// VersionState says what became of a version.
type VersionState uint8

// The states.
const (
	VersionApplying VersionState = iota
	VersionCompleted
	VersionFailed
)

var versionStateNames = [...]string{"APPLYING", "COMPLETED", "FAILED"}

// String returns the word that listings show.
func (s VersionState) String() string { return versionStateNames[s] }

// Version is one upload of a resource.
type Version struct {
	Number uint64
	State  VersionState
	Digest string // of the content
	Files  uint64
	Reason string // why it failed
}

// Version returns a version by its number.
func (r *Resource) Version(number uint64) (*Version, bool) {
	for i := range r.Versions {
		if r.Versions[i].Number == number {
			return &r.Versions[i], true
		}
	}
	return nil, false
}

// Latest returns the highest completed version, 0 for none.
func (r *Resource) Latest() (number uint64) {
	for i := range r.Versions {
		if r.Versions[i].State == VersionCompleted {
			number = r.Versions[i].Number
		}
	}
	return number
}

// Resource returns a resource of a domain.
func (s *State) Resource(domain, name string) (*Resource, bool) {
	return s.resources.get(resourceKey(domain, name))
}

// Resources yields the resources of a domain by name.
func (s *State) Resources(domain string) iter.Seq[*Resource] {
	return values(s.resources.prefix(domain + "\x00"))
}

func resourceKey(domain, name string) string { return domain + "\x00" + name }

func (t *transition) createResource(c *catalogpb.CreateResource, lease uint64) *Refusal {
	if _, ok := t.state.Resource(c.GetDomain(), c.GetName()); ok {
		return refuse(Exists, "RESOURCE '%s' already exists", c.GetName())
	}
	if c.GetName() == "" {
		return refuse(Invalid, "%q names no resource", c.GetName())
	}
	return t.withDomain(c.GetDomain(), lease, func(d *Domain) *Refusal {
		t.setResource(&Resource{Domain: d.Name, Name: c.GetName(), Next: 1})
		d.Definition = t.index
		return nil
	})
}

// recordVersion begins a version, or says what became of one: that is final.
func (t *transition) recordVersion(c *catalogpb.RecordVersion, lease uint64) *Refusal {
	old, ok := t.state.Resource(c.GetDomain(), c.GetResource())
	if !ok {
		return refuse(RefMissing, "RESOURCE '%s' does not exist", c.GetResource())
	}
	v := newVersion(c.GetVersion())
	if v.State > VersionFailed {
		return refuse(Invalid, "a version of resource '%s' has no such state", old.Name)
	}
	return t.withDomain(c.GetDomain(), lease, func(d *Domain) *Refusal {
		r := *old
		r.Versions = slices.Clone(old.Versions)
		if v.Number == 0 {
			v.Number, r.Next = r.Next, r.Next+1
			r.Versions = append(r.Versions, v)
		} else if at, ok := r.Version(v.Number); ok && at.State == VersionApplying {
			*at = v
		} else {
			return refuse(Invalid, "resource '%s' has no open version %d", old.Name, v.Number)
		}
		t.setResource(&r)
		d.Definition = t.index
		return nil
	})
}

func (t *transition) setResource(r *Resource) {
	r.Revision = t.index
	t.state.resources = t.state.resources.set(resourceKey(r.Domain, r.Name), r)
}

// dropResources forgets the resources of a domain, which go with it.
func (t *transition) dropResources(domain string) {
	for key := range t.state.resources.prefix(domain + "\x00") {
		t.state.resources = t.state.resources.delete(key)
	}
}

func newVersion(v *catalogpb.Version) Version {
	return Version{
		Number: v.GetNumber(), State: VersionState(v.GetState()), Digest: string(v.GetDigest()), Files: v.GetFiles(), Reason: v.GetReason(),
	}
}

func (r *Resource) record() *catalogpb.ResourceRecord {
	record := &catalogpb.ResourceRecord{Domain: r.Domain, Name: r.Name, Next: r.Next, Revision: r.Revision}
	for _, v := range r.Versions {
		record.Versions = append(record.Versions, &catalogpb.Version{
			Number: v.Number, State: catalogpb.Version_State(v.State), Digest: []byte(v.Digest), Files: v.Files, Reason: v.Reason,
		})
	}
	return record
}

func (s *State) resourceRecords(yield func(*catalogpb.Record) bool) bool {
	return each(s.resources, yield, func(_ string, r *Resource) *catalogpb.Record {
		return &catalogpb.Record{Family: &catalogpb.Record_Resource{Resource: r.record()}}
	})
}

func (l *Loader) addResource(record *catalogpb.ResourceRecord) {
	r := &Resource{Domain: record.GetDomain(), Name: record.GetName(), Next: record.GetNext(), Revision: record.GetRevision()}
	for _, v := range record.GetVersions() {
		r.Versions = append(r.Versions, newVersion(v))
	}
	l.state.resources = l.state.resources.set(resourceKey(r.Domain, r.Name), r)
}

// PaceRecord returns how a pace is replicated, nil for none.
func PaceRecord(p *model.Pace) *catalogpb.Pace {
	if p == nil {
		return nil
	}
	return &catalogpb.Pace{Period: p.Period.Nanos, PeriodText: p.Period.Text, Skew: p.Skew.Nanos, SkewText: p.Skew.Text}
}

func newPace(p *catalogpb.Pace) *model.Pace {
	if p == nil {
		return nil
	}
	return &model.Pace{
		Period: ast.Duration{Nanos: p.GetPeriod(), Text: p.GetPeriodText()}, Skew: ast.Duration{Nanos: p.GetSkew(), Text: p.GetSkewText()},
	}
}
