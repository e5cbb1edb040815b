package drtmx_test

import (
	"fmt"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A package outside tests has at most packageLines lines. One that is larger has more than one idea: cut it.
const packageLines = 4000

func TestPackagesAreSmall(t *testing.T) {
	lines := map[string]int{}
	for _, f := range tree(t) {
		if !f.isTest() {
			lines[f.pkg] += f.fset.File(f.ast.Pos()).LineCount()
		}
	}
	report(t, sizeViolations(lines))
}

func sizeViolations(lines map[string]int) (found []string) {
	for _, pkg := range slices.Sorted(maps.Keys(lines)) {
		if n := lines[pkg]; n > packageLines {
			found = append(found, fmt.Sprintf("%s has %d lines outside tests, at most %d are allowed: cut it along its ideas", pkg, n, packageLines))
		}
	}
	return found
}

func TestSizesCatchViolations(t *testing.T) {
	expect(t, "as many", sizeViolations(map[string]int{"p": packageLines}), "")
	expect(t, "one more", sizeViolations(map[string]int{"p": packageLines + 1}), "p has 4001 lines")
}

// Arrows between the packages of one room go one way. Packages below a folder either plug into the folder's own package,
// which they import, or are pieces that it is made of, which it imports. A room with both needs a row for the pieces.
func TestRoomsHaveOneDirection(t *testing.T) {
	report(t, directionViolations(tree(t)))
}

func directionViolations(files []*file) (found []string) {
	type arrow struct{ from, to string }
	at := map[arrow]string{}
	for _, f := range files {
		if f.isTest() {
			continue
		}
		for _, spec := range f.ast.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			to, below := strings.CutPrefix(imported, module+"/")
			if !below {
				continue
			}
			room, _, _ := roomOf(f.pkg)
			if other, _, ok := roomOf(to); ok && other == room {
				at[arrow{f.pkg, to}] = f.at(spec.Pos())
			}
		}
	}
	inward, outward := map[string]string{}, map[string]string{} // folder -> a package below it
	for a := range at {                                         // order-free: report sorts
		for dir := path.Dir(a.from); dir != "."; dir = path.Dir(dir) {
			if dir == a.to {
				inward[dir] = max(inward[dir], a.from)
			}
		}
		for dir := path.Dir(a.to); dir != "."; dir = path.Dir(dir) {
			if dir == a.from {
				outward[dir] = max(outward[dir], a.to)
			}
		}
	}
	for dir, piece := range outward { // order-free: report sorts
		if plug := inward[dir]; plug != "" {
			found = append(found, fmt.Sprintf("%s: %s imports %s, and %s imports %s: give %s a row below", at[arrow{dir, piece}], dir, piece, plug, dir, piece))
		}
	}
	return found
}

func TestDirectionsCatchViolations(t *testing.T) {
	for _, tt := range []struct {
		imports string // importer>imported pairs
		want    string
	}{
		{"engine/kv/a>engine/kv engine/kv/b>engine/kv", ""},
		{"engine/kv>engine/kv/a engine/kv>engine/kv/b", ""},
		{"engine/kv>engine/kv/a engine/kv/b>engine/kv", "engine/kv imports engine/kv/a, and engine/kv/b imports engine/kv"},
		{"engine/kv/b/c>engine/kv engine/kv>engine/kv/a", "give engine/kv/a a row below"},
		{"engine/kv>engine/record engine/txn>engine/kv", ""},
	} {
		var files []*file
		for _, pair := range strings.Fields(tt.imports) {
			from, to, _ := strings.Cut(pair, ">")
			f, err := parse(token.NewFileSet(), from, "a.go", fmt.Sprintf("package p\nimport _ %q\n", module+"/"+to))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		expect(t, tt.imports, directionViolations(files), tt.want)
	}
}
