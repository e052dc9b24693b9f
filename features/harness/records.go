package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cucumber/godog"
)

// identityField tells records apart in steps that count them.
const identityField = "order_id"

// absent is the table cell of a field that is missing or null.
const absent = "-"

// tableRecords turns each row under the header into one JSON object. A cell that
// reads as a JSON number, true or false is one; every other cell is a string.
// The column "payload" stands for the whole payload, as written.
func tableRecords(t *godog.Table) ([]Record, error) {
	header, rows, err := split(t)
	if err != nil {
		return nil, err
	}
	var records []Record
	for _, row := range rows {
		if len(header) == 1 && header[0] == "payload" {
			records = append(records, Record{Payload: row[0]})
			continue
		}
		var fields []string
		for i, cell := range row {
			if cell != absent {
				fields = append(fields, fmt.Sprintf("%q:%s", header[i], literal(cell)))
			}
		}
		records = append(records, Record{Payload: "{" + strings.Join(fields, ",") + "}"})
	}
	return records, nil
}

func literal(cell string) string {
	decoder := json.NewDecoder(strings.NewReader(cell))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err == nil && !decoder.More() {
		switch v.(type) {
		case json.Number, bool:
			return cell
		}
	}
	text, _ := json.Marshal(cell)
	return string(text)
}

func split(t *godog.Table) (header []string, rows [][]string, err error) {
	for i, row := range t.Rows {
		var cells []string
		for _, cell := range row.Cells {
			cells = append(cells, cell.Value)
		}
		if i == 0 {
			header = cells
			continue
		}
		rows = append(rows, cells)
	}
	if len(header) == 0 {
		return nil, nil, fmt.Errorf("the step needs a table with a header")
	}
	return header, rows, nil
}

// generated returns n records with the identities o-from to o-(from+n-1).
func generated(from, n int) []Record {
	records := make([]Record, n)
	for i := range records {
		records[i] = Record{Payload: fmt.Sprintf(`{"order_id":"o-%d","cents":%d,"note":"order number %d"}`, from+i, from+i, from+i)}
	}
	return records
}

// fields reads a JSON object into text: strings as they are, numbers as written,
// null and missing as "-".
func fields(payload string) (map[string]string, error) {
	decoder := json.NewDecoder(strings.NewReader(payload))
	decoder.UseNumber()
	object := map[string]any{}
	if err := decoder.Decode(&object); err != nil {
		return nil, fmt.Errorf("%q is no JSON object: %w", clip(payload), err)
	}
	out := map[string]string{}
	for name, value := range object { //plexus:orderfree copied into a map
		out[name] = plain(value)
	}
	return out, nil
}

// plain renders a JSON value the way tables write it.
func plain(value any) string {
	switch v := value.(type) {
	case nil:
		return absent
	case string:
		return v
	case json.Number:
		return v.String()
	default:
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		encoder.Encode(v)
		return strings.TrimSpace(b.String())
	}
}

// project renders the fields of a payload that the header names as one line.
func project(header []string, payload string) string {
	if len(header) == 1 && header[0] == "payload" {
		return payload
	}
	have, err := fields(payload)
	if err != nil {
		return err.Error()
	}
	cells := make([]string, len(header))
	for i, name := range header {
		cells[i] = absent
		if value, ok := have[name]; ok {
			cells[i] = value
		}
	}
	return strings.Join(cells, " | ")
}

// compare says how the payloads seen differ from the rows of the table, as
// multisets, or in order; "" when they do not. With atLeast, rows beyond those of
// the table are ignored.
func compare(t *godog.Table, seen []string, inOrder, atLeast bool) (string, error) {
	header, rows, err := split(t)
	if err != nil {
		return "", err
	}
	want := make([]string, len(rows))
	for i, row := range rows {
		want[i] = strings.Join(row, " | ")
	}
	have := make([]string, len(seen))
	for i, payload := range seen {
		have[i] = project(header, payload)
	}
	if !inOrder {
		slices.Sort(want)
		slices.Sort(have)
	}
	if atLeast {
		left := slices.Clone(have)
		for _, w := range want {
			i := slices.Index(left, w)
			if i < 0 {
				return fmt.Sprintf("%q is missing among:\n%s", w, strings.Join(have, "\n")), nil
			}
			left = slices.Delete(left, i, i+1)
		}
		return "", nil
	}
	if slices.Equal(want, have) {
		return "", nil
	}
	return fmt.Sprintf("%d records:\n%s", len(have), strings.Join(have, "\n")), nil
}

// tally counts the identities of records. Each record is read once, however often
// somebody looks.
type tally struct {
	records  int
	times    map[string]int
	distinct []string // in the order of their first appearance
	checked  int      // so many of distinct are known to have been produced
}

func newTally() *tally { return &tally{times: map[string]int{}} }

func (t *tally) add(records []Record) {
	for _, record := range records {
		id := identity(record.Payload)
		if t.times[id] == 0 {
			t.distinct = append(t.distinct, id)
		}
		t.times[id]++
	}
	t.records += len(records)
}

func (t *tally) repeats() int { return t.records - len(t.distinct) }

// identity is the identity field, or sequence for records of the random source,
// or the whole payload.
func identity(payload string) string {
	have, err := fields(payload)
	if err != nil {
		return payload
	}
	if id, ok := have[identityField]; ok {
		return id
	}
	if id, ok := have["sequence"]; ok {
		return id
	}
	return payload
}

func clip(text string) string {
	if len(text) > 200 {
		return text[:200] + "..."
	}
	return text
}
