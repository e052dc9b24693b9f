package harness

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cucumber/godog"
)

// table builds the table of a step from its lines.
func table(lines ...string) *godog.Table {
	type cell struct {
		Value string `json:"value"`
	}
	type row struct {
		Cells []cell `json:"cells"`
	}
	var rows []row
	for _, line := range lines {
		var r row
		for _, text := range strings.Split(line, "|") {
			r.Cells = append(r.Cells, cell{strings.TrimSpace(text)})
		}
		rows = append(rows, r)
	}
	text, err := json.Marshal(map[string]any{"rows": rows})
	if err != nil {
		panic(err)
	}
	t := &godog.Table{}
	if err := json.Unmarshal(text, t); err != nil {
		panic(err)
	}
	return t
}

func TestTableRecordsKeepTypesAndLeaveAbsentFieldsOut(t *testing.T) {
	records, err := tableRecords(table("order_id | cents | note", "o-1 | 1250 | first", "7x | 9007199254740993 | -"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"order_id":"o-1","cents":1250,"note":"first"}`,
		`{"order_id":"7x","cents":9007199254740993}`,
	}
	for i, record := range records {
		if record.Payload != want[i] {
			t.Errorf("record %d is %s, want %s", i, record.Payload, want[i])
		}
	}
}

func TestCompare(t *testing.T) {
	expected := table("order_id | cents", "o-1 | 1", "o-2 | 2")
	for _, c := range []struct {
		name             string
		seen             []string
		inOrder, atLeast bool
		differs          bool
	}{
		{name: "equal", seen: []string{`{"order_id":"o-1","cents":1,"more":true}`, `{"order_id":"o-2","cents":2}`}},
		{name: "another order", seen: []string{`{"order_id":"o-2","cents":2}`, `{"order_id":"o-1","cents":1}`}},
		{name: "order matters", inOrder: true, differs: true, seen: []string{`{"order_id":"o-2","cents":2}`, `{"order_id":"o-1","cents":1}`}},
		{name: "a duplicate", differs: true, seen: []string{`{"order_id":"o-1","cents":1}`, `{"order_id":"o-1","cents":1}`, `{"order_id":"o-2","cents":2}`}},
		{name: "a duplicate allowed", atLeast: true, seen: []string{`{"order_id":"o-1","cents":1}`, `{"order_id":"o-1","cents":1}`, `{"order_id":"o-2","cents":2}`}},
		{name: "one missing", atLeast: true, differs: true, seen: []string{`{"order_id":"o-1","cents":1}`}},
		{name: "no JSON", differs: true, seen: []string{`o-1`, `o-2`}},
	} {
		difference, err := compare(expected, c.seen, c.inOrder, c.atLeast)
		if err != nil {
			t.Fatal(err)
		}
		if (difference != "") != c.differs {
			t.Errorf("%s: difference %q", c.name, difference)
		}
	}
}

func TestConsecutiveFindsGaps(t *testing.T) {
	if err := consecutive([]string{`{"sequence":3}`, `{"sequence":1}`, `{"sequence":2}`, `{"sequence":2}`}); err != nil {
		t.Error(err)
	}
	if err := consecutive([]string{`{"sequence":1}`, `{"sequence":3}`}); err == nil {
		t.Error("a gap passed")
	}
}

func TestWords(t *testing.T) {
	words, err := words(`--domain shop exec 'CREATE SCHEMA s (x I64)' --format=json`)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(words, "|"); got != "--domain|shop|exec|CREATE SCHEMA s (x I64)|--format=json" {
		t.Error(got)
	}
}

func TestMetricsSum(t *testing.T) {
	metrics, err := ParseMetrics("# HELP x\nx_total{a=\"1\",b=\"2\"} 3\nx_total{a=\"1\",b=\"3\"} 4\nx_total 9\ny 1e3\n")
	if err != nil {
		t.Fatal(err)
	}
	if sum, found := metrics.Sum("x_total", []string{`a="1"`}); sum != 7 || !found {
		t.Error(sum, found)
	}
	if sum, _ := metrics.Sum("y", nil); sum != 1000 {
		t.Error(sum)
	}
	if _, found := metrics.Sum("x_total", []string{`a="2"`}); found {
		t.Error("a series that does not exist was found")
	}
}

func TestLookup(t *testing.T) {
	document := map[string]any{"transient error": "-", "edges": []any{map[string]any{"k": "relay", "n": "a"}, map[string]any{"k": "relay", "total": "3"}}}
	for path, want := range map[string]string{"transient error": "-", "edges.0.n": "a", "edges.*.total": "3"} { //plexus:orderfree independent cases
		if value, found := lookup(document, path); !found || plain(value) != want {
			t.Errorf("%s is %v, %v", path, value, found)
		}
	}
}
