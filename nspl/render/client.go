package render

import (
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

func (w *writer) client(c *model.Client) {
	w.put("CLIENT ").name(c.Name).clause(2, "TYPE ", c.Type.String())
	if c.Signaling != nil {
		w.put(" WITH SIGNALING PROTOCOL ").name(c.Signaling.Text)
	}
	if c.Pool != nil {
		w.clause(2, "POOL SIZE MIN ").uint(uint64(c.Pool.Min)).put(" MAX ").uint(uint64(c.Pool.Max))
	}
	if c.Mount != nil {
		w.clause(2, "MOUNT ").binding(*c.Mount)
	}
	w.config(c.Config, 2)
}

// config writes CONFIG with one entry per line; it stands at an indentation.
func (w *writer) config(entries []vocab.ConfigEntry, indent int) {
	w.clause(indent, "CONFIG {")
	for i, e := range entries {
		if i > 0 {
			w.put(",")
		}
		w.clause(indent + 2).string(e.Key).put(" = ").string(e.Value)
	}
	if len(entries) > 0 {
		w.clause(indent)
	}
	w.put("}")
}
