// The house holds: which room may import which, and what a model room must not
// touch. Every rule has a test of its own that it catches a planted violation.
package drtmx_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "drtmx"

// rows are the floors of the design, from the ground up: each row is a floor with its rooms. A package
// belongs to the room with the longest path that contains it. A room imports itself and the rows before its own.
// With "/*" each folder in a folder is a room: a new protocol needs no line here.
var rows = [][]string{
	{"engine/knob", "engine/membership", "engine/owned", "engine/sim", "engine/wire"},
	{"engine/metrics", "engine/history"},
	{"engine/fabric/space"},
	{"engine/fabric/gather", "engine/fabric/profile", "engine/fabric/recency"},
	{"engine/fabric/host"},
	{"engine/fabric/exploration"},
	{"engine/fabric", "engine/r2/beside", "rdpma/nvm"},
	{"engine/r2/ahead", "engine/r2/core", "engine/r2/datagram", "engine/r2/observe", "engine/r2/ready", "engine/r2/registered", "engine/r2/sendq"},
	{"engine/r2/account", "engine/r2/config", "engine/r2/queuepair", "engine/r2/registry", "engine/r2/rings"},
	{"engine/r2"},
	// From here on rooms are protocol code, up to the workloads: it must run on other fabrics too.
	{"engine/testbed", "rdpma"},
	{"engine/record"},
	{"engine/store"},
	{"engine/timestamp"},
	{"engine/kv", "xstore", "dst"},
	{"engine/replication"},
	{"engine/txn"},
	{"engine/versions"},
	{"engine/coordinator"},
	{"engine/protocol/*"},
	{"engine/workload"},
	{"engine/experiment"},
	{"engine/code"},
	{"engine/result"},
	{"engine/measure"},
	{"engine"},
	{"engine/explore"},
	// The suite that holds protocols runs whole systems.
	{"engine/protocol/protocoltest"},
	// The last row of the model: what lives in it or below decides the result of a run.
	{"engine/batch", "engine/example"},
	{"dashboard/charts/palette"},
	{"dashboard/charts/canvas"},
	{"dashboard/charts"},
	{"cluster/atomicfile", "cluster/handbook", "cluster/runs", "cluster/shell", "cluster/tidy", "cluster/words"},
	{"cluster/strictjson", "cluster/system", "cluster/work"},
	{"cluster/keep", "cluster/session", "cluster/table"},
	{"cluster/lab", "cluster/twin"},
	{"cluster/agent"},
	{"cluster/job"},
	{"cluster/web"},
	{"cluster"},
	{"cluster/work/server", "dashboard"},
	{"notebooks/figures/prediction"},
	{"notebooks/figures/published"},
	{"notebooks/figures/figure"},
	{"notebooks/figures/chapter2", "notebooks/figures/chapter3", "notebooks/figures/chapter4", "notebooks/figures/chapter5"},
	{"notebooks/figures/page", "notebooks/figures/record"},
	{"notebooks/figures"},
	{"notebooks/figures/calibration", "notebooks/figures/gallery"},
	{"cluster/drtmx", "engine/planted", "kernel"},
}

// floors is the number of each room's row.
var floors = func() map[string]int {
	of := map[string]int{}
	for i, row := range rows {
		for _, room := range row {
			if _, twice := of[room]; twice {
				panic(room + " is in two rows")
			}
			of[room] = i
		}
	}
	return of
}()

// inModel says that what lives on a floor decides the result of a run.
func inModel(floor int) bool { return floor <= floors["engine/batch"] }

// protocolFloor says whether the code of a floor must run on other fabrics too,
// and so knows neither the simulator nor the wall clock.
func protocolFloor(floor int) bool {
	return floors["engine/testbed"] <= floor && floor <= floors["engine/workload"]
}

// roomOf is the room of a package of this module, by its path in it.
func roomOf(pkg string) (room string, floor int, ok bool) {
	for dir := pkg; dir != "."; dir = path.Dir(dir) {
		if floor, ok = floors[dir]; ok {
			return dir, floor, true
		}
		if floor, ok = floors[path.Dir(dir)+"/*"]; ok {
			return dir, floor, true
		}
	}
	return "", 0, false
}

// unhoused tells what to do about packages of the engine that have no row, so that they count as the whole engine: a part that is new.
func unhoused(pkgs ...string) string {
	for _, pkg := range pkgs {
		if room, _, _ := roomOf(pkg); room == "engine" && pkg != room {
			return fmt.Sprintf("; %s has no row: a protocol belongs into engine/protocol, where it needs none; add others in house_test.go to the row of their kind, a store to that of engine/kv, a timestamp scheme to that of dst", pkg)
		}
	}
	return ""
}

// file is one parsed Go file.
type file struct {
	pkg  string // path of its package in the module
	name string
	fset *token.FileSet
	ast  *ast.File
}

func (f *file) isTest() bool { return strings.HasSuffix(f.name, "_test.go") || forTests(f.pkg) }

// forTests says that a package is a part of tests, as net/http/httptest is: what
// several packages' tests need. It may do what they may, and only they import it.
func forTests(pkg string) bool { return strings.HasSuffix(pkg, "test") }

func (f *file) at(p token.Pos) string {
	pos := f.fset.Position(p)
	return fmt.Sprintf("%s/%s:%d", f.pkg, filepath.Base(pos.Filename), pos.Line)
}

func parse(fset *token.FileSet, pkg, name string, src any) (*file, error) {
	a, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &file{pkg, filepath.Base(name), fset, a}, nil
}

// tree parses every Go file of the module, whatever its build constraints.
func tree(t *testing.T) []*file {
	t.Helper()
	var files []*file
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return skipDir(name, d)
		case path.Ext(name) != ".go" || filepath.Dir(name) == ".":
			return nil
		}
		f, err := parse(fset, filepath.ToSlash(filepath.Dir(name)), name, nil)
		if err != nil {
			t.Errorf("does not parse: %v", err)
			return nil
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// skipDir leaves out what the go command leaves out: testdata, hidden
// directories and other modules.
func skipDir(name string, d fs.DirEntry) error {
	if name == "." {
		return nil
	}
	switch n := d.Name(); {
	case n == "testdata", n == "vendor", n == "node_modules", n[0] == '.', n[0] == '_':
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func report(t *testing.T, violations []string) {
	t.Helper()
	slices.Sort(violations)
	for _, v := range slices.Compact(violations) {
		t.Error(v)
	}
}

func TestFloors(t *testing.T) {
	var found []string
	for _, f := range tree(t) {
		found = append(found, importViolations(f)...)
	}
	report(t, found)
}

// importViolations checks the imports of one file. Tests keep to the floors too,
// except that tests of protocol rooms start a simulator to run on.
func importViolations(f *file) (found []string) {
	room, floor, ok := roomOf(f.pkg)
	if !ok {
		return []string{fmt.Sprintf("%s lives in no room: give it one in the table of the design, or move it", f.pkg)}
	}
	for _, spec := range f.ast.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			found = append(found, fmt.Sprintf("%s: import %s: %v", f.at(spec.Pos()), spec.Path.Value, err))
			continue
		}
		if imported == "time" && protocolFloor(floor) && !f.isTest() {
			found = append(found, fmt.Sprintf("%s: %s must not import time: protocol code takes it from r2", f.at(spec.Pos()), room))
		}
		if speaksHTTP(imported) && !mayHTTP(f.pkg) && !f.isTest() {
			found = append(found, fmt.Sprintf("%s: %s must not import %s: all of HTTP below cluster is in cluster/web", f.at(spec.Pos()), f.pkg, imported))
		}
		to, below := strings.CutPrefix(imported, module+"/")
		if !below {
			continue
		}
		other, otherFloor, ok := roomOf(to)
		switch {
		case !ok:
			found = append(found, fmt.Sprintf("%s: %s lives in no room", f.at(spec.Pos()), imported))
		case forTests(to) && !f.isTest():
			found = append(found, fmt.Sprintf("%s: only tests may import %s", f.at(spec.Pos()), imported))
		case other == room:
		case otherFloor >= floor:
			found = append(found, fmt.Sprintf("%s: %s imports %s, which is not below it%s", f.at(spec.Pos()), room, other, unhoused(to, f.pkg)))
		case other == "engine/kv" && room == "engine/workload" && !f.isTest() && !forTests(f.pkg):
			found = append(found, fmt.Sprintf("%s: %s must not import %s: a workload describes its tables, and a knob says which store makes them", f.at(spec.Pos()), f.pkg, to))
		case other == "engine/sim" && protocolFloor(floor) && !f.isTest():
			found = append(found, fmt.Sprintf("%s: %s must not import engine/sim: protocol code knows only r2", f.at(spec.Pos()), room))
		}
	}
	return found
}

// speaksHTTP says that an import is one of HTTP or of websockets.
func speaksHTTP(imported string) bool {
	return imported == "net/http" || strings.HasPrefix(imported, "net/http/") || imported == "github.com/gorilla/websocket"
}

// mayHTTP says whether a package may speak it: of those below cluster only the room of HTTP, the server of points, and a
// benchmark that measures a running cluster from outside.
func mayHTTP(pkg string) bool {
	inside := pkg == "cluster" || strings.HasPrefix(pkg, "cluster/")
	return !inside || slices.Contains([]string{"cluster/web", "cluster/work", "cluster/bench"}, pkg)
}

// server is the module that only the command may link: who sends points needs the client alone.
const server = "github.com/nats-io/nats-server/"

func TestOnlyTheCommandLinksTheServer(t *testing.T) {
	for _, roots := range []struct {
		of    []string
		links bool
	}{
		{[]string{module + "/kernel/...", module + "/notebooks/...", module + "/dashboard/...", module + "/cluster"}, false},
		{[]string{module + "/cluster/drtmx"}, true},
	} {
		var linked []string
		for _, p := range goList(t, append([]string{"-deps", "--"}, roots.of...)...) {
			if strings.HasPrefix(p.ImportPath, server) || p.ImportPath == module+"/cluster/work/server" {
				linked = append(linked, p.ImportPath)
			}
		}
		if (len(linked) > 0) != roots.links {
			t.Errorf("%v link %v of the server, want some: %v", roots.of, linked, roots.links)
		}
	}
}

func TestFloorsCatchViolations(t *testing.T) {
	tests := []struct {
		pkg, name, imports string
		want               string // in the violation; none when empty
	}{
		{"engine/r2", "a.go", `"drtmx/engine/fabric"; "drtmx/engine/sim"; "time"; "fmt"`, ""},
		{"engine/fabric", "a.go", `"drtmx/engine/r2"`, "engine/fabric imports engine/r2, which is not below it"},
		{"engine/metrics", "a.go", `"drtmx/engine/history"`, "engine/metrics imports engine/history, which"},
		{"engine/metrics", "a_test.go", `"drtmx/engine/history"`, "which is not below it"},
		{"engine/metrics", "a.go", `x "drtmx/engine/metrics/inner"`, ""},
		{"engine/metrics/inner", "a.go", `"drtmx/engine/metrics"`, ""},
		{"engine/experiment", "a.go", `"drtmx/engine/mine"`, "engine/experiment imports engine, which is not below it; engine/mine has no row: a protocol belongs into engine/protocol"},
		{"engine/metrics/inner", "a.go", `_ "drtmx/engine"`, "imports engine, which is not below it"},
		{"engine/sim", "a.go", `"drtmx/engine/simulator"`, "imports engine, which is not below it"},
		{"engine/protocol/mine", "a.go", `"drtmx/engine/versions"; "drtmx/engine/protocol/mine/inner"`, ""},
		{"engine/protocol/mine", "a.go", `"drtmx/engine/protocol/occ"`, "which is not below it"},
		{"engine/workload/cycle", "a.go", `"drtmx/engine/workload"; "drtmx/engine/txn"`, ""},
		{"engine/workload/cycle", "a.go", `"drtmx/engine/kv"`, "a knob says which store makes them"},
		{"engine/workload/cycle", "a_test.go", `"drtmx/engine/kv"`, ""},
		{"engine/workload/cycle", "a.go", `"drtmx/engine/sim"`, "engine/workload must not import engine/sim"},
		{"engine/workload/cycle", "a_test.go", `"drtmx/engine/sim"; "time"`, ""},
		{"engine/workload/workloadtest", "a.go", `"drtmx/engine/sim"`, ""},
		{"engine/workload/cycle", "a_test.go", `"drtmx/engine/workload/workloadtest"`, ""},
		{"engine/workload/cycle", "a.go", `"drtmx/engine/workload/workloadtest"`, "only tests may import drtmx/engine/workload/workloadtest"},
		{"engine/kv", "a.go", `. "time"`, "engine/kv must not import time"},
		{"rdpma", "a.go", `"drtmx/rdpma/nvm"`, ""},
		{"rdpma/nvm", "a.go", `"drtmx/rdpma"`, "rdpma/nvm imports rdpma, which is not below it"},
		{"xstore", "a.go", `"drtmx/dst"`, "xstore imports dst"},
		{"cluster", "a.go", `"drtmx/cluster/runs"; "drtmx/engine"`, ""},
		{"cluster", "a.go", `"drtmx/dashboard"`, "cluster imports dashboard"},
		{"cluster/session", "a.go", `"drtmx/cluster/system"`, ""},
		{"cluster/session", "a.go", `"drtmx/cluster"`, "cluster/session imports cluster"},
		{"cluster/web", "a.go", `"drtmx/cluster/job"; "net/http"`, ""},
		{"cluster/agent", "a.go", `"net/http"`, "cluster/agent must not import net/http"},
		{"cluster", "a.go", `"github.com/gorilla/websocket"`, "cluster must not import github.com/gorilla/websocket"},
		{"cluster", "a_test.go", `"net/http"`, ""},
		{"cluster/drtmx", "a.go", `"drtmx/cluster"; "drtmx/dashboard/charts"`, ""},
		{"dashboard/charts", "a.go", `"drtmx/dashboard"`, "dashboard/charts imports dashboard"},
		{"notebooks/figures/chapter2", "a.go", `"drtmx/notebooks/figures/figure"`, ""},
		{"notebooks/figures/chapter2", "a.go", `"drtmx/notebooks/figures/chapter3"`, "chapter2 imports notebooks/figures/chapter3, which"},
		{"notebooks/figures/figure", "a.go", `"drtmx/notebooks/figures"`, "figure imports notebooks/figures, which"},
		{"tools/gen", "a.go", `"fmt"`, "tools/gen lives in no room"},
		{"engine", "a.go", `"drtmx/util"`, "drtmx/util lives in no room"},
	}
	for _, tt := range tests {
		f, err := parse(token.NewFileSet(), tt.pkg, tt.name, "package p\nimport ("+tt.imports+")\n")
		if err != nil {
			t.Fatal(err)
		}
		expect(t, tt.pkg+" importing "+tt.imports, importViolations(f), tt.want)
	}
}

// expect wants no violation, or exactly one that contains want.
func expect(t *testing.T, what string, found []string, want string) {
	t.Helper()
	switch {
	case want == "" && len(found) > 0:
		t.Errorf("%s: %q, want nothing", what, found)
	case want != "" && (len(found) != 1 || !strings.Contains(found[0], want)):
		t.Errorf("%s: %q, want one violation with %q", what, found, want)
	}
}

// forbidden are functions that make a run depend on something else than its spec
// and seed. A nil list forbids the package; "except" turns a list around.
var forbidden = map[string]struct {
	names  []string
	except bool
	why    string
}{
	"time": {names: []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker"},
		why: "a model has virtual time only"},
	"math/rand": {names: []string{"New", "NewSource", "NewZipf", "Rand", "Source", "Source64", "Zipf"}, except: true,
		why: "the global stream is shared and not seeded by the spec"},
	"math/rand/v2": {names: []string{"New", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "PCG", "ChaCha8", "Zipf"}, except: true,
		why: "the global stream is shared and not seeded by the spec"},
	"hash/maphash": {why: "its seed differs from process to process"},
	"crypto/rand":  {why: "it cannot be repeated"},
}

// wallClock marks a line of the engine (not of the floors below it) that reads
// the wall clock for something that no digest contains.
const wallClock = "wall-clock:"

// orderFree marks a walk over a map whose order does not reach a result.
const orderFree = "order-free:"

func TestModelRoomsAreClosed(t *testing.T) {
	var found []string
	for _, f := range tree(t) {
		if _, floor, ok := roomOf(f.pkg); ok && inModel(floor) && !f.isTest() {
			found = append(found, clockViolations(f)...)
		}
	}
	report(t, found)
}

// clockViolations works on syntax, so that files of other systems are covered.
func clockViolations(f *file) (found []string) {
	local := map[string]string{} // name in the file -> forbidden package
	for _, spec := range f.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		rule, bad := forbidden[p]
		if err != nil || !bad {
			continue
		}
		name := path.Base(p)
		if name == "v2" {
			name = "rand"
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if rule.names == nil || name == "." {
			found = append(found, fmt.Sprintf("%s: import of %s: %s", f.at(spec.Pos()), p, rule.why))
			continue
		}
		local[name] = p
	}
	excused := f.comments(wallClock)
	_, floor, _ := roomOf(f.pkg)
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		p := local[x.Name]
		rule := forbidden[p]
		if p == "" || slices.Contains(rule.names, sel.Sel.Name) == rule.except {
			return true
		}
		if p == "time" && floor == floors["engine"] && excused[f.fset.Position(n.Pos()).Line] {
			return true
		}
		found = append(found, fmt.Sprintf("%s: %s.%s: %s", f.at(n.Pos()), p, sel.Sel.Name, rule.why))
		return true
	})
	return found
}

// comments are the lines with a comment that begins with the mark and gives a
// reason.
func (f *file) comments(mark string) map[int]bool {
	lines := map[int]bool{}
	for _, g := range f.ast.Comments {
		for _, c := range g.List {
			text := strings.TrimSpace(strings.TrimPrefix(c.Text, "//"))
			if reason, ok := strings.CutPrefix(text, mark); ok && strings.TrimSpace(reason) != "" {
				lines[f.fset.Position(c.Pos()).Line] = true
			}
		}
	}
	return lines
}

func TestClockAndChanceAreCaught(t *testing.T) {
	tests := []struct {
		pkg, imports, body string
		want               string
	}{
		{"engine", `"time"`, "_ = time.Duration(3) * time.Second; _, _ = time.ParseDuration(``)", ""},
		{"engine/sim", `"time"`, "_ = time.Now()", "time.Now"},
		{"engine", `"time"`, "f := time.Since; _ = f", "time.Since"},
		{"engine", `clock "time"`, "<-clock.After(1)", "time.After"},
		{"engine", `. "time"`, "Sleep(1)", "import of time"},
		{"engine", `"time"`, "time.Sleep(1)", "time.Sleep"},
		{"engine", `"time"`, "for range time.Tick(1) {}", "time.Tick"},
		{"engine", `"time"`, "_ = time.Now() // wall-clock: speed of the run, in no digest", ""},
		{"engine", `"time"`, "_ = time.Now() // wall-clock:", "time.Now"},
		{"engine/r2", `"time"`, "_ = time.Now() // wall-clock: no excuse below the engine", "time.Now"},
		{"engine/kv", `"math/rand"`, "_ = rand.Intn(3)", "math/rand.Intn"},
		{"engine/kv", `"math/rand/v2"`, "_ = rand.Uint64()", "math/rand/v2.Uint64"},
		{"engine/kv", `dice "math/rand/v2"`, "dice.Shuffle(3, nil)", "math/rand/v2.Shuffle"},
		{"engine/kv", `"math/rand/v2"`, "_ = rand.New(rand.NewPCG(1, 2)).Uint64()", ""},
		{"engine/kv", `"hash/maphash"`, "var h maphash.Hash; _ = h", "import of hash/maphash"},
		{"engine/kv", `"crypto/rand"`, "rand.Read(nil)", "import of crypto/rand"},
	}
	for _, tt := range tests {
		f, err := parse(token.NewFileSet(), tt.pkg, "a.go", "package p\nimport "+tt.imports+"\nfunc _() {\n"+tt.body+"\n}\n")
		if err != nil {
			t.Fatal(err)
		}
		expect(t, tt.body, clockViolations(f), tt.want)
	}
}

// pkgInfo is what go list says of a package.
type pkgInfo struct {
	ImportPath string
	Dir        string
	Export     string
	GoFiles    []string
	Standard   bool
	Error      *struct{ Err string }
}

func goList(t *testing.T, args ...string) (list []pkgInfo) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Dir,Export,GoFiles,Standard,Error"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v\n%s", args, err, stderr.String())
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkgInfo
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatalf("go list %v: %v", args, err)
		}
		list = append(list, p)
	}
}

// checker type-checks the packages of the module from source and takes all
// others from the export data of the build cache.
type checker struct {
	fset    *token.FileSet
	checked map[string]*types.Package
	others  types.Importer
}

func newChecker(t *testing.T, others []string) *checker {
	t.Helper()
	export := map[string]string{}
	for _, p := range goList(t, append([]string{"-export", "-deps", "--"}, others...)...) {
		export[p.ImportPath] = p.Export
	}
	c := &checker{fset: token.NewFileSet(), checked: map[string]*types.Package{}}
	c.others = importer.ForCompiler(c.fset, "gc", func(p string) (io.ReadCloser, error) {
		if export[p] == "" {
			return nil, fmt.Errorf("%s does not compile", p)
		}
		return os.Open(export[p])
	})
	return c
}

func (c *checker) Import(p string) (*types.Package, error) {
	if pkg := c.checked[p]; pkg != nil {
		return pkg, nil
	}
	return c.others.Import(p)
}

// check gives the types of a package and the errors on the way to them.
func (c *checker) check(importPath string, files []*file) (*types.Info, []error) {
	var errs []error
	info := &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Uses:       map[*ast.Ident]types.Object{},
		Defs:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	conf := types.Config{Importer: c, Error: func(err error) { errs = append(errs, err) }}
	var trees []*ast.File
	for _, f := range files {
		trees = append(trees, f.ast)
	}
	c.checked[importPath], _ = conf.Check(importPath, c.fset, trees, info) // the errors are in errs
	return info, errs
}

// typedPackages are all packages of the module with their types, imported ones first. They are made once.
var typedPackages = func() func(t *testing.T) []typed {
	var once sync.Once
	var all []typed
	return func(t *testing.T) []typed {
		t.Helper()
		once.Do(func() { all = typeModule(t) })
		return all
	}
}()

func typeModule(t *testing.T) (all []typed) {
	t.Helper()
	packages := goList(t, "-deps", "./...")
	var others []string
	for _, p := range packages {
		if !strings.HasPrefix(p.ImportPath, module+"/") {
			others = append(others, p.ImportPath)
		}
	}
	c := newChecker(t, others)
	for _, p := range packages {
		pkg, inside := strings.CutPrefix(p.ImportPath, module+"/")
		if !inside {
			continue
		}
		if p.Error != nil {
			t.Errorf("%s: %s", pkg, p.Error.Err)
		}
		var files []*file
		for _, name := range p.GoFiles {
			f, err := parse(c.fset, pkg, filepath.Join(p.Dir, name), nil)
			if err != nil {
				t.Errorf("does not parse: %v", err)
				continue
			}
			files = append(files, f)
		}
		info, errs := c.check(p.ImportPath, files)
		for _, err := range errs[:min(len(errs), 3)] {
			t.Errorf("does not compile, so %s is not all checked: %v", pkg, err)
		}
		all = append(all, typed{pkg, files, info})
	}
	return all
}

// TestMapsAreWalkedInOrder: no walk over a map in a model room, unless its order
// cannot matter.
func TestMapsAreWalkedInOrder(t *testing.T) {
	var found []string
	for _, p := range typedPackages(t) {
		if _, floor, ok := roomOf(p.pkg); !ok || !inModel(floor) {
			continue
		}
		for _, f := range p.files {
			found = append(found, mapViolations(f, p.info)...)
		}
	}
	report(t, found)
}
