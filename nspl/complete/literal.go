package complete

import "strings"

// units complete a number that waits for its unit. Every spelling the language
// takes is longer than one of these, or another name of it.
var units = map[string][]string{
	"duration":  {"ms", "s", "m", "h", "d"},
	"byte size": {"B", "KiB", "MiB", "GiB"},
}

// literal suggests a value by its form. A number that was begun gets its units.
func (w *writer) literal(form string) {
	if w.quote != 0 {
		return
	}
	number := strings.TrimLeft(w.partial, "0123456789")
	if len(number) < len(w.partial) {
		for _, unit := range units[form] {
			if len(unit) > len(number) && strings.EqualFold(unit[:len(number)], number) {
				text := strings.TrimSuffix(w.partial, number) + unit
				w.put(Suggestion{Display: text, Kind: KindLiteral, Edit: w.edit(text)})
			}
		}
		return
	}
	w.placeholder(form, KindLiteral)
}
