package main

import (
	"path/filepath"
	"testing"
)

const bindFolder = "../bind"

// Every package of the list can be bound.
func TestPackagesCanBeBound(t *testing.T) {
	paths, err := readList(filepath.Join(bindFolder, "packages.txt"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := generateAll(paths, "bind")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(paths) || len(paths) == 0 {
		t.Errorf("%d files of %d packages", len(files), len(paths))
	}
}
