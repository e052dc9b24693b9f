package render

import "plexus/nspl/model"

func (w *writer) wasm(x *model.WASM) {
	w.processor("WASM PROCESSOR", &x.Processor, func() {
		w.module(x.Module, x.File)
		w.clause(2, "MAX FUEL ").uint(x.MaxFuel)
		w.clause(2, "MAX MEMORY ", x.MaxMemory.Text)
	})
	w.clause(2, "ON REJECTED STATE ", []string{"PRESERVE", "RESET"}[oneIf(x.ResetRejected)])
	w.clause(2, "ON GLOBAL ERROR ", generalErrors[x.OnError])
}
