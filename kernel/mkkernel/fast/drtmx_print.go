//go:build drtmxkernel

package fast

import (
	"fmt"
	"go/ast"
	r "reflect"
	"sort"

	xr "github.com/cosmos72/gomacro/xreflect"
)

// shown is a value of a type that a cell declares with a method that says how it prints. In an interface the interpreter has
// the type below it, which has no methods.
type shown struct {
	value interface{}
	text  func() string
}

// Format implements fmt.Formatter.
func (s shown) Format(f fmt.State, verb rune) {
	switch {
	case (verb == 'v' || verb == 's' || verb == 'q') && !f.Flag('#'):
		defer func() {
			if v := r.ValueOf(s.value); v.Kind() == r.Ptr && v.IsNil() {
				if recover() != nil {
					fmt.Fprint(f, "<nil>") // as package fmt has it
				}
			}
		}()
		fmt.Fprintf(f, fmt.FormatString(f, verb), s.text())
	default:
		fmt.Fprintf(f, fmt.FormatString(f, verb), s.value)
	}
}

// shownError is an error too, for fmt.Errorf's %w.
type shownError struct{ shown }

func (s shownError) Error() string { return s.text() }

// parts is a value whose parts print as they say.
type parts struct{ value, inner interface{} }

// Format implements fmt.Formatter.
func (p parts) Format(f fmt.State, verb rune) {
	v := p.inner
	if f.Flag('#') || verb == 'p' {
		v = p.value
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), v)
}

// printed is an argument of a call, made to print as its own String or Error says, and those of its parts, if it is one of package
// fmt's functions.
func (c *Comp) printed(node *ast.CallExpr, arg *Expr, to xr.Type) *Expr {
	if arg.Type == nil || arg.Untyped() || !c.isOfFmt(node.Fun) {
		return arg
	}
	conv := c.printer(arg.Type, to)
	if conv == nil {
		return arg
	}
	fun := arg.AsX1()
	return exprX1(to, func(env *Env) xr.Value { return conv(fun(env)) })
}

// resultConverter is the converter of one of several results that are the arguments of a call.
func (c *Comp) resultConverter(node *ast.CallExpr, from, to xr.Type) func(xr.Value) xr.Value {
	if c.isOfFmt(node.Fun) {
		if conv := c.printer(from, to); conv != nil {
			return conv
		}
	}
	return c.Converter(from, to)
}

// printer converts what package fmt prints; nil: as it is.
func (c *Comp) printer(from, to xr.Type) func(xr.Value) xr.Value {
	if to.Kind() != r.Interface || to.NumMethod() > 0 || from == nil {
		return nil
	}
	extract, convert := c.extractor(from), func(v xr.Value) xr.Value { return v }
	if from.Kind() != r.Interface {
		if !c.says(from, map[string]bool{}) {
			return nil
		}
		return func(v xr.Value) xr.Value { return xr.ValueOf(c.shows(v, from, 0)).Convert(to.ReflectType()) }
	}
	if conv := c.Converter(from, to); conv != nil {
		convert = conv
	}
	return func(v xr.Value) xr.Value {
		if v.IsValid() && !v.IsNil() {
			if obj, t := extract(v); t != nil && c.says(t, map[string]bool{}) {
				return xr.ValueOf(c.shows(obj, t, 0)).Convert(to.ReflectType())
			}
		}
		return convert(v)
	}
}

// says says whether a type, or one of its parts, prints otherwise than package fmt knows.
func (c *Comp) says(t xr.Type, seen map[string]bool) bool {
	if seen[t.String()] {
		return false
	}
	seen[t.String()] = true
	switch {
	case c.textOf(t) != nil, xr.IsEmulatedInterface(t):
		return true
	case t.Kind() == r.Slice, t.Kind() == r.Array, t.Kind() == r.Ptr && t.Elem().Kind() == r.Struct:
		return c.says(t.Elem(), seen)
	case t.Kind() == r.Map:
		return c.says(t.Key(), seen) || c.says(t.Elem(), seen)
	case t.Kind() == r.Struct:
		for i := 0; i < t.NumField(); i++ {
			if renamed(t, i) || c.says(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

// shows is a value that prints as it, and its parts, say. Pointers in its parts print as addresses.
func (c *Comp) shows(v xr.Value, t xr.Type, depth int) interface{} {
	if !v.IsValid() {
		return nil
	}
	if text := c.textOf(t); text != nil {
		return shownError{shown{v.Interface(), func() string { return text(v) }}}
	}
	if xr.IsEmulatedInterface(t) {
		if v, t := xr.FromEmulatedInterface(v); v.IsValid() {
			return c.shows(v, t, depth)
		}
		return nil
	}
	if !c.says(t, map[string]bool{}) {
		return v.Interface()
	}
	inner := func() interface{} {
		switch t.Kind() {
		case r.Slice, r.Array:
			list := make([]interface{}, v.Len())
			for i := range list {
				list[i] = c.shows(v.Index(i), t.Elem(), depth+1)
			}
			return list
		case r.Map:
			return c.showsMap(v, t, depth)
		case r.Struct:
			return c.showsStruct(v, t, depth, false).Interface()
		case r.Ptr:
			if depth == 0 && !v.IsNil() {
				return c.showsStruct(v.Elem(), t.Elem(), depth, false).Addr().Interface()
			}
		}
		return v.Interface()
	}()
	if depth > 0 {
		return inner
	}
	return parts{v.Interface(), inner}
}

// mapParts is a map whose keys print as they say, in the order of the keys.
type mapParts struct{ keys, values []interface{} }

// Format implements fmt.Formatter.
func (m mapParts) Format(f fmt.State, verb rune) {
	format := fmt.FormatString(f, verb)
	fmt.Fprint(f, "map[")
	for i := range m.keys {
		if i > 0 {
			fmt.Fprint(f, " ")
		}
		fmt.Fprintf(f, format+":"+format, m.keys[i], m.values[i])
	}
	fmt.Fprint(f, "]")
}

func (c *Comp) showsMap(v xr.Value, t xr.Type, depth int) interface{} {
	keys := v.MapKeys()
	sort.Slice(keys, func(i, j int) bool { return before(keys[i], keys[j]) })
	var m mapParts
	for _, key := range keys {
		m.keys = append(m.keys, c.shows(key, t.Key(), depth+1))
		m.values = append(m.values, c.shows(v.MapIndex(key), t.Elem(), depth+1))
	}
	return m
}

// before is the order in which package fmt prints keys.
func before(a, b xr.Value) bool {
	switch a.Kind() {
	case r.Int, r.Int8, r.Int16, r.Int32, r.Int64:
		return a.Int() < b.Int()
	case r.Uint, r.Uint8, r.Uint16, r.Uint32, r.Uint64, r.Uintptr:
		return a.Uint() < b.Uint()
	case r.Float32, r.Float64:
		return a.Float() < b.Float() || a.Float() != a.Float() && b.Float() == b.Float()
	case r.Bool:
		return !a.Bool() && b.Bool()
	}
	return fmt.Sprint(a.Interface()) < fmt.Sprint(b.Interface())
}

// renamed says whether the interpreter has a field of a struct under another name, as it has all that are not exported.
func renamed(t xr.Type, i int) bool {
	rtype := t.ReflectType()
	return rtype.Kind() == r.Struct && rtype.Field(i).Name != t.Field(i).Name
}

// showsStruct is a struct with the same fields, of which those that say something are interfaces. As package fmt has it, fields
// that are not exported say nothing, nor does what is in them (quiet).
func (c *Comp) showsStruct(v xr.Value, t xr.Type, depth int, quiet bool) r.Value {
	fields, values := make([]r.StructField, t.NumField()), make([]interface{}, t.NumField())
	for i := range fields {
		f, field := v.Type().Field(i), t.Field(i)
		fields[i] = r.StructField{Name: field.Name, Type: f.Type, Tag: f.Tag}
		values[i] = v.Field(i).Interface()
		exported := ast.IsExported(field.Name)
		if !exported {
			fields[i].PkgPath = "main"
		}
		switch inside := quiet || !exported; {
		case !c.says(field.Type, map[string]bool{}):
		case !inside:
			fields[i].Type, values[i] = anyType, c.shows(v.Field(i), field.Type, depth+1)
		case f.Type.Kind() == r.Struct && field.Type.Kind() == r.Struct:
			inner := c.showsStruct(v.Field(i), field.Type, depth+1, true)
			fields[i].Type, values[i] = inner.Type(), inner.Interface()
		}
	}
	s := r.New(r.StructOf(fields)).Elem()
	for i, x := range values {
		if x != nil {
			r.NewAt(fields[i].Type, s.Field(i).Addr().UnsafePointer()).Elem().Set(r.ValueOf(x))
		}
	}
	return s
}

var anyType = r.TypeOf((*interface{})(nil)).Elem()

// textOf is what the Error or String of a type that a cell declares says of its values; nil: it has none of them.
func (c *Comp) textOf(t xr.Type) func(xr.Value) string {
	of := t
	if t.Kind() == r.Ptr {
		of = t.Elem()
	}
	if !of.Named() || of.Kind() == r.Interface {
		return nil
	}
	for _, name := range []string{"Error", "String"} {
		mtd, n := c.LookupMethod(of, name)
		if n != 1 || mtd.Funs == nil || mtd.Type.NumIn() != 1 || mtd.Type.NumOut() != 1 || mtd.Type.Out(0).Kind() != r.String || mtd.Type.In(0).Kind() == r.Ptr && t.Kind() != r.Ptr {
			continue
		}
		method := c.compileObjGetMethod(t, mtd)
		return func(v xr.Value) string { return method(v).Call(nil)[0].String() }
	}
	return nil
}

// isOfFmt says of what is called whether it is a function of package fmt.
func (c *Comp) isOfFmt(fun ast.Expr) bool {
	path, function := c.packageOf(fun)
	return function && path == "fmt"
}
