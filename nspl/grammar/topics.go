package grammar

import (
	"slices"
	"strings"
)

// verbs begin the statements about one kind of entity, in the order of a life.
var verbs = []string{"CREATE", "ALTER", "DROP", "SHOW", "SHOW CREATE", "DESCRIBE", "RELOCATE", "RESET", "LIST"}

// Help is what the grammar knows about a topic.
type Help struct {
	// Rules are what the topic names: statements, or a clause.
	Rules []*Rule
	// Also are the statements about the same kind that the rules are not, by their
	// first words.
	Also []string
	// Lines are the lines of other rules in which the topic stands, where the rules
	// themselves do not hold it; each with its rule.
	Lines []Line
}

// Line is a line of a rule.
type Line struct{ Rule, Text string }

// About returns the help on a topic: the first words of statements, a kind of entity,
// a rule such as "message error", or keywords.
func About(topic string) Help {
	words := strings.Fields(strings.ToUpper(topic))
	asked := strings.Join(words, " ")
	if forms := Forms(asked); len(forms) > 0 {
		return Help{Rules: forms}
	}
	var h Help
	for _, verb := range verbs {
		forms := Forms(verb + " " + asked)
		switch {
		case len(words) == 0 || len(forms) == 0:
		case verb == "CREATE":
			h.Rules = forms
		default:
			h.Also = append(h.Also, verb+" "+asked)
		}
	}
	if slices.ContainsFunc(h.Rules, func(r *Rule) bool { return holds(strings.Fields(r.Text), words) }) {
		return h
	}
	h.Also = nil // it is the name of a connector, or no kind at all
	if r, ok := Find(strings.ToLower(strings.Join(words, "_"))); ok {
		return Help{Rules: []*Rule{r}}
	}
	for _, r := range rules {
		for line := range strings.Lines(r.Text) {
			if len(words) > 0 && holds(strings.Fields(line), words) {
				h.Lines = append(h.Lines, Line{r.Name, strings.TrimSpace(line)})
			}
		}
	}
	return h
}

// Found reports whether there is help.
func (h Help) Found() bool { return len(h.Rules) > 0 || len(h.Lines) > 0 }

// holds reports whether words stand in a line, one behind the other.
func holds(line, words []string) bool {
	for i := range line {
		line[i] = strings.Trim(line[i], "()?*+|,")
	}
	for i := 0; i+len(words) <= len(line); i++ {
		if slices.Equal(line[i:i+len(words)], words) {
			return true
		}
	}
	return false
}

// Topics lists what there is help on in one word: keywords and rules.
func Topics() []string {
	list := Words()
	for _, r := range rules {
		list = append(list, strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(r.Name, "create_"), "_", " ")))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// pages has the page of the manual for each statement, in docs/manual/nspl.
var pages = map[string]string{
	"create_domain": "domains", "alter_domain": "domains", "list": "domains", "use": "domains",
	"create_user": "users", "alter_user": "users",
	"create_schema": "schemas", "create_wire": "schemas", "create_codec": "codecs", "create_branch": "branches", "create_relay": "relays",
	"create_resource": "resources", "upload_resource": "resources", "rebind_resource": "resources", "create_hash_map": "resources", "lookup": "resources",
	"create_client": "clients", "create_vhost": "endpoints", "create_endpoint": "endpoints", "create_signaling": "endpoints",
	"create_udf": "udfs", "create_placement": "placements", "create_ingestor": "ingestors", "create_emitter": "emitters",
	"create_junction": "processors", "create_deduplicator": "processors", "create_reorderer": "processors", "create_correlator": "processors",
	"create_reingestor": "processors", "create_generator": "processors",
	"create_window": "windows", "create_inferencer": "inference", "create_wasm": "wasm",
	"alter": "altering", "drop": "reading", "show": "reading", "describe": "reading",
	"reset": "lifecycle", "start": "lifecycle", "stop": "lifecycle", "clock": "lifecycle",
	"transaction": "transactions", "subscribe": "subscriptions", "unsubscribe": "subscriptions",
	"node_admin": "nodes", "relocate": "nodes", "backup": "backup", "restore": "backup",
	"expr": "expressions", "source": "ingestors", "sink": "emitters", "inputs": "processors", "flush": "routes", "message_error": "routes",
	"construction": "routes", "inherit": "routes", "general_error": "routes", "state_dep": "relays", "type": "schemas",
}

// Page returns the page of the manual that explains a rule, without its ending.
func (r *Rule) Page() (string, bool) {
	page, ok := pages[r.Name]
	return page, ok
}
