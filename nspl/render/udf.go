package render

import "plexus/nspl/model"

func (w *writer) udf(u *model.UDF) {
	w.put("UDF ").name(u.Name).put(" WITH ", u.Language.String()).put(" ARGS (")
	for i, p := range u.Params {
		if i > 0 {
			w.put(", ")
		}
		w.name(p.Name.Text).put(" ", p.Type.String(), optional(p.Optional))
	}
	w.put(") RETURNS ", u.Returns.String(), optional(u.Optional))
	if u.Volatile {
		w.put(" VOLATILE")
	}
	if u.Binding == nil {
		w.put(" CODE ").string(u.Code)
		return
	}
	w.put(" USING RESOURCE ").binding(*u.Binding)
	w.put(" FILE ").string(u.File).put(" EXPORT ").string(u.Export)
	w.put(" MAX FUEL ").uint(u.MaxFuel).put(" MAX MEMORY ", u.MaxMemory.Text)
	if u.TestText != nil {
		w.put(" TESTS ").string(*u.TestText)
	}
}

func optional(yes bool) string {
	if yes {
		return " OPTIONAL"
	}
	return ""
}
