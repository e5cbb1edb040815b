//go:build drtmxkernel

package fast

import (
	"go/constant"
	"go/token"
	r "reflect"

	"github.com/cosmos72/gomacro/base/reflect"
	xr "github.com/cosmos72/gomacro/xreflect"
)

// foldConst computes an operator of typed constants as Go has it: exactly, with one rounding at the end, and without a zero
// that is negative. y is nil of a unary operator.
func (c *Comp) foldConst(z *Expr, op token.Token, x, y *Expr) {
	var exact constant.Value
	if y != nil && (op == token.MUL || op == token.QUO) {
		if a, b := exactComplex(x.Value), exactComplex(y.Value); a != nil && b != nil && constant.Sign(b) != 0 {
			exact = constant.BinaryOp(a, op, b)
		}
	}
	value := r.ValueOf(z.EvalConst(COptKeepUntyped))
	switch value.Kind() {
	case r.Float32, r.Float64:
		if value.Float() == 0 {
			z.Value = r.Zero(value.Type()).Interface()
		}
	case r.Complex64, r.Complex128:
		sum := value.Complex()
		if exact != nil {
			sum = complex(rounded(constant.Real(exact), value.Kind()), rounded(constant.Imag(exact), value.Kind()))
		}
		// x + 0 is x, but for a negative zero.
		z.Value = r.ValueOf(complex(real(sum)+0, imag(sum)+0)).Convert(value.Type()).Interface()
	}
}

// exactComplex is a constant of a complex type; nil: it has another one.
func exactComplex(x I) constant.Value {
	v := r.ValueOf(x)
	if k := v.Kind(); k != r.Complex64 && k != r.Complex128 {
		return nil
	}
	re, im := constant.MakeFloat64(real(v.Complex())), constant.MakeFloat64(imag(v.Complex()))
	if re.Kind() == constant.Unknown || im.Kind() == constant.Unknown {
		return nil
	}
	return constant.BinaryOp(re, token.ADD, constant.MakeImag(im))
}

// rounded is an exact part of a complex constant in its type.
func rounded(v constant.Value, kind r.Kind) float64 {
	if kind == r.Complex64 {
		f, _ := constant.Float32Val(v)
		return float64(f)
	}
	f, _ := constant.Float64Val(v)
	return f
}

// logical gives x && y and x || y the type of the operand that has one of its own.
func (c *Comp) logical(z, x, y *Expr) *Expr {
	fun, ok := z.Fun.(func(*Env) bool)
	if !ok || z.Const() {
		return z
	}
	for _, e := range []*Expr{x, y} {
		if !e.Untyped() && e.Type != nil && !e.Type.IdenticalTo(c.TypeOfBool()) {
			return exprFun(e.Type, fun)
		}
	}
	return z
}

// acrossComplex converts a typed constant from a real type to a complex one, or back, which Go allows of constants alone.
func (c *Comp) acrossComplex(e *Expr, t xr.Type) *Expr {
	if !e.Const() || e.Untyped() || e.Type == nil {
		return e
	}
	v, to := r.ValueOf(e.Value), reflect.Category(t.Kind())
	switch from := reflect.Category(v.Kind()); {
	case from == r.Complex128 && (to == r.Int || to == r.Uint || to == r.Float64) && imag(v.Complex()) == 0:
		return c.exprValue(t, r.ValueOf(real(v.Complex())).Convert(t.ReflectType()).Interface())
	case to == r.Complex128 && (from == r.Int || from == r.Uint || from == r.Float64):
		f := v.Convert(r.TypeOf(0.0)).Float()
		return c.exprValue(t, r.ValueOf(complex(f, 0)).Convert(t.ReflectType()).Interface())
	}
	return e
}
