package document

import (
	"time"

	"plexus/engine/session/sessionpb"
)

// Value is one node of a reply.
type Value = *sessionpb.Document

// Text returns a text.
func Text(s string) Value {
	return scalar(&sessionpb.Scalar{Value: &sessionpb.Scalar_Text{Text: s}})
}

// Uint returns a number.
func Uint(n uint64) Value {
	return scalar(&sessionpb.Scalar{Value: &sessionpb.Scalar_Unsigned{Unsigned: n}})
}

// Int returns a number.
func Int(n int) Value {
	return scalar(&sessionpb.Scalar{Value: &sessionpb.Scalar_Integer{Integer: int64(n)}})
}

// Float returns a number.
func Float(f float64) Value {
	return scalar(&sessionpb.Scalar{Value: &sessionpb.Scalar_Float{Float: f}})
}

// Bool returns a truth value.
func Bool(b bool) Value {
	return scalar(&sessionpb.Scalar{Value: &sessionpb.Scalar_Boolean{Boolean: b}})
}

// Duration returns a length of time as text.
func Duration(d time.Duration) Value { return Text(d.String()) }

// None returns the absence of a value.
func None() Value { return scalar(&sessionpb.Scalar{Value: &sessionpb.Scalar_None{None: true}}) }

// TextOrNone returns None for an empty text.
func TextOrNone(s string) Value {
	if s == "" {
		return None()
	}
	return Text(s)
}

func scalar(s *sessionpb.Scalar) Value {
	return &sessionpb.Document{Value: &sessionpb.Document_Scalar{Scalar: s}}
}

// List returns a list.
func List(items ...Value) Value {
	return &sessionpb.Document{Value: &sessionpb.Document_List{List: &sessionpb.List{Items: items}}}
}

// Map builds an ordered map.
type Map struct{ members []*sessionpb.Member }

// Set adds a member. A key may be added more than once: text then has several
// lines, JSON one array.
func (m *Map) Set(key string, v Value) *Map {
	m.members = append(m.members, &sessionpb.Member{Key: key, Value: v})
	return m
}

// Value returns the map.
func (m *Map) Value() Value {
	return &sessionpb.Document{Value: &sessionpb.Document_Map{Map: &sessionpb.Map{Members: m.members}}}
}

// Member returns the first member of a map with a key, None where there is none.
func Member(v Value, key string) Value {
	for _, m := range v.GetMap().GetMembers() {
		if m.GetKey() == key {
			return m.GetValue()
		}
	}
	return None()
}
