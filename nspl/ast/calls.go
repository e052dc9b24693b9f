package ast

import "reflect"

// Calls lists the calls in a tree, or in a model made of trees, in written order.
func Calls(v any) []*Call { return appendCalls(nil, reflect.ValueOf(v)) }

var callType = reflect.TypeFor[*Call]()

func appendCalls(list []*Call, v reflect.Value) []*Call {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return list
		}
		if v.Type() == callType {
			list = append(list, v.Interface().(*Call))
		}
		return appendCalls(list, v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			list = appendCalls(list, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() || v.Type().Field(i).Anonymous {
				list = appendCalls(list, v.Field(i))
			}
		}
	}
	return list
}
