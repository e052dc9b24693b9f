package render

import "plexus/nspl/model"

func (w *writer) domain(d *model.Domain) { w.put("UNPACED DOMAIN ").name(d.Name) }
