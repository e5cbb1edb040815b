//go:build drtmxkernel

package fast

import (
	"go/ast"
	"go/token"
	r "reflect"

	"github.com/cosmos72/gomacro/base/reflect"
	xr "github.com/cosmos72/gomacro/xreflect"
)

// perIteration compiles, behind the body of a loop, that each iteration has variables of its own where a function or
// a pointer may keep them. Loops in which nothing does are as they were.
func (c *Comp) perIteration(loop ast.Node, names ...ast.Expr) {
	kept := keptNames(loop)
	var values []int // those that are reflect's
	found := false
	for _, n := range names {
		ident, ok := n.(*ast.Ident)
		if !ok || !kept[ident.Name] {
			continue
		}
		bind := c.Binds[ident.Name]
		if bind == nil {
			continue
		}
		found = true
		if bind.Desc.Class() == VarBind && bind.Desc.Index() != NoIndex {
			values = append(values, bind.Desc.Index())
		}
	}
	if !found {
		return
	}
	c.append(func(env *Env) (Stmt, *Env) {
		next := *env
		next.Vals = append([]xr.Value(nil), env.Vals...)
		next.Ints = append([]uint64(nil), env.Ints...)
		next.UsedByClosure, next.IntAddressTaken = false, false
		for _, i := range values {
			v := r.New(env.Vals[i].ReflectValue().Type()).Elem()
			v.Set(env.Vals[i].ReflectValue())
			next.Vals[i] = xr.MakeValue(v)
		}
		if env.Run.CurrEnv == env {
			env.Run.CurrEnv = &next
		}
		next.IP++
		return next.Code[next.IP], &next
	})
}

// definedIn are the names that a loop's first clause declares.
func definedIn(init ast.Stmt) []ast.Expr {
	if a, ok := init.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
		return a.Lhs
	}
	return nil
}

// keptNames are the names in a loop that a function literal has, or whose address may be taken.
func keptNames(loop ast.Node) map[string]bool {
	kept := map[string]bool{}
	keep := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if ident, ok := n.(*ast.Ident); ok {
				kept[ident.Name] = true
			}
			return true
		})
	}
	inspect(loop, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FuncLit:
			keep(n)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				keep(n.X)
			}
		case *ast.SliceExpr:
			keep(n.X)
		case *ast.CallExpr: // of a method, maybe, that takes a pointer
			if s, ok := n.Fun.(*ast.SelectorExpr); ok {
				keep(s.X)
			}
		}
	})
	return kept
}

// changed is whether a loop's body may change a variable of its head.
func changed(body ast.Node, name ast.Expr) bool {
	ident, ok := name.(*ast.Ident)
	if !ok {
		return true
	}
	is := func(e ast.Expr) bool {
		for {
			p, ok := e.(*ast.ParenExpr)
			if !ok {
				break
			}
			e = p.X
		}
		i, ok := e.(*ast.Ident)
		return ok && i.Name == ident.Name
	}
	found := keptNames(body)[ident.Name]
	inspect(body, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				found = found || is(l)
			}
		case *ast.IncDecStmt:
			found = found || is(n.X)
		case *ast.RangeStmt:
			found = found || n.Key != nil && is(n.Key) || n.Value != nil && is(n.Value)
		}
	})
	return found
}

func inspect(node ast.Node, visit func(ast.Node)) {
	ast.Inspect(node, func(n ast.Node) bool {
		if n != nil {
			visit(n)
		}
		return true
	})
}

// rangeInt compiles "for i := range n".
func (c *Comp) rangeInt(node *ast.RangeStmt, erange *Expr, jump *rangeJump) {
	t := erange.Type
	if cat := reflect.Category(t.Kind()); cat != r.Int && cat != r.Uint {
		c.Errorf("cannot range over %v <%v>", node.X, t)
	}
	end := c.Bind(c.DeclVar0("", t, erange))
	counter := c.DeclVar0("", t, nil)
	placekey, _ := c.rangeVars(node, t, nil)
	jump.Start = c.Code.Len()
	cond := c.Lss(&ast.BinaryExpr{X: node.X, OpPos: node.Pos(), Op: token.LSS, Y: node.X}, c.Bind(counter), end)
	_, more, _ := cond.TryAsPred()
	c.append(func(env *Env) (Stmt, *Env) {
		ip := jump.Break
		if more(env) {
			ip = env.IP + 1
		}
		env.IP = ip
		return env.Code[ip], env
	})
	if placekey != nil {
		c.SetPlace(placekey, token.ASSIGN, c.Bind(counter))
	}
	c.Block(node.Body)
	jump.Continue = c.Code.Len()
	c.perIterationOf(node)
	c.SetPlace(counter.AsVar(0, PlaceSettable).AsPlace(), token.ADD_ASSIGN, c.exprValue(t, xr.ValueOf(1).Convert(t.ReflectType()).Interface()))
	c.append(func(env *Env) (Stmt, *Env) {
		env.IP = jump.Start
		return env.Code[jump.Start], env
	})
}

// perIterationOf is perIteration of a range loop.
func (c *Comp) perIterationOf(node *ast.RangeStmt) {
	if node.Tok != token.DEFINE {
		return
	}
	names := []ast.Expr{}
	for _, n := range []ast.Expr{node.Key, node.Value} {
		if n != nil {
			names = append(names, n)
		}
	}
	c.perIteration(node.Body, names...)
}
