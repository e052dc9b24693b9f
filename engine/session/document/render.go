package document

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"plexus/engine/session/sessionpb"
)

// Bare is the key of a member whose value stands alone, such as the line a
// statement reports and the name a line of a listing begins with.
const Bare = "result"

// Name is the key that a line of a listing begins with, without being written.
const Name = "name"

// Render returns the text: "key: value" lines, two spaces per level, list items
// as "- k=v k=v", "-" for nothing. A map whose values are all maps or lists is
// written in sections.
func Render(v Value) string {
	var b strings.Builder
	switch {
	case v.GetMap() != nil && sectioned(v.GetMap()):
		for _, m := range v.GetMap().GetMembers() {
			b.WriteString("[" + m.GetKey() + "]\n")
			block(&b, m.GetValue(), m.GetKey()+".", 0)
		}
	case v.GetList() != nil:
		for _, item := range v.GetList().GetItems() {
			b.WriteString(line(item) + "\n")
		}
	case v.GetMap() != nil:
		block(&b, v, "", 0)
	case v != nil:
		b.WriteString(scalarText(v.GetScalar()) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func sectioned(m *sessionpb.Map) bool {
	for _, member := range m.GetMembers() {
		if member.GetValue().GetScalar() != nil {
			return false
		}
	}
	return len(m.GetMembers()) > 1
}

// block writes the members of a map, or the items of a list, at one level. The
// prefix stands before each key: sections name theirs.
func block(b *strings.Builder, v Value, prefix string, depth int) {
	indent := strings.Repeat("  ", depth)
	for _, item := range v.GetList().GetItems() {
		if members := item.GetMap().GetMembers(); len(members) == 0 || members[0].GetKey() != Name {
			b.WriteString(indent + "- ")
		} else {
			b.WriteString(indent)
		}
		b.WriteString(line(item) + "\n")
	}
	for _, m := range v.GetMap().GetMembers() {
		switch value := m.GetValue(); {
		case value.GetScalar() == nil:
			b.WriteString(indent + prefix + m.GetKey() + ":")
			if len(value.GetMap().GetMembers()) == 0 && len(value.GetList().GetItems()) == 0 {
				b.WriteString(" -")
			}
			b.WriteString("\n")
			block(b, value, "", depth+1)
		case m.GetKey() == Bare:
			b.WriteString(indent + scalarText(value.GetScalar()) + "\n")
		default:
			b.WriteString(indent + prefix + m.GetKey() + ": " + scalarText(value.GetScalar()) + "\n")
		}
	}
}

// line writes an item of a list as "k=v k=v".
func line(v Value) string {
	if v.GetMap() == nil {
		return scalarText(v.GetScalar())
	}
	var parts []string
	for i, m := range v.GetMap().GetMembers() {
		text := scalarText(m.GetValue().GetScalar())
		if i > 0 || m.GetKey() != Name && m.GetKey() != Bare {
			text = m.GetKey() + "=" + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

func scalarText(s *sessionpb.Scalar) string {
	switch x := s.GetValue().(type) {
	case *sessionpb.Scalar_Text:
		return x.Text
	case *sessionpb.Scalar_Integer:
		return strconv.FormatInt(x.Integer, 10)
	case *sessionpb.Scalar_Unsigned:
		return strconv.FormatUint(x.Unsigned, 10)
	case *sessionpb.Scalar_Float:
		return strconv.FormatFloat(x.Float, 'g', -1, 64)
	case *sessionpb.Scalar_Boolean:
		return strconv.FormatBool(x.Boolean)
	}
	return "-"
}

// JSON returns the tree as one line of JSON.
func JSON(v Value) []byte { return appendJSON(nil, v) }

func appendJSON(out []byte, v Value) []byte {
	switch {
	case v.GetList() != nil:
		return appendArray(out, v.GetList().GetItems())
	case v.GetMap() != nil:
		return appendObject(out, v.GetMap().GetMembers())
	}
	switch s := v.GetScalar(); x := s.GetValue().(type) {
	case *sessionpb.Scalar_Text:
		return appendString(out, x.Text)
	case *sessionpb.Scalar_Float:
		if math.IsNaN(x.Float) || math.IsInf(x.Float, 0) {
			return append(out, "null"...)
		}
		return append(out, scalarText(s)...)
	case nil, *sessionpb.Scalar_None:
		return append(out, "null"...)
	default:
		return append(out, scalarText(s)...)
	}
}

func appendArray(out []byte, items []Value) []byte {
	out = append(out, '[')
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendJSON(out, item)
	}
	return append(out, ']')
}

// appendObject gathers the values of a repeated key where it first stands.
func appendObject(out []byte, members []*sessionpb.Member) []byte {
	out = append(out, '{')
	written := map[string]bool{}
	for i, m := range members {
		if written[m.GetKey()] {
			continue
		}
		written[m.GetKey()] = true
		var same []Value
		for _, other := range members[i:] {
			if other.GetKey() == m.GetKey() {
				same = append(same, other.GetValue())
			}
		}
		if len(written) > 1 {
			out = append(out, ',')
		}
		out = append(appendString(out, m.GetKey()), ':')
		if len(same) > 1 {
			out = appendArray(out, same)
		} else {
			out = appendJSON(out, m.GetValue())
		}
	}
	return append(out, '}')
}

func appendString(out []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string and a buffer cannot fail
	return append(out, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
