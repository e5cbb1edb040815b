package drtmx_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"testing"
)

// ofProgram marks a variable that belongs to the program and not to a running system, such as a list of parts or a table of constants,
// or a line that changes one, with the reason.
const ofProgram = "program:"

// State of a running system belongs to one of its machines or to its control plane: below the engine no package keeps any, for several
// systems, and several machines of one, run at the same time.
func TestNoStateInPackages(t *testing.T) {
	var found []string
	rooms := 0
	for _, p := range typedPackages(t) {
		room, floor, ok := roomOf(p.pkg)
		if !ok || floor >= floors["engine"] && room != "engine/example" { // what people copy, to below the engine
			continue
		}
		rooms++
		found = append(found, stateViolations(p.files, p.info)...)
	}
	if report(t, found); rooms < 30 {
		t.Errorf("%d packages looked at", rooms)
	}
}

// stateViolations are the places where a function changes a variable of a package, or hands out its address. What runs while the program
// starts, init and the values of variables, may do so.
func stateViolations(files []*file, info *types.Info) (found []string) {
	type line struct {
		file string
		n    int
	}
	excused := map[line]bool{}
	for _, f := range files {
		for n := range f.comments(ofProgram) { // order-free: fills a set
			excused[line{f.fset.Position(f.ast.Pos()).Filename, n}] = true
		}
	}
	flag := func(f *file, n ast.Node, v *types.Var) {
		at, of := f.fset.Position(n.Pos()), f.fset.Position(v.Pos())
		if !excused[line{at.Filename, at.Line}] && !excused[line{of.Filename, of.Line}] {
			found = append(found, fmt.Sprintf("%s: changes %s, a variable of the package: keep it in a machine or in the control plane, or say behind \"// %s\" why it belongs to the program", f.at(n.Pos()), v.Name(), ofProgram))
		}
	}
	for _, f := range files {
		changes(f, info, func(n ast.Node, v *types.Var) { flag(f, n, v) })
	}
	return found
}

// changes calls flag for each place of a file that may change a variable of a package.
func changes(f *file, info *types.Info, flag func(n ast.Node, v *types.Var)) {
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || fn.Recv == nil && fn.Name.Name == "init" {
			continue
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			for _, x := range changedBy(n, info) {
				if v := packageVariable(x, info); v != nil {
					flag(n, v)
				}
			}
			return true
		})
	}
}

// changedBy are the expressions that a node assigns to, counts up, takes the address of, or calls a method on that may change them.
func changedBy(n ast.Node, info *types.Info) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	case *ast.CallExpr:
		sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
		if !ok || info.Selections[sel] == nil || info.Selections[sel].Kind() != types.MethodVal {
			if name, ok := n.Fun.(*ast.Ident); ok && (name.Name == "delete" || name.Name == "clear") && info.Uses[name] == types.Universe.Lookup(name.Name) {
				return n.Args[:1]
			}
			return nil
		}
		method := info.Selections[sel].Obj().(*types.Func)
		_, byPointer := method.Signature().Recv().Type().(*types.Pointer)
		if _, have := info.TypeOf(sel.X).Underlying().(*types.Pointer); byPointer && !have {
			return []ast.Expr{sel.X}
		}
	}
	return nil
}

// packageVariable is the variable of a package that an expression is a part of, without a pointer in between; nil: none is.
func packageVariable(x ast.Expr, info *types.Info) *types.Var {
	for x != nil {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.SelectorExpr:
			if info.Selections[e] == nil { // of another package
				return variableOf(info.Uses[e.Sel])
			}
			if _, pointer := info.TypeOf(e.X).Underlying().(*types.Pointer); pointer {
				return nil
			}
			x = e.X
		case *ast.Ident:
			return variableOf(info.Uses[e])
		default:
			return nil
		}
	}
	return nil
}

func variableOf(o types.Object) *types.Var {
	if v, ok := o.(*types.Var); ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
		return v
	}
	return nil
}

func TestStateInPackagesIsCaught(t *testing.T) {
	c := newChecker(t, []string{"sync"})
	const prelude = "package p\nimport \"sync\"\ntype box struct{ n int; at [4]int }\nfunc (b *box) grow() { b.n++ }\nfunc (b box) size() int { return b.n }\n" +
		"var n int; var b box; var p = &box{}; var m = map[int]int{}; var list []int; var mu sync.Mutex\nvar table [3]int // program: constants\n"
	for body, want := range map[string]string{
		"n = 1":                             "changes n",
		"n++":                               "changes n",
		"b.n = 1":                           "changes b",
		"b.at[2]++":                         "changes b",
		"m[3] = 1":                          "changes m",
		"delete(m, 1)":                      "changes m",
		"list = append(list, 1)":            "changes list",
		"b.grow()":                          "changes b",
		"mu.Lock()":                         "changes mu",
		"x := &n; _ = x":                    "changes n",
		"for n = range 3 {\n}":              "changes n",
		"n := 1; n++; _ = n":                "",
		"_ = b.size() + n + len(m)":         "",
		"x := b; x.n = 2":                   "",
		"n = 1 // program: a list of parts": "",
		"n = 1 // program:":                 "changes n",
		"x := &table; _ = x":                "",
		"p.n = 1":                           "", // what p points to is made elsewhere
	} {
		f, err := parse(c.fset, "engine/kv", "a.go", prelude+"func _() {\n"+body+"\n}\nfunc init() { n = 3 }\n")
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		info, errs := c.check("planted", []*file{f})
		if len(errs) > 0 {
			t.Fatalf("%s: %v", body, errs)
		}
		expect(t, body, stateViolations([]*file{f}, info), want)
	}
}
