package drtmx_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"testing"
)

// hasOwner marks a field that a system has once and that changes while it runs, or a line that changes one: with who changes it, such as one
// machine alone or events of the control plane.
const hasOwner = "owner:"

// once are the interfaces of what a system has once, for all its machines, by package.
var once = map[string][]string{
	"engine/workload":    {"Bench"},
	"engine/txn":         {"Protocol"},
	"engine/store":       {"Table", "OrderedTable", "KV", "Indexes", "Caches"},
	"engine/replication": {"Scheme"},
	"engine/timestamp":   {"Scheme"},
}

// controls are names of functions that run before a system does, or in events of its control plane: while no machine runs.
var controls = regexp.MustCompile(`^(New|Open|Population|Make|Add|Set|Date|Resize|Tune|Switch|Use|Warm|Merge|Restamp|Check|Audit|Follow|Crashed|new|open|make|add|set|use)([A-Z].*)?$`)

// What a system has once, its machines share, so they only read it while they run: what one of them changes is in a part of its own
// (engine/owned) or has its owner named.
func TestSharedStateHasAnOwner(t *testing.T) {
	var found []string
	all := typedPackages(t)
	kinds := interfaces(all)
	looked := 0
	for _, p := range all {
		bad, n := ownerViolations(p.files, p.info, kinds)
		found, looked = append(found, bad...), looked+n
	}
	if report(t, found); looked < 30 {
		t.Errorf("%d types looked at", looked)
	}
}

// interfaces are those of the list.
func interfaces(all []typed) (list []*types.Interface) {
	for _, p := range all {
		for _, o := range p.info.Defs { // order-free: fills a set
			if o == nil || o.Pkg() == nil || o.Parent() != o.Pkg().Scope() || !slices.Contains(once[p.pkg], o.Name()) {
				continue
			}
			if x, ok := o.Type().Underlying().(*types.Interface); ok {
				list = append(list, x)
			}
		}
	}
	return list
}

// ownerViolations are the places where a function that runs with the system changes a field of what there is once, and how many such types
// there are.
func ownerViolations(files []*file, info *types.Info, kinds []*types.Interface) (found []string, looked int) {
	shared := map[*types.TypeName]bool{}
	for _, o := range info.Defs { // order-free: fills a set
		if name, ok := o.(*types.TypeName); ok && !name.IsAlias() && isOnce(name.Type(), kinds) {
			shared[name] = true
		}
	}
	excused, before := ownersNamed(files), controlFunctions(files, info)
	for _, f := range files {
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || f.isTest() || before[info.Defs[fn.Name]] {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				for _, x := range assignedBy(n, info) {
					field := sharedField(x, info, shared)
					if field != nil && !excused[lineOf(f, n)] && !excused[lineOf(f, field)] {
						found = append(found, fmt.Sprintf("%s: %s changes %s, which machines share: give each a part of it (engine/owned), or say behind \"// %s\" who changes it", f.at(n.Pos()), fn.Name.Name, field.Name(), hasOwner))
					}
				}
				return true
			})
		}
	}
	return found, len(shared)
}

// controlFunctions are those that run while no machine does: by their names, and those that they alone call.
func controlFunctions(files []*file, info *types.Info) map[types.Object]bool {
	control, callers := map[types.Object]bool{}, map[types.Object][]types.Object{}
	for _, f := range files {
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || f.isTest() {
				continue
			}
			by := info.Defs[fn.Name]
			if controls.MatchString(fn.Name.Name) {
				control[by] = true
			}
			called := calledBy(fn.Body)
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if name, ok := n.(*ast.Ident); ok {
					if x, ok := info.Uses[name].(*types.Func); ok {
						from := by
						if !called[name] {
							from = nil // whoever has it as a value calls it
						}
						callers[x.Origin()] = append(callers[x.Origin()], from)
					}
				}
				return true
			})
		}
	}
	for more := true; more; {
		more = false
		for x, list := range callers { // order-free: fills a set
			if !control[x] && !x.Exported() && !slices.ContainsFunc(list, func(by types.Object) bool { return by != x && !control[by] }) {
				control[x], more = true, true
			}
		}
	}
	return control
}

// calledBy are the names of functions that a body calls itself, not in a function that it makes.
func calledBy(body *ast.BlockStmt) map[*ast.Ident]bool {
	called := map[*ast.Ident]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			switch f := ast.Unparen(n.Fun).(type) {
			case *ast.Ident:
				called[f] = true
			case *ast.SelectorExpr:
				called[f.Sel] = true
			}
		}
		return true
	})
	return called
}

// isOnce says that a type, or what points to it, is of one of the interfaces.
func isOnce(t types.Type, kinds []*types.Interface) bool {
	if _, ok := t.Underlying().(*types.Struct); !ok {
		return false
	}
	return slices.ContainsFunc(kinds, func(x *types.Interface) bool { return types.Implements(types.NewPointer(t), x) })
}

// sourceLine is a line of a file.
type sourceLine struct {
	file string
	n    int
}

func lineOf(f *file, n interface{ Pos() token.Pos }) sourceLine {
	at := f.fset.Position(n.Pos())
	return sourceLine{at.Filename, at.Line}
}

// ownersNamed are the lines that name an owner.
func ownersNamed(files []*file) map[sourceLine]bool {
	lines := map[sourceLine]bool{}
	for _, f := range files {
		for n := range f.comments(hasOwner) { // order-free: fills a set
			lines[sourceLine{f.fset.Position(f.ast.Pos()).Filename, n}] = true
		}
	}
	return lines
}

// assignedBy are the expressions that a node assigns to, counts up, deletes from or clears.
func assignedBy(n ast.Node, info *types.Info) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt, *ast.IncDecStmt, *ast.RangeStmt:
		return changedBy(n, info)
	case *ast.CallExpr:
		if name, ok := n.Fun.(*ast.Ident); ok && (name.Name == "delete" || name.Name == "clear") {
			return changedBy(n, info)
		}
	}
	return nil
}

// sharedField is the field of what a system has once that an expression is a part of, without a pointer in between; nil: none is.
func sharedField(x ast.Expr, info *types.Info, shared map[*types.TypeName]bool) *types.Var {
	for x != nil {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.IndexExpr:
			if t := info.TypeOf(e.X); t != nil {
				if _, pointer := t.Underlying().(*types.Pointer); pointer {
					return nil
				}
			}
			x = e.X
		case *ast.SelectorExpr:
			s := info.Selections[e]
			if s == nil {
				return nil
			}
			t, pointer := info.TypeOf(e.X), false
			if p, ok := t.Underlying().(*types.Pointer); ok {
				t, pointer = p.Elem(), true
			}
			if named, ok := t.(*types.Named); ok && shared[named.Origin().Obj()] {
				field, _ := s.Obj().(*types.Var)
				return field
			}
			if pointer {
				return nil
			}
			x = e.X
		default:
			return nil
		}
	}
	return nil
}

func TestStateWithoutAnOwnerIsCaught(t *testing.T) {
	c := newChecker(t, nil)
	const prelude = "package p\ntype Scheme interface{ Name() string }\ntype part struct{ n int }\n" +
		"type scheme struct { n int; list []int; of map[int]int; parts []*part; at [2]part\nstuck bool // owner: its last machine\n}\n" +
		"func (s *scheme) Name() string { return \"\" }\nfunc (s *scheme) Open() { s.n = 1 }\ntype client struct{ s *scheme; n int }\n"
	for body, want := range map[string]string{
		"x.s.n = 1":                            "run changes n",
		"x.s.n++":                              "run changes n",
		"x.s.list = append(x.s.list, 1)":       "run changes list",
		"x.s.list[2] = 3":                      "run changes list",
		"delete(x.s.of, 3)":                    "run changes of",
		"x.s.at[1].n++":                        "run changes at",
		"x.s.parts[1].n++":                     "", // an element may belong to a machine, and what it points to
		"x.n++":                                "",
		"x.s.stuck = true":                     "",
		"x.s.list[2] = 3 // owner: machine 2":  "",
		"x.s.list[2] = 3 // owner:":            "run changes list",
		"_ = x.s.n":                            "",
		"s := *x.s; s.n = 2; y := &s.n; _ = y": "run changes n",
		"for x.s.n = range 3 {\n}":             "run changes n",
	} {
		f, err := parse(c.fset, "engine/timestamp", "a.go", prelude+"func (x *client) run() {\n"+body+"\n}\nfunc (s *scheme) SetN() { s.fill() }\nfunc (s *scheme) fill() { s.n = 3 }\n"+
			"func (s *scheme) Handle() func() { return s.serve }\nfunc (s *scheme) serve() { s.stuck = false }\n")
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		info, errs := c.check("planted", []*file{f})
		if len(errs) > 0 {
			t.Fatalf("%s: %v", body, errs)
		}
		kinds := interfaces([]typed{{pkg: "engine/timestamp", files: []*file{f}, info: info}})
		found, looked := ownerViolations([]*file{f}, info, kinds)
		if looked != 1 {
			t.Fatalf("%s: %d types looked at", body, looked)
		}
		expect(t, body, found, want)
	}
}
