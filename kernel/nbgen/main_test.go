package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const bindFolder = "../bind"

// Every package of the list can be bound.
func TestPackagesCanBeBound(t *testing.T) {
	paths, err := readList(filepath.Join(bindFolder, "packages.txt"))
	if err != nil {
		t.Fatal(err)
	}
	asked, err := readOptional(filepath.Join(bindFolder, "optional.txt"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := generateAll(paths, "bind", asked)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(paths) || len(paths) == 0 {
		t.Errorf("%d files of %d packages", len(files), len(paths))
	}
}

// What the example protocols import can be imported in a cell: a protocol of one's own is written there.
func TestProtocolsCanBeWritten(t *testing.T) {
	paths, err := readList(filepath.Join(bindFolder, "packages.txt"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, "drtmx/engine/example/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	imported := 0
	for path := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(path, "drtmx/") {
			if imported++; !slices.Contains(paths, path) {
				t.Errorf("the examples import %s, which kernel/bind/packages.txt lacks", path)
			}
		}
	}
	if imported == 0 {
		t.Error("the examples import nothing of this module")
	}
}
