package main

import (
	"bytes"
	"go/version"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const bindFolder = "../bind"

// boundWith is the Go release whose standard library is bound.
func boundWith(t *testing.T) string {
	b, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "go "); ok {
			return version.Lang("go" + strings.TrimSpace(v))
		}
	}
	t.Fatal("go.mod has no go line")
	return ""
}

func TestBindingsAreUpToDate(t *testing.T) {
	paths, err := readList(filepath.Join(bindFolder, "packages.txt"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := generateAll(paths, "bind")
	if err != nil {
		t.Fatal(err)
	}
	sameGo := version.Lang(runtime.Version()) == boundWith(t)
	for name, want := range files {
		std := !strings.HasPrefix(name, "bind_drtmx") && !strings.HasPrefix(name, "bind_github")
		if std && !sameGo {
			continue // another Go has another standard library
		}
		got, err := os.ReadFile(filepath.Join(bindFolder, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("kernel/bind/%s is out of date (%v); run go generate ./kernel/...", name, err)
		}
	}
	committed, err := filepath.Glob(filepath.Join(bindFolder, "bind_*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range committed {
		if files[filepath.Base(f)] == nil {
			t.Errorf("%s belongs to no package of packages.txt; run go generate ./kernel/...", f)
		}
	}
}
