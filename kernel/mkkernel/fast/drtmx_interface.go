//go:build drtmxkernel

package fast

import (
	r "reflect"

	xr "github.com/cosmos72/gomacro/xreflect"
)

// constTo is e.ConstTo(t), except that a typed constant which becomes an interface is none any more: the interface has its methods.
func (e *Expr) constTo(c *Comp, t xr.Type) I {
	if !e.becomesInterface(t) || e.Type.Kind() == r.Interface {
		return e.ConstTo(t) // which says why not, if it is not assignable
	}
	fun := e.AsX1()
	e.Lit.Value = nil
	e.Fun = fun
	e.To(c, t)
	return nil
}

// assigned is an operand that is kept as a value of type t.
func (c *Comp) assigned(e *Expr, t xr.Type) {
	if e.becomesInterface(t) && e.NumOut() == 1 && !e.Type.IdenticalTo(t) {
		e.To(c, t)
	}
}

// becomesInterface says whether e has a type and t is an interface that it is assignable to.
func (e *Expr) becomesInterface(t xr.Type) bool {
	return t != nil && t.Kind() == r.Interface && e.Type != nil && !e.Untyped() && e.Type.AssignableTo(t)
}

// typeKept is the type of a place, and of what is assigned to _ its own.
func typeKept(place *Place, e *Expr) xr.Type {
	if place.IsVar() && place.Var.Desc.Index() == NoIndex && e.Type != nil && !e.Untyped() {
		return e.Type
	}
	return place.Type
}

// asInterface is an assertion that v, of type t if it is one of a cell, implements an interface; ok is false where it does not.
func (c *Comp) asInterface(v xr.Value, t, to xr.Type) (_ xr.Value, ok bool) {
	if !v.IsValid() || !c.implements(v, t, to) {
		return v, false
	}
	switch rtype := to.ReflectType(); {
	case xr.IsEmulatedInterface(to):
		return c.converterToEmulatedInterface(c.typeOf(v, t), to)(v), true
	case v.Type().Implements(rtype):
		return convert(v, rtype), true
	}
	return c.converterToProxy(methodsOf(t), to)(v), true
}

// implements says whether v, of type t if it is one of a cell, has the methods of an interface.
func (c *Comp) implements(v xr.Value, t, in xr.Type) bool {
	if t == nil && !xr.IsEmulatedInterface(in) {
		return v.Type().Implements(in.ReflectType())
	}
	return in.NumMethod() == 0 || c.typeOf(v, t).Implements(in)
}

// typeOf is the type of v, which is t if it is one of a cell.
func (c *Comp) typeOf(v xr.Value, t xr.Type) xr.Type {
	if t == nil {
		return c.Universe.FromReflectType(v.Type())
	}
	return t
}

// fromEmulated converts an interface of a cell to a compiled one.
func (c *Comp) fromEmulated(to xr.Type) func(xr.Value) xr.Value {
	return func(v xr.Value) xr.Value {
		v, t := xr.FromEmulatedInterface(v)
		v, ok := c.asInterface(v, t, to)
		if !ok {
			return xr.Zero(to)
		}
		return v
	}
}

// isOf says whether v, of type t if it is one of a cell, belongs to a case of a type switch; a case of nil is nil.
func (c *Comp) isOf(v xr.Value, t, of xr.Type) bool {
	switch {
	case of == nil || !v.IsValid():
		return of == nil && !v.IsValid()
	case of.Kind() == r.Interface:
		return c.implements(v, t, of)
	}
	return v.Type() == of.ReflectType() && (t == nil || t.IdenticalTo(of))
}

// caseOfTypes is the begin of a case of a type switch: it goes on behind, or to end.
func (c *Comp) caseOfTypes(types []xr.Type, idx int, end *int) Stmt {
	return func(env *Env) (Stmt, *Env) {
		ip := *end
		t := caseType(env, idx)
		for _, of := range types {
			if c.isOf(env.Vals[idx], t, of) {
				ip = env.IP + 1
				break
			}
		}
		env.IP = ip
		return env.Code[ip], env
	}
}

// caseOfInterface is the begin of a case of one interface, whose variable is of that.
func (c *Comp) caseOfInterface(t xr.Type, idx int, end *int) Stmt {
	return func(env *Env) (Stmt, *Env) {
		ip := *end
		if v, ok := c.asInterface(env.Vals[idx], caseType(env, idx), t); ok {
			env.Vals[idx] = v
			ip = env.IP + 1
		}
		env.IP = ip
		return env.Code[ip], env
	}
}

// caseType is the type of what a type switch is about, nil where that is its value's.
func caseType(env *Env, idx int) xr.Type {
	if t := env.Vals[idx+1]; t.IsValid() && !t.IsNil() {
		return t.Interface().(xr.Type)
	}
	return nil
}

// panicked is what panic is called with: an error of a cell's type is an error for who recovers.
func (c *Comp) panicked(arg *Expr) *Expr {
	isError := c.TypeOfError()
	switch {
	case arg.Type == nil || arg.Untyped():
	case arg.Type.Kind() == r.Interface && !xr.IsEmulatedInterface(arg.Type):
		fun, to := arg.AsX1(), c.TypeOfInterface().ReflectType()
		return exprX1(c.TypeOfInterface(), func(env *Env) xr.Value {
			if v := fun(env); v.IsValid() && !v.IsNil() {
				return v.Convert(to)
			}
			return xr.ZeroR(to)
		})
	case arg.Type.Kind() != r.Interface && c.losesMethods(arg.Type, isError):
		c.assigned(arg, isError)
		return c.panicked(arg)
	}
	return arg
}
