package px010

import (
	"fmt"
	"reflect"
	"runtime"
	"unsafe"
)

func refused(x *int) {
	_ = fmt.Sprintf("%p", x)         // want `PX010: %p prints an address`
	_ = uintptr(unsafe.Pointer(x))   // want `PX010: an address as a number`
	_ = reflect.ValueOf(x).Pointer() // want `PX010: reflect.Value.Pointer`
	_ = runtime.NumGoroutine()       // want `PX010: runtime.NumGoroutine`
}

func accepted(x *int) (uintptr, string) { return uintptr(*x), fmt.Sprintf("%d", *x) }
