package decide

import "testing"

func TestLeaveListeners(t *testing.T) {
	r := Revision{
		Ingestors: []IngestorPlan{
			{Name: "hook", Placement: Placement{Everywhere: true}},
			{Name: "orders", Placement: Placement{Owner: "n2"}},
		},
		Endpoints: []EndpointPlan{{}},
	}
	r.LeaveListeners()
	if got := r.Ingestors[0].Placement; got != (Placement{Owner: Nobody}) {
		t.Errorf("the listener is at %+v", got)
	}
	if got := r.Ingestors[1].Placement; got != (Placement{Owner: "n2"}) || r.Endpoints != nil {
		t.Errorf("the other source is at %+v, endpoints %v", got, r.Endpoints)
	}
}
