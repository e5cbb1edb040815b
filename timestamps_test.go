package drtmx_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"strings"
	"testing"
)

// measured marks a line that reads the simulator's time for a number that no timestamp and no decision of a
// protocol depends on.
const measured = "measured:"

// Timestamps come from the clocks of machines, which drift (engine/r2/clocks). A scheme, or a protocol that
// waits for timestamps, has no other time: it could order what no real machine can.
func TestTimestampsHaveNoPerfectTime(t *testing.T) {
	files := tree(t)
	dealing := drawsTimestamps(files)
	var found []string
	for _, f := range files {
		if dealing[f.pkg] && !f.isTest() {
			found = append(found, perfectTime(f)...)
		}
	}
	if report(t, found); !dealing["engine/protocol/occ"] || !dealing["dst/oracle"] || dealing["engine/kv"] {
		t.Errorf("rooms that deal with timestamps: %v", dealing)
	}
}

// drawsTimestamps are the packages that deal with timestamps: schemes, versions, and the hosts, which have a store of versions.
func drawsTimestamps(files []*file) map[string]bool {
	of := map[string]bool{}
	for _, f := range files {
		for _, room := range []string{"dst", "engine/timestamp", "engine/versions"} {
			if f.pkg == room || strings.HasPrefix(f.pkg, room+"/") {
				of[f.pkg] = true
			}
		}
		for _, x := range f.ast.Imports {
			if !f.isTest() && x.Path.Value == `"drtmx/engine/versions"` {
				of[f.pkg] = true
			}
		}
	}
	return of
}

// perfectTime are the places that read the simulator's time.
func perfectTime(f *file) (found []string) {
	excused := f.comments(measured)
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if ok && sel.Sel.Name == "Now" && !excused[f.fset.Position(n.Pos()).Line] {
			found = append(found, fmt.Sprintf("%s: Now is the simulator's time: read a clock of engine/r2/clocks, or say behind \"// %s\" what is measured", f.at(n.Pos()), measured))
		}
		return true
	})
	return found
}

func TestPerfectTimeIsCaught(t *testing.T) {
	for _, x := range []struct{ body, want string }{
		{"_ = c.Now()", "Now is the simulator's time"},
		{"_ = c.Cluster().Now()", "Now is the simulator's time"},
		{"f := c.Now; _ = f", "Now is the simulator's time"},
		{"_ = c.Now() // measured:", "Now is the simulator's time"},
		{"_ = c.Now() // measured: how long it waits", ""},
		{"_ = k.Read(c)", ""},
	} {
		f, err := parse(token.NewFileSet(), "dst", "a.go", "package p\nfunc _() {\n"+x.body+"\n}\n")
		if err != nil {
			t.Fatal(err)
		}
		expect(t, x.body, perfectTime(f), x.want)
	}
	var files []*file
	for _, x := range []struct{ pkg, name, imports string }{
		{"dst", "a.go", "engine/r2"}, {"dst/oracle", "a.go", "engine/r2"}, {"dstx", "a.go", "engine/r2"},
		{"engine/host", "lock.go", "engine/r2"}, {"engine/host", "snapshot.go", "engine/versions"}, {"engine/bed", "a_test.go", "engine/versions"},
	} {
		f, err := parse(token.NewFileSet(), x.pkg, x.name, fmt.Sprintf("package p\nimport _ %q\n", "drtmx/"+x.imports))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if got, want := drawsTimestamps(files), map[string]bool{"dst": true, "dst/oracle": true, "engine/host": true}; !maps.Equal(got, want) {
		t.Errorf("rooms that deal with timestamps: %v, want %v", got, want)
	}
}
