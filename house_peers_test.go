package drtmx_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"testing"
)

// handedOver marks a line that finds a session which its own machine does not look at until the reply.
const handedOver = "handed over:"

// A request names the coroutine that has sent it, for the owner of a lock to be named by it. A handler does not look for that
// coroutine's session, which is memory of another machine: what the simulator knows goes back beside the answer. But a session may be handed
// over with the request, until the reply: a comment says so.
func TestHandlersLookForNoSession(t *testing.T) {
	var found []string
	names := 0
	for _, p := range typedPackages(t) {
		if p.pkg != "engine/r2" {
			bad, n := peerViolations(p.files, p.info)
			found, names = append(found, bad...), names+n
		}
	}
	if report(t, found); names < 5 {
		t.Errorf("%d names of owners looked at", names)
	}
}

// peerViolations are the places that ask for a peer's coroutine for another use than the name of an owner, and how many there are for that.
func peerViolations(files []*file, info *types.Info) (found []string, names int) {
	for _, f := range files {
		owner, given := map[ast.Node]bool{}, f.comments(handedOver)
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "OwnerOf" {
					for _, arg := range n.Args {
						owner[arg] = true
					}
				}
			case *ast.SelectorExpr:
				s := info.Selections[n]
				switch {
				case s == nil || n.Sel.Name != "Coroutine" || types.TypeString(s.Recv(), nil) != module+"/engine/r2.Peer":
				case owner[n]:
					names++
				case given[f.fset.Position(n.Pos()).Line]:
				default:
					found = append(found, fmt.Sprintf("%s: looks for the coroutine that has asked, whose session is another machine's: give it a note (r2.Co.Annotate)", f.at(n.Pos())))
				}
			}
			return true
		})
	}
	return found, names
}

func TestLooksForSessionsAreCaught(t *testing.T) {
	c := newChecker(t, nil)
	const prelude = "package r2\ntype Peer struct{ Machine, Coroutine int }\ntype words struct{}\nfunc (words) OwnerOf(m, c int) int { return m }\nvar record words\nvar sessions [9]int\n"
	for body, want := range map[string]string{
		"_ = record.OwnerOf(from.Machine, from.Coroutine)": "",
		"_ = from.Machine":             "",
		"_ = sessions[from.Coroutine]": "looks for the coroutine",
		"i := from.Coroutine; _ = i":   "looks for the coroutine",
		"_ = sessions[from.Coroutine] // handed over: until the reply": "",
		"_ = sessions[from.Coroutine] // handed over:":                 "looks for the coroutine",
	} {
		f, err := parse(c.fset, "engine/kv", "a.go", prelude+"func _(from Peer) {\n"+body+"\n}\n")
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		info, errs := c.check(module+"/engine/r2", []*file{f})
		if len(errs) > 0 {
			t.Fatalf("%s: %v", body, errs)
		}
		found, _ := peerViolations([]*file{f}, info)
		expect(t, body, found, want)
	}
}
