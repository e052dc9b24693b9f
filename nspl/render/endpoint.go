package render

import "plexus/nspl/model"

func (w *writer) endpoint(e *model.Endpoint) {
	w.put("ENDPOINT ").name(e.Name).put(" ON ").name(e.VHost.Text).put(" PATH ").string(e.Path).put(" TYPE ", e.Type.String())
	if e.Signaling != nil {
		w.put(" WITH SIGNALING PROTOCOL ").name(e.Signaling.Text)
	}
}
