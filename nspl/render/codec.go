package render

import "plexus/nspl/model"

func (w *writer) codec(c *model.Codec) {
	w.put("CODEC ").name(c.Name).put(" FROM WIRE JSON SCHEMA ").name(c.Wire.Text).put(" TO SCHEMA ").name(c.Schema.Text)
	for i, f := range c.RFC3339 {
		w.put([]string{" ENCODE ", ", "}[min(i, 1)]).name(f.Text).put(" AS RFC3339")
	}
}
