package render

import "plexus/nspl/model"

func (w *writer) relay(r *model.Relay) {
	w.put("RELAY ").name(r.Name).put(" SCHEMA ").name(r.Schema.Text).put(" ").branchUse(r.Branch).put(" CAPACITY ").uint(r.Capacity)
	if r.Materialized {
		w.put(" WITH MATERIALIZED STATE LAST BY TIMESTAMP")
	}
}
