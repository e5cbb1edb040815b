//go:build drtmxkernel && go1.21

package fast

import (
	"go/ast"
	"maps"
	r "reflect"
	"strings"
	"sync"

	xr "github.com/cosmos72/gomacro/xreflect"
)

// inAny notes what of a notebook goes into interfaces without methods, and what is asked of them. There the interpreter has a
// value of a type that a cell declares as one of the type below it: a type switch would take it for that, and for every
// other type like it. Interfaces with methods keep the types of their values. What would be wrong is refused, whichever of
// the two comes first.
type inAny struct {
	mu    sync.Mutex
	quiet int // more than 0: what is converted is not kept
	notes
}

type notes struct {
	put      map[likeness]xr.Type // types whose values go into an interface without methods
	asked    map[likeness]xr.Type // types that one is asked for
	methods  map[string]xr.Type   // interfaces with methods that one is asked for
	boxed    map[string]xr.Type   // types of cells in an interface with methods
	stripped map[string]xr.Type   // interfaces with methods that go into one without
	compared bool                 // two interfaces without methods are compared, or are keys of a map
	keys     map[string]string    // interfaces with methods that are keys of a map, or hold a type of a cell: its name
}

// likeness is a type as the interpreter has it, and as Go does.
type likeness struct {
	rtype r.Type
	name  string
}

func (n notes) clone() notes {
	n.put, n.asked, n.methods, n.boxed, n.keys = maps.Clone(n.put), maps.Clone(n.asked), maps.Clone(n.methods), maps.Clone(n.boxed), maps.Clone(n.keys)
	n.stripped = maps.Clone(n.stripped)
	return n
}

// Tentatively calls f, which compiles a cell. If it panics the cell has put nothing anywhere, what was compiled of it does not run with
// the next, and names stand for what they did: a variable of it would have no value. What it imports is imported.
func (ir *Interp) Tentatively(f func()) {
	a := &ir.Comp.inAny
	before, binds, types := a.clone(), maps.Clone(ir.Comp.Binds), maps.Clone(ir.Comp.Types)
	done := false
	defer func() {
		if !done {
			a.notes = before
			c := ir.Comp
			c.Code.Clear()
			c.Loop, c.Func, c.Labels, c.FuncMaker = nil, nil, nil, nil
			for name, bind := range c.Binds {
				if _, ok := bind.Value.(*Import); ok {
					binds[name] = bind
				}
			}
			c.Binds, c.Types = binds, types
		}
		a.quiet = 0
	}()
	f()
	done = true
}

// converts notes a conversion.
func (c *Comp) converts(from, to xr.Type) {
	a := &c.inAny
	if from == nil || to == nil || to.Kind() != r.Interface {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case to.NumMethod() == 0 && a.quiet > 0:
	case to.NumMethod() == 0 && from.Kind() != r.Interface:
		c.puts(from)
	case to.NumMethod() == 0 && from.NumMethod() > 0:
		set(&a.stripped, from.String(), from)
		for _, t := range a.boxed {
			if t.Implements(from) {
				c.puts(t)
			}
		}
	case to.NumMethod() > 0 && from.Kind() != r.Interface && (xr.IsEmulatedInterface(to) || !from.ReflectType().Implements(to.ReflectType())):
		c.boxes(from, to)
	}
}

func (c *Comp) puts(t xr.Type) {
	a := &c.inAny
	of := likeness{t.ReflectType(), t.String()}
	if _, ok := a.put[of]; ok {
		return
	}
	for asked := range a.asked {
		if asked.rtype == of.rtype && asked.name != of.name {
			c.Errorf("%s in an interface without methods: a type switch or assertion of this notebook asks one for %s. %s", of.name, asked.name, alike)
		}
	}
	for _, asked := range a.methods {
		if c.losesMethods(t, asked) {
			c.Errorf("%s in an interface without methods: a type switch or assertion of this notebook asks one for %s. %s", of.name, asked, methodless)
		}
	}
	for other := range a.put {
		if a.compared && other.rtype == of.rtype && other.name != of.name {
			c.Errorf("%s and %s in interfaces without methods, which this notebook compares or has as keys of a map. %s", of.name, other.name, alike)
		}
	}
	set(&a.put, of, t)
}

func (c *Comp) boxes(t, in xr.Type) {
	a := &c.inAny
	set(&a.boxed, t.String(), t)
	if a.keys[in.String()] == "" {
		set(&a.keys, in.String(), t.String())
	} else if a.keys[in.String()] == asKey {
		c.Errorf("%s as key of a map of %s: %s", t, in, noKey)
	}
	for _, from := range a.stripped {
		if t.Implements(from) {
			c.puts(t)
		}
	}
}

// asks notes that an interface is asked for a type.
func (c *Comp) asks(in, t xr.Type) {
	a := &c.inAny
	if in == nil || t == nil || in.Kind() != r.Interface || in.NumMethod() > 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if t.Kind() == r.Interface {
		for put, have := range a.put {
			if t.NumMethod() > 0 && c.losesMethods(have, t) {
				c.Errorf("an interface without methods is asked for %s, and may hold %s. %s", t, put.name, methodless)
			}
		}
		set(&a.methods, t.String(), t)
		return
	}
	of := likeness{t.ReflectType(), t.String()}
	for put := range a.put {
		if put.rtype == of.rtype && put.name != of.name {
			c.Errorf("an interface without methods is asked for %s, and may hold %s. %s", of.name, put.name, alike)
		}
	}
	set(&a.asked, of, t)
}

// compares notes that two values are compared of which one is an interface.
func (c *Comp) compares(x, y xr.Type) {
	if x.Kind() != r.Interface {
		x, y = y, x
	}
	if x.Kind() != r.Interface || x.NumMethod() > 0 {
		return
	}
	if y.Kind() != r.Interface {
		c.asks(x, y)
		return
	}
	c.inAny.mu.Lock()
	defer c.inAny.mu.Unlock()
	c.comparesAll()
}

func (c *Comp) comparesAll() {
	a := &c.inAny
	for x := range a.put {
		for y := range a.put {
			if x.rtype == y.rtype && x.name < y.name {
				c.Errorf("interfaces without methods are compared, or keys of a map, and may hold %s and %s. %s", x.name, y.name, alike)
			}
		}
	}
	a.compared = true
}

// keyed is a type of a key of a map.
func (c *Comp) keyed(t xr.Type) xr.Type {
	if t.Kind() != r.Interface {
		return t
	}
	a := &c.inAny
	a.mu.Lock()
	defer a.mu.Unlock()
	switch held := a.keys[t.String()]; {
	case t.NumMethod() == 0:
		c.comparesAll()
	case xr.IsEmulatedInterface(t):
		c.Errorf("a map with keys of %s: %s", t, noKey)
	case held != "" && held != asKey:
		c.Errorf("a map with keys of %s, which may hold %s: %s", t, held, noKey)
	default:
		set(&a.keys, t.String(), asKey)
	}
	return t
}

const (
	asKey = "\x00key"

	alike = "The interpreter cannot tell them apart there: use an interface with a method of its own in place of any " +
		"(type value interface{ isValue() }), or make one of them a struct with other fields; then restart the kernel, which remembers what went in"
	methodless = "There the interpreter has lost its methods: pass it as an interface that has them, not as any"
	noKey      = "the interpreter does not find such a key again; use a key that is no interface, as its text"
)

// losesMethods says whether t has the methods of an interface only as a type of a cell.
func (c *Comp) losesMethods(t, in xr.Type) bool {
	return t.Implements(in) && !c.Universe.FromReflectType(t.ReflectType()).Implements(in)
}

// keepsNothing is called around the conversion of a call's arguments; what it returns ends that.
func (c *Comp) keepsNothing(fun ast.Expr) func() {
	if !c.isQuiet(fun) {
		return func() {}
	}
	c.inAny.quiet++
	return func() { c.inAny.quiet-- }
}

// isQuiet says whether what is called gives nothing back that it was given as an interface.
func (c *Comp) isQuiet(fun ast.Expr) bool {
	path, _ := c.packageOf(fun)
	switch path {
	case "fmt", "log", "sort", "errors", "encoding/json", "reflect":
		return true
	}
	return strings.HasPrefix(path, "drtmx/")
}

// packageOf is the path of the package whose function is called, or whose type has the method that is called on a variable: "" if it
// is neither.
func (c *Comp) packageOf(fun ast.Expr) (path string, function bool) {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", false
	}
	sym := c.TryResolve(id.Name)
	if sym == nil {
		return "", false
	}
	if imp, ok := sym.Value.(*Import); ok && sym.Const() {
		return imp.Path, true
	}
	t := sym.Type
	if t != nil && t.Kind() == r.Ptr {
		t = t.Elem()
	}
	if t == nil {
		return "", false
	}
	return t.PkgPath(), false
}

func set[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[k] = v
}
