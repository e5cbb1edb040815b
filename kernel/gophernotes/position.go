//go:build drtmxkernel

package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/cosmos72/gomacro/base"
	interp "github.com/cosmos72/gomacro/fast"
	"github.com/cosmos72/gomacro/gls"
	"github.com/cosmos72/gomacro/xreflect"
)

// cellFile is what the interpreter calls the source of a cell in positions: a function that fails may be
// of another cell than the one that called it.
func cellFile(number int) string { return fmt.Sprintf("cell [%d]", number) }

// placed makes an expression whose panic says where interpreted code had come to, which
// nothing tells any more once RunExpr has returned.
// An expression alone has no statements to be at: it is where it begins.
func (s *session) placed(e *interp.Expr, nodes []ast.Node) *interp.Expr {
	if e == nil || e.Const() {
		return e
	}
	run := e.AsXV(interp.COptKeepUntyped)
	p := *e
	p.Fun = func(env *interp.Env) (xreflect.Value, []xreflect.Value) {
		env.IP, env.DebugPos = 0, nil // those of the cell before
		if len(nodes) == 1 {
			env.DebugPos = []token.Pos{nodes[0].Pos()}
		}
		defer func() {
			if x := recover(); x != nil {
				panic(s.annotate(x, env.Run))
			}
		}()
		return run(env)
	}
	return &p
}

// annotate adds the place to what a panic says. What stops a cell is no error of its code.
func (s *session) annotate(x interface{}, run *interp.Run) interface{} {
	if x == base.SigInterrupt {
		return x
	}
	place := s.positionOf(run)
	if place == "" {
		return x
	}
	return fmt.Errorf("%s: %v", place, x)
}

// positionOf is the line that a goroutine's interpreted code has come to, "" if that is not known.
func (s *session) positionOf(run *interp.Run) string {
	if run == nil || run.CurrEnv == nil {
		return ""
	}
	env := run.CurrEnv
	if env.IP < 0 || env.IP >= len(env.DebugPos) || !env.DebugPos[env.IP].IsValid() {
		return ""
	}
	at := s.kernel.ir.Comp.Globals.Fileset.Position(env.DebugPos[env.IP])
	if !strings.HasPrefix(at.Filename, "cell [") {
		return ""
	}
	if at.Filename == cellFile(ExecCounter) {
		return fmt.Sprintf("line %d", at.Line)
	}
	return fmt.Sprintf("%s line %d", at.Filename, at.Line)
}

// Position implements charts.Positioner: where interpreted code of the calling goroutine has come to.
func (s *session) Position() (place string) {
	me := gls.GoID()
	var mine *interp.Run
	eachRun(s.stop.globals, func(goroutine uintptr, run *interp.Run) {
		if goroutine == me {
			mine = run
		}
	})
	return s.positionOf(mine)
}
