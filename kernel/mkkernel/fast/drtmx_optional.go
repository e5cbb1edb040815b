//go:build drtmxkernel

package fast

import (
	r "reflect"

	xr "github.com/cosmos72/gomacro/xreflect"
)

// Optional has, for a compiled interface, the proxies that implement others as well, which compiled code asks for with an assertion: those with
// most of them first. The files that kernel/nbgen generates fill it in.
var Optional = map[r.Type][]OptionalProxy{}

// OptionalProxy is a proxy with the methods of the interface, and behind them those of More.
type OptionalProxy struct {
	Proxy r.Type
	More  []r.Type
}

// richestProxy is the proxy with which a type implements an interface, and whatever else it can of what may be asked of it: the methods
// for that.
func (c *Comp) richestProxy(tin, tout xr.Type) (r.Type, []xr.Method) {
	for _, o := range Optional[tout.ReflectType()] {
		if methods, ok := c.optionalMethods(tin, o.More); ok {
			return o.Proxy, methods
		}
	}
	return c.InterfaceProxy(tout), nil
}

func (c *Comp) optionalMethods(tin xr.Type, more []r.Type) (methods []xr.Method, ok bool) {
	for _, it := range more {
		for i := 0; i < it.NumMethod(); i++ {
			want := it.Method(i)
			m, count := methodsOf(tin).MethodByName(want.Name, want.PkgPath)
			if count != 1 || !sameSignature(m.Type, want.Type) {
				return nil, false
			}
			methods = append(methods, m)
		}
	}
	return methods, true
}

// sameSignature compares a method, whose first parameter is what it is called on, with one of an interface.
func sameSignature(m xr.Type, want r.Type) bool {
	if m == nil || m.NumIn() != want.NumIn()+1 || m.NumOut() != want.NumOut() || m.IsVariadic() != want.IsVariadic() {
		return false
	}
	for i := 0; i < want.NumIn(); i++ {
		if m.In(i+1).ReflectType() != want.In(i) {
			return false
		}
	}
	for i := 0; i < want.NumOut(); i++ {
		if m.Out(i).ReflectType() != want.Out(i) {
			return false
		}
	}
	return true
}
