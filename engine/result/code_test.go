package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"drtmx"
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
func TestCodeVersionIsWhatRuns(t *testing.T) {
	files, err := codeFiles(drtmx.Source)
	if err != nil {
		t.Fatal(err)
	}
	var dirs, modules []string
	for _, p := range imported(t) {
		switch m := p.Module; {
		case m.Replace != nil:
			t.Errorf("%s is replaced by %s: what a run executes would not be what go.mod says", m.Path, m.Replace.Path)
			continue
		case !m.Main:
			modules = append(modules, m.Path)
			continue
		}
		dir := strings.TrimPrefix(p.ImportPath, "drtmx/")
		if p.ImportPath == "drtmx" {
			continue // its one variable is the list itself
		}
		dirs = append(dirs, dir)
		for _, name := range slices.Concat(p.GoFiles, p.IgnoredGoFiles, p.CgoFiles, p.CFiles, p.HFiles, p.SFiles, p.IgnoredOtherFiles, p.EmbedFiles) {
			if path.Dir(name) == "specs" || strings.HasSuffix(name, "_test.go") {
				continue // the values of a spec are in the address of its run
			}
			if !slices.Contains(files, path.Join(dir, name)) {
				t.Errorf("%s is not part of the code version: give its room a pattern in source.go", path.Join(dir, name))
			}
		}
	}
	for _, name := range files {
		if dir := path.Dir(name); !slices.Contains(dirs, dir) {
			t.Errorf("%s is part of the code version, and no run goes through it: add %s to neverRun", name, dir)
		}
	}
	slices.Sort(modules)
	if modules = slices.Compact(modules); !slices.Equal(modules, executed) {
		t.Errorf("the engine goes through the modules %v, the code version through %v", modules, executed)
	}
}

// What a run executes changes the version, and nothing else does.
func TestCodeVersionFollowsTheCode(t *testing.T) {
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
	of := func() string {
		v, err := codeOf(tree)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	was := of()
	if was != CodeVersion() {
		t.Errorf("%s of the same text, %s", was, CodeVersion())
	}
	for _, c := range []struct {
		file, old, with string
		same            bool
	}{
		{file: "rdpma/pool.go", with: "// changed\n"},
		{file: "rdpma/octopus/octopus.go", with: "// changed\n"},
		{file: "engine/kv/btree/tree.go", with: "// changed\n"},
		{file: "engine/fabric/profile/val.yaml", with: "# changed\n"},
		{file: "engine/added.go", with: "package engine\n"},
		{file: "go.sum", old: "gopkg.in/yaml.v3 v3.0.1 h1:", with: "gopkg.in/yaml.v3 v3.0.1 h1:x"},
		{file: "go.mod", old: "golang.org/x/sys v0.", with: "golang.org/x/sys v1."},
		{file: "go.mod", old: "go 1.", with: "go 2."},
		{file: "go.mod", old: "github.com/spf13/cobra v1.", with: "github.com/spf13/cobra v2.", same: true},
		{file: "engine/code_test.go", with: "// changed\n", same: true},
		{file: "engine/workload/workloadtest/bed.go", with: "// changed\n", same: true},
	} {
		before, there := tree[c.file]
		if !there {
			before = &fstest.MapFile{}
			if c.file != "engine/added.go" && !c.same {
				t.Errorf("there is no %s", c.file)
			}
		}
		text := string(before.Data) + c.with
		if c.old != "" {
			text = strings.Replace(string(before.Data), c.old, c.with, 1)
		}
		tree[c.file] = &fstest.MapFile{Data: []byte(text)}
		if now := of(); text == string(before.Data) || (now == was) != c.same {
			t.Errorf("%s with %q: %s, before %s", c.file, c.with, now, was)
		}
		if delete(tree, c.file); there {
			tree[c.file] = before
		}
	}
}

// What is computed without a run has a version of its own, that of its package and of all that runs.
func TestCodeWithAPackage(t *testing.T) {
	a, b := CodeWith("xstore/model/compare"), CodeWith("engine/batch")
	if a == b || a == CodeVersion() || !strings.HasPrefix(a, "src-") || a != CodeWith("xstore/model/compare") {
		t.Errorf("%s and %s, of runs %s", a, b, CodeVersion())
	}
}
