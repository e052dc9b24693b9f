package render

import (
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

func (w *writer) domain(d *model.Domain) {
	w.put("UNPACED DOMAIN ").name(d.Name)
	if d.Placement != vocab.PlacementNeutral {
		w.put(" PLACEMENT ", d.Placement.String())
	}
}
