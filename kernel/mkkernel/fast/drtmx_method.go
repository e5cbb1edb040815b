//go:build drtmxkernel

package fast

import (
	"go/ast"
	r "reflect"

	xr "github.com/cosmos72/gomacro/xreflect"
)

// receiver is what a method of a type that is no struct is called on: the address of x where the method has a pointer for it. The
// interpreter keeps such variables without one.
func (c *Comp) receiver(x ast.Expr, e *Expr, mtd xr.Method) *Expr {
	if mtd.Type.NumIn() == 0 || mtd.Type.In(0).Kind() != r.Ptr || e.Type.Kind() == r.Ptr || len(mtd.FieldIndex) > 0 {
		return e
	}
	return c.addressOf(x, nil)
}

// methodOfType finds T.Method and (*T).Method.
func (c *Comp) methodOfType(t xr.Type, name string) (xr.Method, int) {
	mtd, n := c.LookupMethod(t, name)
	if n == 0 && t.Kind() == r.Ptr && t.Elem().Kind() != r.Interface {
		return c.LookupMethod(t.Elem(), name)
	}
	return mtd, n
}

// methodsOf is the type that has the methods of t: what t points to.
func methodsOf(t xr.Type) xr.Type {
	if t.Kind() == r.Ptr {
		return t.Elem()
	}
	return t
}

// sliced is the type of a part of a slice, or of an array.
func (c *Comp) sliced(t xr.Type) xr.Type {
	if t.Kind() == r.Slice {
		return t
	}
	return c.Universe.SliceOf(t.Elem())
}

// methodForProxy is a method whose first argument is t: where that is a pointer, a method of what it points to is called on that.
func (c *Comp) methodForProxy(t xr.Type, mtd xr.Method) *Expr {
	if t.Kind() != r.Ptr || mtd.Type.In(0).Kind() == r.Ptr || len(mtd.FieldIndex) > 0 {
		return c.compileMethodAsFunc(t, mtd)
	}
	e := c.compileMethodAsFunc(t.Elem(), mtd)
	fun, call := r.ValueOf(e.Value), r.Value.Call
	if fun.Type().IsVariadic() {
		call = r.Value.CallSlice
	}
	typ := c.changeFirstParam(t, e.Type)
	return c.exprValue(typ, r.MakeFunc(typ.ReflectType(), func(args []r.Value) []r.Value {
		args[0] = args[0].Elem()
		return call(fun, args)
	}).Interface())
}
