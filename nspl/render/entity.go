package render

import "plexus/nspl/model"

// Entity returns the canonical CREATE statement of an entity, with its
// semicolon.
func Entity(e model.Entity) string {
	w := &writer{}
	w.put("CREATE ")
	switch e := e.(type) {
	case *model.Domain:
		w.domain(e)
	case *model.Schema:
		w.schema(e)
	case *model.WireSchema:
		w.wireSchema(e)
	case *model.Codec:
		w.codec(e)
	case *model.UDF:
		w.udf(e)
	case *model.Branch:
		w.branch(e)
	case *model.Relay:
		w.relay(e)
	case *model.Client:
		w.client(e)
	case *model.VHost:
		w.vhost(e)
	case *model.Endpoint:
		w.endpoint(e)
	case *model.Placement:
		w.placement(e)
	case *model.Ingestor:
		w.ingestor(e)
	case *model.Reingestor:
		w.reingestor(e)
	case *model.Generator:
		w.generator(e)
	case *model.Junction:
		w.junction(e)
	case *model.Deduplicator:
		w.deduplicator(e)
	case *model.Reorderer:
		w.reorderer(e)
	case *model.Correlator:
		w.correlator(e)
	case *model.Window:
		w.window(e)
	case *model.Inferencer:
		w.inferencer(e)
	case *model.WASM:
		w.wasm(e)
	case *model.Emitter:
		w.emitter(e)
	}
	w.put(";")
	return string(w.text)
}

func attachment(attached bool) string {
	if attached {
		return "ATTACHED "
	}
	return "DETACHED "
}
