//go:build drtmxkernel

package fast

import (
	"go/ast"
	"go/token"
	r "reflect"

	"github.com/cosmos72/gomacro/base/reflect"
	xr "github.com/cosmos72/gomacro/xreflect"
)

// setPlaceOp compiles "place op= value" for an element, a field or what a pointer points to, as Go has it for each type:
// without what the interpreter does on its own for some constants, for shifts, and for maps that have no such key.
// It is nil for what the interpreter has right, which is faster.
func (c *Comp) setPlaceOp(place *Place, op token.Token, init *Expr) Stmt {
	if op == token.ASSIGN {
		return nil
	}
	op = tokenWithoutAssign(op)
	kind := place.Type.Kind()
	if place.MapKey == nil && kind != xr.Complex64 && op != token.SHL && op != token.SHR && (!init.Const() || op == token.ADD || op == token.SUB) &&
		!(init.Const() && isLiteralNumber(init.Value, 0)) {
		return nil
	}
	var value func(*Env) xr.Value
	if op == token.SHL || op == token.SHR {
		if cat := reflect.Category(kind); cat != r.Int && cat != r.Uint {
			c.Errorf("invalid operator %s= on <%v>", op, place.Type)
		}
		if init.Untyped() {
			init.ConstTo(c.TypeOfUint64())
		}
		count := init.AsUint64()
		value = func(env *Env) xr.Value { return xr.ValueOf(count(env)) }
	} else {
		if init.Const() {
			init.ConstTo(place.Type)
		} else if init.Type == nil || !init.Type.AssignableTo(place.Type) {
			c.Errorf("incompatible types in assignment: <%v> %s= <%v>", place.Type, op, init.Type)
		}
		value = init.AsX1()
		if init.Const() && (op == token.QUO || op == token.REM) && isLiteralNumber(init.Value, 0) && reflect.Category(kind) != r.Float64 && reflect.Category(kind) != r.Complex128 {
			c.Errorf("division by zero")
		}
	}
	compute := operation(op, kind)
	if compute == nil {
		c.Errorf("invalid operator %s= on <%v>", op, place.Type)
	}
	obj, key, rtype := place.Fun, place.MapKey, place.Type.ReflectType()
	return func(env *Env) (Stmt, *Env) {
		at := obj(env)
		if key == nil {
			// An operand that the value changes is read behind it, as Go's compiler does.
			y := value(env).ReflectValue()
			compute(at.ReflectValue(), at.ReflectValue(), y)
		} else {
			k := key(env)
			y := value(env).ReflectValue()
			sum := r.New(rtype).Elem()
			old := sum
			if x := at.MapIndex(k); x.IsValid() {
				old = x.ReflectValue()
			}
			compute(sum, old, y)
			at.SetMapIndex(k, xr.MakeValue(sum))
		}
		env.IP++
		return env.Code[env.IP], env
	}
}

// operation sets to to "x op y".
func operation(op token.Token, kind r.Kind) func(to, x, y r.Value) {
	switch kind {
	case r.Int, r.Int8, r.Int16, r.Int32, r.Int64:
		if op == token.SHL || op == token.SHR {
			return func(to, x, y r.Value) {
				if op == token.SHL {
					to.SetInt(x.Int() << y.Uint())
				} else {
					to.SetInt(x.Int() >> y.Uint())
				}
			}
		}
		return func(to, x, y r.Value) { to.SetInt(opInt(op, x.Int(), y.Int())) }
	case r.Uint, r.Uint8, r.Uint16, r.Uint32, r.Uint64, r.Uintptr:
		return func(to, x, y r.Value) { to.SetUint(opUint(op, x.Uint(), y.Uint())) }
	case r.Float32:
		return func(to, x, y r.Value) { to.SetFloat(float64(opFloat32(op, float32(x.Float()), float32(y.Float())))) }
	case r.Float64:
		return func(to, x, y r.Value) { to.SetFloat(opFloat64(op, x.Float(), y.Float())) }
	case r.Complex64:
		return func(to, x, y r.Value) {
			to.SetComplex(complex128(opComplex64(op, complex64(x.Complex()), complex64(y.Complex()))))
		}
	case r.Complex128:
		return func(to, x, y r.Value) { to.SetComplex(opComplex128(op, x.Complex(), y.Complex())) }
	case r.String:
		if op == token.ADD {
			return func(to, x, y r.Value) { to.SetString(x.String() + y.String()) }
		}
	}
	return nil
}

func opInt(op token.Token, x, y int64) int64 {
	switch op {
	case token.ADD:
		return x + y
	case token.SUB:
		return x - y
	case token.MUL:
		return x * y
	case token.QUO:
		return x / y
	case token.REM:
		return x % y
	case token.AND:
		return x & y
	case token.OR:
		return x | y
	case token.XOR:
		return x ^ y
	case token.AND_NOT:
		return x &^ y
	}
	panic("invalid operator " + op.String())
}

func opUint(op token.Token, x, y uint64) uint64 {
	switch op {
	case token.ADD:
		return x + y
	case token.SUB:
		return x - y
	case token.MUL:
		return x * y
	case token.QUO:
		return x / y
	case token.REM:
		return x % y
	case token.AND:
		return x & y
	case token.OR:
		return x | y
	case token.XOR:
		return x ^ y
	case token.AND_NOT:
		return x &^ y
	case token.SHL:
		return x << y
	case token.SHR:
		return x >> y
	}
	panic("invalid operator " + op.String())
}

func opFloat32(op token.Token, x, y float32) float32 {
	switch op {
	case token.ADD:
		return x + y
	case token.SUB:
		return x - y
	case token.MUL:
		return x * y
	case token.QUO:
		return x / y
	}
	panic("invalid operator " + op.String())
}

func opFloat64(op token.Token, x, y float64) float64 {
	switch op {
	case token.ADD:
		return x + y
	case token.SUB:
		return x - y
	case token.MUL:
		return x * y
	case token.QUO:
		return x / y
	}
	panic("invalid operator " + op.String())
}

func opComplex64(op token.Token, x, y complex64) complex64 {
	switch op {
	case token.ADD:
		return x + y
	case token.SUB:
		return x - y
	case token.MUL:
		return x * y
	case token.QUO:
		return x / y
	}
	panic("invalid operator " + op.String())
}

func opComplex128(op token.Token, x, y complex128) complex128 {
	switch op {
	case token.ADD:
		return x + y
	case token.SUB:
		return x - y
	case token.MUL:
		return x * y
	case token.QUO:
		return x / y
	}
	panic("invalid operator " + op.String())
}

// indexToInt makes an index of any integer type an int.
func (c *Comp) indexToInt(idx *Expr, node ast.Expr) *Expr {
	if idx.Type != nil && !idx.Untyped() {
		if cat := reflect.Category(idx.Type.Kind()); (cat == r.Int || cat == r.Uint) && !c.TypeOfInt().IdenticalTo(idx.Type) {
			return c.convert(idx, c.TypeOfInt(), node)
		}
	}
	return idx
}

// maybeType is false for what can only be a value, so that its own error is reported, and not that it is no type.
func (c *Comp) maybeType(node ast.Expr) bool {
	switch n := node.(type) {
	case *ast.FuncLit, *ast.CallExpr, *ast.IndexExpr, *ast.SliceExpr, *ast.BasicLit, *ast.CompositeLit, *ast.BinaryExpr, *ast.TypeAssertExpr:
		return false
	case *ast.SelectorExpr:
		of, ok := n.X.(*ast.Ident)
		if !ok {
			return false
		}
		sym := c.TryResolve(of.Name)
		return sym != nil && sym.Type != nil && sym.Type.ReflectType() == rtypeOfPtrImport
	}
	return true
}

// valueOfType is a value of the interpreter's, converted where its type has a name.
func valueOfType(x interface{}, rtype r.Type) xr.Value {
	v := xr.ValueOf(x)
	if rtype != nil && v.Type() != rtype {
		v = convert(v, rtype)
	}
	return v
}

// callArg is the only argument of a call: what another call returns, which may be several values, or one value.
func (c *Comp) callArg(node ast.Expr) *Expr {
	inner := node
	for {
		p, ok := inner.(*ast.ParenExpr)
		if !ok {
			break
		}
		inner = p.X
	}
	if _, ok := inner.(*ast.CallExpr); ok {
		return c.Expr(node, nil)
	}
	return c.expr1(node, nil)
}

// element is what a map keeps: nil of a type that has itself in it is a value of that type.
func element(t xr.Type, v xr.Value) xr.Value {
	if !v.IsValid() {
		return xr.Zero(t)
	}
	return v
}

// sent is what is sent to a channel: for nil the interpreter has no value.
func sent(channel, v xr.Value) xr.Value {
	if !v.IsValid() {
		return xr.ZeroR(channel.Type().Elem())
	}
	return v
}
