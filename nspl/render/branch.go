package render

import "plexus/nspl/model"

func (w *writer) branch(b *model.Branch) {
	w.put("BRANCH ").name(b.Name).put(" SCHEMA ").name(b.Schema.Text).put(" TTL ", b.TTL.Text)
	if b.MaxInstances > 0 {
		w.put(" MAX INSTANCES ").uint(b.MaxInstances).put(" EVICT LRU")
	}
}
