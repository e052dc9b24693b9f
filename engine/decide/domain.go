package decide

import (
	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// CreateDomain returns the step that creates a domain.
func CreateDomain(d *model.Domain) *catalogpb.Step {
	create := &catalogpb.CreateDomain{Name: d.Name, Pace: catalog.PaceRecord(d.Pace)}
	if d.Placement != vocab.PlacementNeutral {
		create.Placement = d.Placement.String()
	}
	return &catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: create}}
}
