package render

import "plexus/nspl/model"

func (w *writer) client(c *model.Client) {
	w.put("CLIENT ").name(c.Name).clause(2, "TYPE ", c.Type.String())
	if c.Pool != nil {
		w.clause(2, "POOL SIZE MIN ").uint(uint64(c.Pool.Min)).put(" MAX ").uint(uint64(c.Pool.Max))
	}
	w.clause(2, "CONFIG {")
	for i, e := range c.Config {
		if i > 0 {
			w.put(",")
		}
		w.clause(4).string(e.Key).put(" = ").string(e.Value)
	}
	if len(c.Config) > 0 {
		w.clause(2)
	}
	w.put("}")
}
