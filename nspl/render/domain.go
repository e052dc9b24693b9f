package render

import (
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

func (w *writer) domain(d *model.Domain) {
	if d.Pace == nil {
		w.put("UNPACED DOMAIN ").name(d.Name)
	} else {
		w.put("PACED DOMAIN ").name(d.Name).put(" WITH PERIOD ", d.Pace.Period.Text, " SKEW ", d.Pace.Skew.Text)
	}
	if d.Placement != vocab.PlacementNeutral {
		w.put(" PLACEMENT ", d.Placement.String())
	}
}
