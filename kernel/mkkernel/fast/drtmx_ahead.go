//go:build drtmxkernel

package fast

import (
	"go/ast"
	r "reflect"

	"github.com/cosmos72/gomacro/base/dep"
	xr "github.com/cosmos72/gomacro/xreflect"
)

// ahead is what is known of a cell's functions and methods before the first of their bodies is compiled.
type ahead struct {
	functions map[*ast.FuncDecl]*Bind
	methods   map[*ast.FuncDecl]aheadMethod

	before []aheadMethod // the methods that it replaces
}

type aheadMethod struct {
	index  int
	values *[]r.Value
	old    r.Value // before the cell
}

// compileDecls compiles the declarations and statements of a cell. Functions and methods are run first, which only gives them their
// bodies: what sets a variable may call one through an interface, which no order of names shows.
func (c *Comp) compileDecls(decls dep.DeclList) (exprs []*Expr) {
	decls = typesFirst(decls)
	c.ahead = &ahead{functions: map[*ast.FuncDecl]*Bind{}, methods: map[*ast.FuncDecl]aheadMethod{}}
	compiled := false
	defer func() {
		if !compiled {
			c.restoreMethods()
		}
		c.ahead = nil
	}()
	var others []*Expr
	for i, d := range decls {
		c.declareAhead(decls[i:])
		e := c.compileDecl(d)
		switch {
		case e == nil:
		case d.Kind == dep.Func || d.Kind == dep.Method:
			exprs = append(exprs, e)
		default:
			others = append(others, e)
		}
	}
	compiled = true
	return append(exprs, others...)
}

// restoreMethods gives types the methods back that a cell replaces which does not compile: none of it is ever run, so that its methods
// would have no body. Tentatively does the same for names.
func (c *Comp) restoreMethods() {
	for _, m := range c.ahead.before {
		if now := (*m.values)[m.index]; now.Type() == m.old.Type() {
			(*m.values)[m.index] = m.old
		}
	}
}

// typesFirst puts types, and constants, before the functions and variables that stand beside them: what is declared ahead needs
// them. Statements, and types that need a variable, stay where they are.
func typesFirst(decls dep.DeclList) dep.DeclList {
	var sorted, rest dep.DeclList
	after := map[string]bool{} // names in rest
	for _, d := range decls {
		switch d.Kind {
		case dep.Const, dep.Type, dep.TypeFwd:
			stays := false
			for _, name := range d.Deps {
				stays = stays || after[name]
			}
			if !stays {
				sorted = append(sorted, d)
				continue
			}
		case dep.Func, dep.Method, dep.Var, dep.VarMulti:
		default:
			sorted = append(append(sorted, rest...), d)
			rest, after = nil, map[string]bool{}
			continue
		}
		rest = append(rest, d)
		after[d.Name] = true
	}
	return append(sorted, rest...)
}

// declareAhead declares the functions and methods among the next declarations, so that the body of one may use those that are
// written below it. It ends at a statement or a type.
func (c *Comp) declareAhead(next dep.DeclList) {
	for _, d := range next {
		switch d.Kind {
		case dep.Func, dep.Method:
			if f, ok := d.Node.(*ast.FuncDecl); ok {
				c.declareFunction(f)
			}
		case dep.Var, dep.VarMulti:
		default:
			return
		}
	}
}

func (c *Comp) declareFunction(f *ast.FuncDecl) {
	c.Pos = f.Pos()
	switch {
	case f.Recv == nil:
		if c.ahead.functions[f] != nil {
			return
		}
		name := f.Name.Name
		t, _, _ := c.TypeFunction(f.Type)
		c.ahead.functions[f] = c.NewBind(name, FuncBind, t)
	case len(f.Recv.List) == 1:
		if _, ok := c.ahead.methods[f]; ok {
			return
		}
		t, _, _ := c.TypeFunctionOrMethod(f.Recv.List[0], f.Type)
		before := append([]r.Value(nil), *methodsOf(t.In(0)).GetMethods()...)
		m := aheadMethod{}
		m.index, m.values = c.methodAdd(f, t)
		c.ahead.methods[f] = m
		if m.index < len(before) && before[m.index].IsValid() {
			m.old = before[m.index]
			c.ahead.before = append(c.ahead.before, m)
		}
	}
}

// functionBind is where a function is kept.
func (c *Comp) functionBind(f *ast.FuncDecl, t xr.Type) *Bind {
	if c.ahead != nil && c.ahead.functions[f] != nil {
		return c.ahead.functions[f]
	}
	return c.NewBind(f.Name.Name, FuncBind, t)
}

// methodPlace is where a method is kept.
func (c *Comp) methodPlace(f *ast.FuncDecl, t xr.Type) (index int, values *[]r.Value) {
	if c.ahead != nil {
		if m, ok := c.ahead.methods[f]; ok {
			return m.index, m.values
		}
	}
	return c.methodAdd(f, t)
}
