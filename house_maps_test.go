package drtmx_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"testing"
)

// mapViolations finds the walks over maps in one file: range over a map, and the
// iterators of package maps and sync.Map. A walk is in order when it only
// collects keys that the same function sorts afterwards, when the iterator is
// handed to slices.Sorted at once, or when its line says why order is free.
func mapViolations(f *file, info *types.Info) (found []string) {
	excused := f.comments(orderFree)
	flag := func(n ast.Node, what string) {
		if !excused[f.fset.Position(n.Pos()).Line] {
			found = append(found, fmt.Sprintf("%s: %s in no particular order: collect and sort the keys, or say why with // %s reason", f.at(n.Pos()), what, orderFree))
		}
	}
	sorted := map[ast.Node]bool{} // iterators that slices.Sorted takes
	var functions []ast.Node      // enclosing the current node, outermost first
	var stack []ast.Node
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if n == nil {
			switch stack[len(stack)-1].(type) {
			case *ast.FuncDecl, *ast.FuncLit:
				functions = functions[:len(functions)-1]
			}
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		switch n := n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			functions = append(functions, n)
		case *ast.RangeStmt:
			if isMap(info.TypeOf(n.X)) && n.Key != nil && !collectsSorted(n, functions[len(functions)-1], info) {
				flag(n, "walks over a map")
			}
		case *ast.CallExpr:
			if len(n.Args) > 0 && slices.Contains([]string{"slices.Sorted", "slices.SortedFunc"}, called(n, info)) {
				sorted[ast.Unparen(n.Args[0])] = true
			}
			switch name := called(n, info); name {
			case "maps.Keys":
				if !sorted[n] {
					flag(n, "maps.Keys walks over a map")
				}
			case "maps.All", "maps.Values", "(*sync.Map).Range", "(reflect.Value).MapKeys", "(reflect.Value).MapRange":
				flag(n, name+" walks over a map")
			}
		}
		return true
	})
	return found
}

// isMap looks through names and through type parameters all of whose types are
// maps.
func isMap(t types.Type) bool {
	if t == nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Map:
		return true
	case *types.Interface:
		for e := range u.EmbeddedTypes() {
			if isMap(e) {
				return true
			}
		}
	case *types.Union: // of a constraint
		for i := range u.Len() {
			if isMap(u.Term(i).Type()) {
				return true
			}
		}
	}
	return false
}

// called is the full name of the function or method that is called, without type
// arguments; empty for anything else.
func called(call *ast.CallExpr, info *types.Info) string {
	fun := ast.Unparen(call.Fun)
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	var id *ast.Ident
	switch fun := fun.(type) {
	case *ast.Ident:
		id = fun
	case *ast.SelectorExpr:
		id = fun.Sel
	default:
		return ""
	}
	if fn, ok := info.Uses[id].(*types.Func); ok {
		return fn.FullName()
	}
	return ""
}

// collectsSorted: the body of the walk does nothing but append the key to a
// slice, perhaps under a condition, and a later statement of the same function
// sorts that slice.
func collectsSorted(walk *ast.RangeStmt, function ast.Node, info *types.Info) bool {
	if walk.Body == nil || len(walk.Body.List) != 1 {
		return false
	}
	statement := walk.Body.List[0]
	if cond, ok := statement.(*ast.IfStmt); ok && cond.Init == nil && cond.Else == nil && len(cond.Body.List) == 1 && !hasCall(cond.Cond) {
		statement = cond.Body.List[0]
	}
	assign, ok := statement.(*ast.AssignStmt)
	if !ok || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return false
	}
	slice := types.ExprString(assign.Lhs[0])
	call, ok := assign.Rhs[0].(*ast.CallExpr)
	if !ok || len(call.Args) != 2 || types.ExprString(call.Fun) != "append" || types.ExprString(call.Args[0]) != slice {
		return false
	}
	key, ok := walk.Key.(*ast.Ident)
	if value, isIdent := call.Args[1].(*ast.Ident); !ok || !isIdent || key.Name == "_" || value.Name != key.Name {
		return false
	}
	isSorted := false
	ast.Inspect(function, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && call.Pos() > walk.End() && len(call.Args) > 0 && types.ExprString(call.Args[0]) == slice {
			switch called(call, info) {
			case "slices.Sort", "slices.SortFunc", "slices.SortStableFunc",
				"sort.Strings", "sort.Ints", "sort.Slice", "sort.SliceStable", "sort.Sort", "sort.Stable":
				isSorted = true
			}
		}
		return !isSorted
	})
	return isSorted
}

func hasCall(e ast.Expr) (yes bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		_, call := n.(*ast.CallExpr)
		yes = yes || call
		return !yes
	})
	return yes
}

func TestMapWalksAreCaught(t *testing.T) {
	const walk = "walks over a map"
	tests := []struct {
		name, body string
		want       string
	}{
		{"plain", `for k, v := range m { use(k, v) }`, walk},
		{"key only", `for k := range m { use(k) }`, walk},
		{"counting", `n := 0; for range m { n++ }; use(n)`, ""},
		{"blank key", `for _, v := range m { use(v) }`, walk},
		{"excused", "for k := range m { // order-free: only counts\n use(k) }", ""},
		{"excuse without reason", "for k := range m { // order-free:\n use(k) }", walk},
		{"excuse elsewhere", "// order-free: not on the line\nfor k := range m { use(k) }", walk},
		{"collected and sorted", `var ks []string; for k := range m { ks = append(ks, k) }; slices.Sort(ks)`, ""},
		{"collected and sorted by function", `var ks []string; for k := range m { ks = append(ks, k) }; slices.SortFunc(ks, strings.Compare)`, ""},
		{"collected and sorted, package sort", `var ks []string; for k := range m { ks = append(ks, k) }; sort.Strings(ks)`, ""},
		{"collected under a condition", `var ks []string; for k, v := range m { if v > 3 { ks = append(ks, k) } }; sort.Strings(ks)`, ""},
		{"condition with a call", `var ks []string; for k := range m { if use(k) { ks = append(ks, k) } }; sort.Strings(ks)`, walk},
		{"collected, not sorted", `var ks []string; for k := range m { ks = append(ks, k) }; use(ks)`, walk},
		{"sorted before", `var ks []string; slices.Sort(ks); for k := range m { ks = append(ks, k) }`, walk},
		{"another one sorted", `var ks, other []string; for k := range m { ks = append(ks, k) }; slices.Sort(other)`, walk},
		{"sorted in another function", `var ks []string; func() { for k := range m { ks = append(ks, k) } }(); slices.Sort(ks)`, walk},
		{"values collected", `var vs []int; for _, v := range m { vs = append(vs, v) }; slices.Sort(vs)`, walk},
		{"more than collecting", `var ks []string; for k := range m { ks = append(ks, k); use(k) }; slices.Sort(ks)`, walk},
		{"own sort", `var ks []string; for k := range m { ks = append(ks, k) }; sortish(ks)`, walk},
		{"named map", `type set map[string]bool; for k := range set(nil) { use(k) }`, walk},
		{"field", `var x struct{ m map[int]int }; for k := range x.m { use(k) }`, walk},
		{"type parameter", `generic(m)`, ""},
		{"maps.Keys", `for k := range maps.Keys(m) { use(k) }`, "maps.Keys"},
		{"maps.Keys sorted", `for _, k := range slices.Sorted(maps.Keys(m)) { use(k) }`, ""},
		{"maps.Keys collected", `use(slices.Collect(maps.Keys(m)))`, "maps.Keys"},
		{"maps.Values", `use(slices.Sorted(maps.Values(m)))`, "maps.Values"},
		{"maps.All", `for k, v := range maps.All(m) { use(k, v) }`, "maps.All"},
		{"sync.Map", `var x sync.Map; x.Range(func(k, v any) bool { return true })`, "(*sync.Map).Range"},
		{"reflect", `use(reflect.ValueOf(m).MapKeys())`, "MapKeys"},
		{"slice", `for i, v := range []int{1} { use(i, v) }`, ""},
		{"integer and channel", `for i := range 3 { use(i) }; var c chan int; for v := range c { use(v) }`, ""},
	}
	c := newChecker(t, []string{"maps", "reflect", "slices", "sort", "strings", "sync"})
	prelude := `package p
import ("maps"; "reflect"; "slices"; "sort"; "strings"; "sync")
var m map[string]int
func use(...any) bool { return true }
func sortish([]string) {}
func generic[T any](T) {}
var _, _, _, _, _, _ = maps.Keys[map[int]int], reflect.ValueOf, slices.Sort[[]int], sort.Strings, strings.Compare, sync.OnceFunc
`
	run := func(name, text, want string) {
		t.Helper()
		f, err := parse(c.fset, "engine/kv", "a.go", prelude+text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		info, errs := c.check("planted", []*file{f})
		if len(errs) > 0 {
			t.Fatalf("%s: %v", name, errs)
		}
		expect(t, name, mapViolations(f, info), want)
	}
	for _, tt := range tests {
		run(tt.name, "func _() {\n"+tt.body+"\n}\n", tt.want)
	}
	run("map of any type", "func _[M ~map[K]V, K comparable, V any](x M) {\nfor k := range x { use(k) }\n}\n", walk)
	run("at package level", "var _ = func() int {\nfor k := range m { return len(k) }\nreturn 0 }()\n", walk)
}
