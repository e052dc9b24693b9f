package transaction_test

import (
	"fmt"
	"strings"
	"testing"

	"plexus/engine/catalog/catalogpb"
	"plexus/engine/transaction"
)

// planned plans statements and returns the text of their outcomes, or of the
// fault.
func planned(t *testing.T, w *world, texts ...string) (*transaction.Plan, string) {
	t.Helper()
	var list []transaction.Statement
	for _, text := range texts {
		s, err := transaction.Read(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		list = append(list, s)
	}
	plan, fault := transaction.Make(w.view(), domain, list)
	if fault == nil {
		fault = plan.Incomplete
	}
	if fault != nil {
		return nil, fault.Found.Error()
	}
	var lines []string
	for _, o := range plan.Outcomes {
		lines = append(lines, strings.Split(o.GetText(), "\n")...)
		if o.GetResolved() != "" {
			lines = append(lines, o.GetResolved())
		}
	}
	return plan, strings.Join(lines, "; ")
}

func version(name string, state catalogpb.Version_State) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_RecordVersion{RecordVersion: &catalogpb.RecordVersion{
		Domain: domain, Resource: name, Version: &catalogpb.Version{State: state}}}}
}

func TestResourcesOfTransactions(t *testing.T) {
	w := newWorld(t)
	check := func(want string, texts ...string) *transaction.Plan {
		t.Helper()
		plan, got := planned(t, w, texts...)
		if got != want {
			t.Fatalf("%s: got %s, want %s", strings.Join(texts, "; "), got, want)
		}
		return plan
	}
	plan := check("created resource 'certs'; resource 'certs' already exists", "CREATE RESOURCE certs", "CREATE IF NOT EXISTS RESOURCE certs")
	if len(plan.Steps) != 1 {
		t.Errorf("%d steps for one resource", len(plan.Steps))
	}
	w.carry(t, plan)
	check("exists: RESOURCE 'certs' already exists", "CREATE RESOURCE certs")
	check("resource.version: resource 'certs' has no completed version", "CREATE VHOST v a.b WITH TLS certs VERSION LATEST")
	w.apply(t, version("certs", catalogpb.Version_COMPLETED))
	vhost := "CREATE VHOST v a.b WITH TLS certs VERSION LATEST"
	want := "created vhost 'v'; resolved VERSION LATEST of resource 'certs' to version 1 for vhost 'v'"
	check(want, vhost)
	w.apply(t, version("certs", catalogpb.Version_COMPLETED), version("certs", catalogpb.Version_APPLYING))
	w.carry(t, check(strings.ReplaceAll(want, "version 1", "version 2"), vhost))
	if text := w.models()[0]; text != "CREATE VHOST v a.b WITH TLS certs VERSION 2;" {
		t.Errorf("stored as %s", text)
	}
	check("vhost 'v' already exists", "CREATE IF NOT EXISTS VHOST v other.host WITH TLS nothing VERSION LATEST")
	check("rebound 0 of 1 usage(s) of resource 'certs' to version 2; vhost 'v' unchanged", "REBIND RESOURCE certs TO VERSION LATEST")
	plan = check("rebound 1 of 1 usage(s) of resource 'certs' to version 1; vhost 'v' from version 2 to version 1", "REBIND RESOURCE certs TO VERSION 1 FOR VHOST v")
	if plan.Level() != "DYNAMIC" {
		t.Errorf("certificates move at %s", plan.Level())
	}
	check("resource.version: version 3 of resource 'certs' is APPLYING", "REBIND RESOURCE certs TO VERSION 3")
	check("unavailable: not available yet: content of resources, which vhost 'v' needs", "START")
}

func TestLifecycleThatADomainDoesNotTake(t *testing.T) {
	w := newWorld(t)
	for text, want := range map[string]string{ //plexus:orderfree independent cases
		"START AT '2026-01-01T00:00:00Z'": "invalid: domain 'd' is unpaced: only START and START AT NOW without TIME RATE are valid",
		"START AT NOW TIME RATE 2":        "invalid: domain 'd' is unpaced: only START and START AT NOW without TIME RATE are valid",
		"START AT NOW":                    "started domain 'd'",
		"RESET WASM PROCESSOR w STATE IN DOMAIN other FOR UNBRANCHED": "invalid: IN DOMAIN 'other' must name the selected domain 'd'",
		"RESET WASM PROCESSOR w STATE IN DOMAIN d FOR UNBRANCHED":     "ref.missing: WASM PROCESSOR 'w' does not exist",
	} {
		if _, got := planned(t, w, text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	w.apply(t, &catalogpb.Step{Body: &catalogpb.Step_DropDomain{DropDomain: &catalogpb.DropDomain{Name: domain}}},
		&catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{
			Name: domain, Pace: &catalogpb.Pace{Period: 1e9, PeriodText: "1s"}}}})
	if _, got := planned(t, w, "START AT NOW TIME RATE 2"); got != "unavailable: not available yet: paced domains" {
		t.Error(got)
	}
}

func TestResetsFitTheProcessor(t *testing.T) {
	w := newWorld(t)
	w.apply(t, &catalogpb.Step{Body: &catalogpb.Step_CreateResource{CreateResource: &catalogpb.CreateResource{Domain: domain, Name: "m"}}},
		version("m", catalogpb.Version_COMPLETED))
	guest := "CREATE WASM PROCESSOR %s FROM %s USING RESOURCE m VERSION 1 FILE 'a.wasm' MAX FUEL 1 MAX MEMORY 1MiB %s TO %s ON MESSAGE ERROR LOG ON GLOBAL ERROR LOG"
	plan, text := planned(t, w, "CREATE SCHEMA key (site STRING, meter I16, rate U8)", "CREATE BRANCH by_site SCHEMA key TTL 1h",
		"CREATE RELAY flat SCHEMA key UNBRANCHED", "CREATE RELAY out SCHEMA key UNBRANCHED",
		"CREATE RELAY sites SCHEMA key BRANCHED BY by_site", "CREATE RELAY done SCHEMA key BRANCHED BY by_site",
		fmt.Sprintf(guest, "one", "flat", "UNBRANCHED", "out"), fmt.Sprintf(guest, "many", "sites", "BRANCHED BY by_site", "done"))
	if plan == nil {
		t.Fatal(text)
	}
	w.carry(t, plan)
	for statement, want := range map[string]string{ //plexus:orderfree independent cases
		"one STATE IN DOMAIN d FOR UNBRANCHED":                                                "unavailable: not available yet: guest state of WASM processors",
		"one STATE IN DOMAIN d FOR ALL BRANCHES":                                              "invalid: WASM PROCESSOR 'one' is unbranched",
		"many STATE IN DOMAIN d FOR UNBRANCHED":                                               "invalid: WASM PROCESSOR 'many' is branched by 'by_site'",
		"many STATE IN DOMAIN d FOR ALL BRANCHES":                                             "unavailable: not available yet: guest state of WASM processors",
		"many STATE IN DOMAIN d FOR BRANCH VALUES { site = 'a', meter = -32768, rate = 255 }": "unavailable: not available yet: guest state of WASM processors",
		"many STATE IN DOMAIN d FOR BRANCH VALUES { site = 7, meter = 32768, rate = -1 }": "invalid: field 'site' requires a STRING literal\n" +
			"invalid: field 'meter' requires a I16 literal\ninvalid: field 'rate' requires a U8 literal",
		"many STATE IN DOMAIN d FOR BRANCH VALUES { site = 'a', site = 'b', plant = 1 }": "invalid: field 'site' is listed twice\n" +
			"invalid: the branch key has no field 'plant'\ninvalid: field 'meter' of the branch key is missing\ninvalid: field 'rate' of the branch key is missing",
	} {
		if _, got := planned(t, w, "RESET WASM PROCESSOR "+statement); got != want {
			t.Errorf("%s: got %s, want %s", statement, got, want)
		}
	}
}
