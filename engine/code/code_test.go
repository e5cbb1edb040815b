package code

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"drtmx"
	"drtmx/engine/experiment"
)

// goPackage is a package as the go command tells of it.
type goPackage struct {
	ImportPath string
	Standard   bool
	Module     *struct {
		Path, Version string
		Main          bool
		Replace       *struct{ Path string }
	}
	GoFiles, IgnoredGoFiles, CgoFiles, CFiles, HFiles, SFiles, IgnoredOtherFiles, EmbedFiles []string
}

// imported are the packages that the engine imports, itself included, without those of Go's library.
func imported(t *testing.T) (list []goPackage) {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-json", "drtmx/engine").Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return list
		case err != nil:
			t.Fatal(err)
		}
		if !p.Standard {
			list = append(list, p)
		}
	}
}

// A package or module that a run goes through and the code version leaves out could change without
// cached runs and sessions noticing; one that it has for nothing makes them useless without need.
func TestVersionIsOfWhatRuns(t *testing.T) {
	s := source()
	all := s.closure(append(slices.Clone(s.parts), root)...)
	var dirs, used []string
	for _, p := range imported(t) {
		switch m := p.Module; {
		case m.Replace != nil:
			t.Errorf("%s is replaced by %s: what a run executes would not be what go.mod says", m.Path, m.Replace.Path)
			continue
		case !m.Main:
			used = append(used, m.Path)
			continue
		case p.ImportPath == "drtmx":
			continue // its one variable is the source itself
		}
		dir := strings.TrimPrefix(p.ImportPath, module)
		if dirs = append(dirs, dir); s.nodes[dir] == nil {
			t.Errorf("%s is not part of the source: give its room a pattern in source.go", dir)
			continue
		}
		for _, name := range slices.Concat(p.GoFiles, p.IgnoredGoFiles, p.CgoFiles, p.CFiles, p.HFiles, p.SFiles, p.IgnoredOtherFiles, p.EmbedFiles) {
			if path.Dir(name) == "specs" || strings.HasSuffix(name, "_test.go") || name == "proven.json" {
				continue // the values of a spec are in the address of its run, and what is proven is about the source
			}
			if dir == profiles && path.Ext(name) == ".yaml" {
				if text, err := s.profile(strings.TrimSuffix(path.Base(name), ".yaml")); text == "" || err != nil {
					t.Errorf("the profile %s is not part of the source: %v", name, err)
				}
			} else if !slices.Contains(s.nodes[dir].files, path.Join(dir, name)) {
				t.Errorf("%s is not part of the source: give it a pattern in source.go", path.Join(dir, name))
			}
		}
	}
	if slices.Sort(dirs); !slices.Equal(all, dirs) {
		t.Errorf("a run goes through %v, the code version through %v", dirs, all)
	}
	slices.Sort(used)
	if used = slices.Compact(used); !slices.Equal(used, executed) {
		t.Errorf("the engine goes through the modules %v, the code version through %v", used, executed)
	}
}

// Each part stands in a package that the list of parts imports, and each of these packages has a part.
func TestPartsAreOnTheList(t *testing.T) {
	of := map[string]bool{}
	for i := range experiment.Protocols {
		of[packageOf(experiment.Protocols[i].Config)] = true
	}
	for i := range experiment.Schemes {
		of[packageOf(experiment.Schemes[i].Open)] = true
	}
	for _, k := range experiment.Stores {
		of[typePackage(k)] = true
	}
	for _, k := range experiment.Logs {
		if !k.Single { // none stands beside the contract
			of[packageOf(k.Open)] = true
		}
	}
	for i := range experiment.Ordered {
		if k := &experiment.Ordered[i]; k.Open != nil {
			of[packageOf(k.Open)] = true
		} else {
			of[packageOf(k.Indexes)] = true
		}
	}
	for i := range experiment.Workloads {
		of[packageOf(experiment.Workloads[i].Build)] = true
	}
	contracts := []string{"engine/replication", "engine/store", "engine/timestamp", "engine/txn", "engine/workload"} // what the lists are lists of
	want := slices.DeleteFunc(slices.Clone(source().parts), func(p string) bool { return slices.Contains(contracts, p) })
	if got := slices.Sorted(maps.Keys(of)); !slices.Equal(got, want) {
		t.Errorf("parts stand in %v, the list imports %v", got, want)
	}
}

// tree is the source, to be changed.
func tree(t *testing.T) fstest.MapFS {
	t.Helper()
	tree := fstest.MapFS{}
	err := fs.WalkDir(drtmx.Source, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(drtmx.Source, name)
		tree[name] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// systems are the runs whose versions the test of changes compares.
var systems = map[string]experiment.Knobs{
	"occ":         {},
	"fasst":       {"preset": "fasst"},
	"registers":   {"workload": "registers"},
	"nowait":      {"cc": "nowait"},
	"2pl":         {"cc": "2pl"},
	"rococo":      {"cc": "rococo", "workload": "registers"},
	"dst":         {"ts.scheme": "dst"},
	"2pl-dst":     {"cc": "2pl", "ts.scheme": "dst"},
	"gts":         {"ts.scheme": "gts", "oracle": true},
	"tpcc":        {"workload": "tpcc"},
	"tpcc-xstore": {"workload": "tpcc", "store.ordered": "xstore"},
	"xstore":      {"workload": "ycsb-c"},
	"masstree":    {"workload": "ycsb-c", "store.ordered": "masstree"},
	"micro":       {"workload": "micro-read"},
	"aws":         {"profile": "aws", "preset": "fasst"},
}

// A change makes stale what can execute it and nothing else.
func TestTheRightRunsGoStale(t *testing.T) {
	values := map[string]experiment.Knobs{}
	for name, set := range systems {
		v, err := experiment.Resolve(experiment.Spec{Set: set})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		values[name] = v
	}
	tree := tree(t)
	versions := func() map[string]string {
		s, err := open(tree)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{"build": s.build()}
		for name, v := range values {
			if out[name], err = s.of(v); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	was := versions()
	if was["build"] != Build() || was["occ"] != Of(values["occ"]) {
		t.Errorf("%s and %s of the same text, %s and %s", was["build"], was["occ"], Build(), Of(values["occ"]))
	}
	all, none := strings.Join(slices.Sorted(maps.Keys(systems)), " "), "-"
	for _, c := range []struct{ file, old, with, stale string }{
		{file: "engine/driver.go", stale: all},
		{file: "engine/added.go", with: "package engine\n", stale: all},
		{file: "engine/txn/tx.go", stale: all},
		{file: "engine/timestamp/stamp.go", stale: all},
		{file: "engine/protocol/nowait/doc.go", stale: "nowait"},
		{file: "engine/replication/redo/doc.go", stale: "2pl 2pl-dst aws dst fasst gts nowait occ registers tpcc tpcc-xstore"},
		{file: "engine/protocol/occ/doc.go", stale: "aws dst fasst gts occ registers tpcc tpcc-xstore"},
		{file: "engine/protocol/twopl/doc.go", stale: "2pl 2pl-dst"},
		{file: "engine/protocol/rococo/doc.go", stale: "rococo"},
		{file: "dst/hybrid.go", stale: "2pl-dst dst"},
		{file: "dst/oracle/vts.go", stale: "gts"},
		{file: "xstore/tree/doc.go", stale: "tpcc-xstore xstore"},
		{file: "xstore/rivals/masstree/doc.go", stale: "masstree"},
		{file: "engine/kv/ordered/service.go", stale: "tpcc"},
		{file: "engine/workload/smallbank/kind.go", stale: "2pl 2pl-dst aws dst fasst gts nowait occ"},
		{file: "engine/workload/tpcc/kind.go", stale: "tpcc tpcc-xstore"},
		{file: "engine/workload/registers/kind.go", stale: "registers rococo"},
		{file: "engine/workload/micro/micro.go", stale: "micro"},
		{file: "xstore/model/compare/doc.go", stale: none},
		{file: "engine/batch/sweep.go", stale: none},
		{file: "engine/code_test.go", stale: none},
		{file: "engine/workload/workloadtest/bed.go", stale: none},
		{file: "engine/fabric/profile/aws.yaml", with: "# changed\n", stale: "aws"},
		{file: "go.sum", old: "gopkg.in/yaml.v3 v3.0.1 h1:", with: "gopkg.in/yaml.v3 v3.0.1 h1:x", stale: all},
		{file: "go.mod", old: "golang.org/x/sys v0.", with: "golang.org/x/sys v1.", stale: all},
		{file: "go.mod", old: "go 1.", with: "go 2.", stale: all},
		{file: "go.mod", old: "github.com/spf13/cobra v1.", with: "github.com/spf13/cobra v2.", stale: none},
	} {
		before, there := tree[c.file]
		if !there {
			if before = (&fstest.MapFile{}); c.stale != none && c.file != "engine/added.go" {
				t.Errorf("there is no %s", c.file)
			}
		}
		with := cmp.Or(c.with, "\n// changed\n")
		text := string(before.Data) + with
		if c.old != "" {
			if text = strings.Replace(string(before.Data), c.old, with, 1); text == string(before.Data) {
				t.Errorf("%s has no %q", c.file, c.old)
			}
		}
		tree[c.file] = &fstest.MapFile{Data: []byte(text)}
		now, stale := versions(), []string{}
		for _, name := range slices.Sorted(maps.Keys(systems)) {
			if now[name] != was[name] {
				stale = append(stale, name)
			}
		}
		if got := cmp.Or(strings.Join(stale, " "), none); got != c.stale {
			t.Errorf("%s changes: stale are %s, want %s", c.file, got, c.stale)
		}
		if (now["build"] != was["build"]) != (c.stale != none) {
			t.Errorf("%s changes: the build's version changes: %v", c.file, now["build"] != was["build"])
		}
		if delete(tree, c.file); there {
			tree[c.file] = before
		}
	}
}

// A part whose source is not here has the version of the program.
func TestVersionOfAPluggedPart(t *testing.T) {
	a, err := source().version([]string{"example.org/mine"}, []string{"val"})
	b, err2 := source().version(nil, []string{"val"})
	if err != nil || err2 != nil || a == b {
		t.Errorf("%s with a part from elsewhere, %s without: %v %v", a, b, err, err2)
	}
}

// What is computed without a run has the version of its package and of what that imports.
func TestVersionOfAPackage(t *testing.T) {
	const compare = "xstore/model/compare"
	a := OfPackage(compare)
	if a == OfPackage("engine/batch") || a == Build() || !strings.HasPrefix(a, "src-") || a != OfPackage(compare) {
		t.Errorf("%s, of runs %s", a, Build())
	}
	if c := source().closure(compare); !slices.Contains(c, "xstore/model") || slices.Contains(c, "engine/protocol/occ") {
		t.Errorf("it imports %v", c)
	}
}

func TestJoin(t *testing.T) {
	if Join() != "" || Join("a", "a") != "a" || Join("a", "b") != Join("b", "a", "b") || Join("a", "b") == Join("a", "c") {
		t.Error(Join("a", "a"), Join("a", "b"), Join("b", "a", "b"), Join("a", "c"))
	}
}

// A base under which all golden systems behave as before continues what was proven; any other one begins anew.
func TestProven(t *testing.T) {
	p := &Proven{Base: "b", Since: "a", Behaviour: map[string]string{"x": "1", "y": "2"}}
	if n := (&Proven{}).next("c", nil); n.Since != "c" {
		t.Errorf("the first base is as %q", n.Since)
	}
	if p.since("b") != "a" || p.since("c") != "c" {
		t.Errorf("b is as %s, c as %s", p.since("b"), p.since("c"))
	}
	for _, c := range []struct {
		behaviour map[string]string
		since     string
	}{
		{map[string]string{"x": "1", "y": "2"}, "a"},
		{map[string]string{"x": "1", "y": "2", "z": "3"}, "a"},
		{map[string]string{"x": "1", "y": "3"}, "c"},
		{map[string]string{"x": "1"}, "c"},
	} {
		if n := p.next("c", c.behaviour); n.Since != c.since || n.Base != "c" || !maps.Equal(n.Behaviour, c.behaviour) {
			t.Errorf("%v: %+v, want since %s", c.behaviour, n, c.since)
		}
	}
	if p.check("b", p.Behaviour) != nil || p.check("b", map[string]string{"x": "1"}) == nil || p.check("c", nil) != nil {
		t.Error("check")
	}
}
