package drtmx_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
)

// measured marks a line that reads the simulator's time for a number that no timestamp and no decision of a
// protocol depends on.
const measured = "measured:"

// Timestamps come from the clocks of machines, which drift (engine/r2/clocks). A scheme, or a protocol that
// waits for timestamps, has no other time: it could order what no real machine can.
func TestTimestampsHaveNoPerfectTime(t *testing.T) {
	var found []string
	for _, f := range tree(t) {
		if drawsTimestamps(f) {
			found = append(found, perfectTime(f)...)
		}
	}
	report(t, found)
}

// drawsTimestamps says that a file is one of those that deal with timestamps.
func drawsTimestamps(f *file) bool {
	if f.isTest() {
		return false
	}
	for _, room := range []string{"dst", "engine/mvcc", "engine/twopl", "engine/rococo"} {
		if f.pkg == room || strings.HasPrefix(f.pkg, room+"/") {
			return true
		}
	}
	return f.pkg == "engine/occ" && strings.HasPrefix(path.Base(f.name), "versioned")
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
	for name, want := range map[[2]string]bool{
		{"dst", "a.go"}: true, {"dst/oracle", "a.go"}: true, {"engine/mvcc", "a.go"}: true, {"engine/mvcc", "a_test.go"}: false,
		{"engine/occ", "versioned_serve.go"}: true, {"engine/occ", "lock.go"}: false, {"engine/kv", "a.go"}: false, {"dstx", "a.go"}: false,
	} {
		if got := drawsTimestamps(&file{pkg: name[0], name: name[1]}); got != want {
			t.Errorf("%v: %v", name, got)
		}
	}
}
