package render

import "plexus/nspl/model"

func (w *writer) vhost(v *model.VHost) {
	w.put("VHOST ").name(v.Name)
	for i, h := range v.Hostnames {
		w.put([]string{" ", ", "}[min(i, 1)], h)
	}
	if v.TLS != nil {
		w.put(" WITH TLS ").binding(*v.TLS)
	}
}
