//go:build drtmxkernel

package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"reflect"
	"runtime"
	"time"

	"github.com/cosmos72/gomacro/ast2"
	"github.com/cosmos72/gomacro/base"
	interp "github.com/cosmos72/gomacro/fast"
	"github.com/cosmos72/gomacro/go/etoken"
	"github.com/cosmos72/gomacro/imports"
)

// guard is the interpreter's name of the function whose result is called by every
// goroutine of the notebook, guardValue that of the part of it that is compiled.
const (
	guard      = "drtmx__guard"
	guardValue = "drtmx__guardValue"
)

// declareGuard gives the interpreter guard, which makes of a function one of the same
// type that survives a panic. It is generic, so that calls of it are checked and their
// arguments converted as those of the function itself.
func (s *session) declareGuard() {
	ir := s.kernel.ir
	ir.DeclFunc(guardValue, s.guarded)
	withGenerics(func() {
		ir.Eval("template[T] func " + guard + "(f T) T { return " + guardValue + "(f).(T) }")
	})
}

// compile compiles a cell.
func compile(ir *interp.Interp, nodes []ast.Node) (e *interp.Expr, err error) {
	if err := guardGoroutines(nodes); err != nil {
		return nil, err
	}
	withGenerics(func() { ir.Tentatively(func() { e = ir.CompileAst(ast2.AnyToAst(nodes, "cell")) }) })
	return e, nil
}

// withGenerics lets gomacro see its own kind of generics while f runs. Cells are parsed
// without: there, template is a name like any other.
func withGenerics(f func()) {
	etoken.GENERICS = etoken.GENERICS_V1_CXX
	defer func() { etoken.GENERICS = etoken.GENERICS_NONE }()
	f()
}

// guarded is f, except that a panic in it is reported, with its line, and goes no further.
func (s *session) guarded(f interface{}) interface{} {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func {
		return f
	}
	return reflect.MakeFunc(v.Type(), func(args []reflect.Value) (results []reflect.Value) {
		for i := range v.Type().NumOut() {
			results = append(results, reflect.Zero(v.Type().Out(i)))
		}
		defer func() {
			if x := recover(); x != nil && x != base.SigInterrupt { // which ends it as it ends its cell
				if place := s.Position(); place != "" {
					x = fmt.Sprintf("%s: %v", place, x)
				}
				fmt.Fprintf(os.Stderr, "a goroutine of this notebook stopped: %v\n", x)
			}
		}()
		if v.Type().IsVariadic() {
			return v.CallSlice(args)
		}
		return v.Call(args)
	}).Interface()
}

// guardGoroutines lets "go f(x)" survive a panic in f, which would end the kernel and
// with it all that the notebook has: the panic of an interrupt, too, for that is sent
// to every goroutine.
func guardGoroutines(nodes []ast.Node) error {
	spread := false
	guardCalls := func(n ast.Node) bool {
		if g, ok := n.(*ast.GoStmt); ok && !isBuiltin(g.Call.Fun) {
			spread = spread || g.Call.Ellipsis.IsValid()
			g.Call.Fun = &ast.CallExpr{Fun: &ast.Ident{Name: guard, NamePos: g.Call.Pos()}, Args: []ast.Expr{g.Call.Fun}}
		}
		return true
	}
	for _, n := range nodes {
		// An AST that ast.Inspect does not know runs unguarded.
		_ = recovered(func() error { ast.Inspect(n, guardCalls); return nil })
	}
	if spread { // gomacro passes the list as one argument, which panics where nothing guards it
		return errors.New("go f(list...): the interpreter cannot do this; write go func() { f(list...) }()")
	}
	return nil
}

// isBuiltin is true for what can be called but is no value, such as close.
func isBuiltin(f ast.Expr) bool {
	name, ok := f.(*ast.Ident)
	if !ok {
		return false
	}
	_, ok = types.Universe.Lookup(name.Name).(*types.Builtin)
	return ok
}

// keepKernel makes of calls that would end the kernel, or the goroutine that runs its
// cells, errors of the cell: what the notebook has is not lost for one of them. Functions
// that Go calls later, on a goroutine of its own, are guarded as those of go are.
func (s *session) keepKernel() {
	for _, call := range []struct {
		pkg, name string
		f         interface{}
	}{
		{"time", "AfterFunc", func(d time.Duration, f func()) *time.Timer { return time.AfterFunc(d, s.guarded(f).(func())) }},
		{"time", "Sleep", s.sleep},
		{"context", "AfterFunc", func(ctx context.Context, f func()) (stop func() bool) {
			return context.AfterFunc(ctx, s.guarded(f).(func()))
		}},
		{"runtime", "SetFinalizer", func(obj, f interface{}) { runtime.SetFinalizer(obj, s.guarded(f)) }},
		{"os", "Exit", func(code int) {
			panic(fmt.Errorf("os.Exit(%d) would end the kernel; restart it from the notebook's menu", code))
		}},
		{"runtime", "Goexit", func() { panic(errors.New("runtime.Goexit would end the kernel; restart it from the notebook's menu")) }},
		{"log", "Fatal", func(v ...interface{}) { panic(errors.New(fmt.Sprint(v...))) }},
		{"log", "Fatalf", func(format string, v ...interface{}) { panic(fmt.Errorf(format, v...)) }},
		{"log", "Fatalln", func(v ...interface{}) { panic(errors.New(fmt.Sprint(v...))) }},
	} {
		imports.Packages[call.pkg].Binds[call.name] = reflect.ValueOf(call.f)
	}
}

// sleep is time.Sleep that an interrupt of the cell ends, and with it the cell.
func (s *session) sleep(d time.Duration) {
	end := time.NewTimer(d)
	defer end.Stop()
	select {
	case <-end.C:
	case <-s.stop.interrupts():
		panic(base.SigInterrupt)
	}
}
