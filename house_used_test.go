package drtmx_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// boundList are the packages that the kernel binds: notebooks use what they export, and no code shows it.
const boundList = "kernel/bind/packages.txt"

// usedElsewhere are identifiers that no code outside tests names, and that stay for the reason given: package.Name, package.Type.Name,
// or a package for all of it. What is used after all, or gone, is taken out.
var usedElsewhere = map[string]string{
	"notebooks/figures/figure": "notebooks reach it through the names of notebooks/figures",
	"kernel/internal/probe":    "what tests of the kernel import",
	"kernel/install":           "the command's other half, which its tests call in the process",

	// Plugs that tests put in, and planted faults that checkers must find.
	"engine/example/array.Kind":                 "the tutorial's parts are plugged in by its tests",
	"engine/example/counters.Kind":              "the tutorial's parts are plugged in by its tests",
	"engine/example/hashed.Kind":                "the tutorial's parts are plugged in by its tests",
	"engine/example/inplace.Kind":               "the tutorial's parts are plugged in by its tests",
	"engine/example/leased.Kind":                "the tutorial's parts are plugged in by its tests",
	"engine/example/ordered.Kind":               "the tutorial's parts are plugged in by its tests",
	"engine/example/prepared.Kind":              "the tutorial's parts are plugged in by its tests",
	"engine/example/lamport.Kind":               "the tutorial's parts are plugged in by its tests",
	"engine/example/serial.Kind":                "the tutorial's parts are plugged in by its tests",
	"engine/example/sorted.Kind":                "the tutorial's parts are plugged in by its tests",
	"engine/workload/tpce.canceled":             "a status of the benchmark's data that a planted fault writes",
	"notebooks/figures/calibration.Check":       "the bound on residuals that a test holds",
	"notebooks/figures/gallery.shownPage.Steps": "a template names it",

	// Faults and looks inside that tests of rooms above need.
	"engine/fabric.Fabric.OutOfOrder":    "tests of all rooms hold that it is 0",
	"engine/fabric.NIC.SetDown":          "a fault of tests",
	"engine/fabric/gather.Lists.InUse":   "tests of faults hold that none is lost",
	"engine/r2/clocks.Fixed":             "tests of timestamps set their clocks",
	"engine/r2/core.Program.Preempted":   "tests of slices count what they interrupt",
	"engine/protocol/nowait.Default":     "tests make protocols without knobs",
	"engine/protocol/rococo.Default":     "tests make protocols without knobs",
	"engine/protocol/twopl.Default":      "tests make protocols without knobs",
	"engine/sim.Heap":                    "the queue that tests compare the wheel with",
	"engine/sim.Sim.NextAt":              "tests step by events",
	"engine/sim.Rand.Perm":               "tests shuffle",
	"engine/sim.NewMulti":                "a station that tests of stations know",
	"engine/sim.Multi.Serve":             "a station that tests of stations know",
	"engine/workload/micro.Names":        "tests go through the verbs",
	"engine/workload/micro.ParseVerb":    "tests go through the verbs",
	"dashboard/charts/palette.All":       "tests go through the colours",
	"dashboard/charts/palette.Table.All": "tests go through the colours",
	"rdpma/nvm.Device.OutOfOrder":        "tests hold that it is 0",

	// The thesis's interface of remote persistent memory, of which workloads use a part.
	"rdpma.AllHints":           "the optimised configuration that figures of tests compare with",
	"rdpma.Memory.CompareSwap": "a call of the library",
	"rdpma.Memory.FetchAdd":    "a call of the library",
	"rdpma.Memory.PWrite":      "a call of the library",
	"rdpma.Memory.Hints":       "what was set",
}

// TestEverythingIsUsed: a package-level identifier or method is named by code outside tests, or belongs to what the
// kernel binds, or an interface asks for it, or the list says why it stays.
func TestEverythingIsUsed(t *testing.T) {
	all := typedPackages(t)
	text, err := os.ReadFile(boundList)
	if err != nil {
		t.Fatal(err)
	}
	bound := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if pkg, ok := strings.CutPrefix(strings.TrimSpace(line), module+"/"); ok {
			bound[pkg] = true
		}
	}
	report(t, unusedViolations(all, bound, usedElsewhere))
}

// typed is a package with its types.
type typed struct {
	pkg   string
	files []*file
	info  *types.Info
}

// unusedViolations are the declarations that no file names outside themselves, and entries of the list that excuse nothing.
func unusedViolations(all []typed, bound map[string]bool, listed map[string]string) (found []string) {
	asked := askedMethods(all)
	used := map[types.Object]bool{}
	for _, p := range all {
		if forTests(p.pkg) {
			continue
		}
		for _, f := range p.files {
			for _, d := range f.ast.Decls {
				self := types.Object(nil)
				if fn, ok := d.(*ast.FuncDecl); ok {
					self = p.info.Defs[fn.Name]
				}
				ast.Inspect(d, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						if o := origin(p.info.Uses[id]); o != nil && o != self {
							used[o] = true
						}
					}
					return true
				})
			}
		}
	}
	excuses := map[string]bool{}
	for _, p := range all {
		if p.pkg == "" || forTests(p.pkg) {
			continue
		}
		for _, f := range p.files {
			for id, o := range declared(f, p.info) { // order-free: report sorts
				name := p.pkg + "." + qualified(o)
				switch {
				case used[o] || id.Name == "_" || id.Name == "init" || id.Name == "main" || bound[p.pkg] && id.IsExported():
				case method(o) && asked[id.Name]:
				case listed[name] != "":
					excuses[name] = true
				case listed[p.pkg] != "":
					excuses[p.pkg] = true
				default:
					found = append(found, fmt.Sprintf("%s: no code outside tests uses %s: delete it, or move it to export_test.go", f.at(id.Pos()), qualified(o)))
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if !excuses[name] {
			found = append(found, fmt.Sprintf("%s is used, or gone: take it out of usedElsewhere", name))
		}
	}
	return found
}

// declared are a file's package-level identifiers and methods.
func declared(f *file, info *types.Info) map[*ast.Ident]types.Object {
	list := map[*ast.Ident]types.Object{}
	add := func(id *ast.Ident) {
		if o := info.Defs[id]; o != nil {
			list[id] = o
		}
	}
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(d.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						add(id)
					}
				}
			}
		}
	}
	return list
}

func method(o types.Object) bool {
	fn, ok := o.(*types.Func)
	return ok && fn.Signature().Recv() != nil
}

// qualified is a method's name with its type, any other's alone.
func qualified(o types.Object) string {
	if !method(o) {
		return o.Name()
	}
	t := o.(*types.Func).Signature().Recv().Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name() + "." + o.Name()
	}
	return o.Name()
}

// origin is what a generic declaration's instance comes from.
func origin(o types.Object) types.Object {
	switch o := o.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	case nil:
		return nil
	}
	return o
}

// askedMethods are the names of the methods of all interfaces that the packages, and those that they import, declare.
func askedMethods(all []typed) map[string]bool {
	asked := map[string]bool{"Is": true, "As": true, "Unwrap": true} // package errors names its interfaces nowhere
	add := func(t types.Type) {
		if i, ok := t.Underlying().(*types.Interface); ok {
			for m := range i.Methods() {
				asked[m.Name()] = true
			}
		}
	}
	seen := map[*types.Package]bool{}
	for _, p := range all {
		for _, tv := range p.info.Types { // order-free: fills a set
			if tv.IsType() {
				add(tv.Type)
			}
		}
		for _, o := range p.info.Uses { // order-free: fills a set
			if o.Pkg() == nil || seen[o.Pkg()] {
				continue
			}
			seen[o.Pkg()] = true
			for _, name := range o.Pkg().Scope().Names() {
				if tn, ok := o.Pkg().Scope().Lookup(name).(*types.TypeName); ok {
					add(tn.Type())
				}
			}
		}
	}
	return asked
}

func TestUnusedIsCaught(t *testing.T) {
	tests := []struct {
		name, body string
		listed     map[string]string
		want       string
	}{
		{"used", `func A() { b() }; func b() {}; var _ = A`, nil, ""},
		{"function", `func A() {}`, nil, "uses A"},
		{"only itself", `func a() { a() }`, nil, "uses a"},
		{"constant", `const a = 1`, nil, "uses a"},
		{"type", `type a int`, nil, "uses a"},
		{"method", `type a int; func (a) M() {}; var _ a`, nil, "uses a.M"},
		{"asked by an interface", `type a int; func (a) M() {}; var _ a; type i interface{ M() }; var _ i`, nil, ""},
		{"of an instance", `type a[T any] int; func (a[T]) M() {}; func _() { var x a[int]; x.M() }`, nil, ""},
		{"listed", `func A() {}`, map[string]string{"engine/kv.A": "for tests"}, ""},
		{"package listed", `func A() {}`, map[string]string{"engine/kv": "for tests"}, ""},
		{"listed for nothing", `func A() {}; var _ = A`, map[string]string{"engine/kv.A": "for tests"}, "take it out"},
	}
	c := newChecker(t, []string{"errors"})
	for _, tt := range tests {
		f, err := parse(c.fset, "engine/kv", "a.go", "package p\n"+tt.body)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		info, errs := c.check("planted", []*file{f})
		if len(errs) > 0 {
			t.Fatalf("%s: %v", tt.name, errs)
		}
		expect(t, tt.name, unusedViolations([]typed{{"engine/kv", []*file{f}, info}}, nil, tt.listed), tt.want)
	}
	f, _ := parse(c.fset, "engine/kv", "a.go", "package p\nfunc A() {}\nfunc b() {}")
	info, _ := c.check("planted", []*file{f})
	expect(t, "bound", unusedViolations([]typed{{"engine/kv", []*file{f}, info}}, map[string]bool{"engine/kv": true}, nil), "uses b")
}
