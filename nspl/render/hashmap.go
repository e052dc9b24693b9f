package render

import "plexus/nspl/model"

func (w *writer) hashMap(h *model.HashMap) {
	w.put("HASH MAP ").name(h.Name).put(" KEY ").name(h.Key.Text).put(" FROM RESOURCE ").binding(h.Binding)
	w.put(" PATH ").string(h.Path).put(" DECODE USING ").name(h.Decode.Text)
}
