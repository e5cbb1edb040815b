//go:build drtmxkernel

package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	basereflect "github.com/cosmos72/gomacro/base/reflect"
	interp "github.com/cosmos72/gomacro/fast"
	"github.com/cosmos72/gomacro/imports"
	"github.com/cosmos72/gomacro/xreflect"

	"drtmx/dashboard/charts"
	"drtmx/engine/knob"
)

// execute runs a cell.
func (s *session) execute(m msgReceipt) {
	code, _ := m.content()["code"].(string)
	silent, _ := m.content()["silent"].(bool)
	if !silent {
		ExecCounter++
		if err := m.PublishExecutionInput(ExecCounter, code); err != nil {
			klog.Print(err)
		}
	}
	s.mu.Lock()
	s.parent = m
	s.mu.Unlock()

	place := s.kernel.ir.ValueOf("Display")
	place.Set(xreflect.ValueOf(m.PublishDisplayData))
	charts.BeginCell(code)
	s.stop.begin()
	c := cell{s: s, code: code}
	err := recovered(func() error {
		return c.run(OutErr{&JupyterStreamWriter{StreamStdout, &m}, &JupyterStreamWriter{StreamStderr, &m}})
	})
	if err == nil && !silent {
		// Values draw themselves, which fails for one that is nil or whose cluster is
		// closed, and takes long for one behind a slow address.
		err = recovered(func() error { return c.show(&m) })
	}
	interrupted := s.stop.end()
	charts.EndCell()
	s.flush()

	if err != nil {
		if on, ok := m.content()["stop_on_error"].(bool); on || !ok {
			s.given = len(s.waiting) // before a reader can know of the error: what comes after it is meant
		}
		s.replyError(&m, err, interrupted)
		return
	}
	m.answer("execute_reply", map[string]any{
		"status": "ok", "execution_count": ExecCounter, "user_expressions": map[string]any{},
	})
}

// replyError fails the cell: the first line of the error says it, the rest, if
// there is one (a stack, say), is shown on request.
func (s *session) replyError(m *msgReceipt, err error, interrupted bool) {
	name, text := "error", explain(err.Error(), s.names())
	if interrupted {
		name, text = "interrupted", "interrupted"
	}
	first, rest, _ := strings.Cut(text, "\n")
	trace := []string{"\x1b[31m" + first + "\x1b[0m"}
	if rest = strings.TrimSpace(rest); rest != "" {
		trace = append(trace, rest)
	}
	if err := m.Publish("error", map[string]any{"ename": name, "evalue": first, "traceback": trace}); err != nil {
		klog.Print(err)
	}
	m.answer("execute_reply", map[string]any{
		"status": "error", "execution_count": ExecCounter, "ename": name, "evalue": first, "traceback": trace,
	})
}

// cell is one run of a cell's code.
type cell struct {
	s      *session
	code   string
	call   *ast.CallExpr // the last expression, if it is a call
	values []interface{}
	types  []xreflect.Type
}

// recovered calls f. Whatever it panics with is its error.
func recovered(f func() error) (err error) {
	defer func() {
		if x := recover(); x != nil {
			var ok bool
			if err, ok = x.(error); !ok {
				err = errors.New(fmt.Sprint(x))
			}
		}
	}()
	return f()
}

// run evaluates the code.
func (c *cell) run(outerr OutErr) error {
	ir := c.s.kernel.ir
	code, err := special(ir, outerr, c.code)
	if err != nil {
		return err
	}
	ir.Comp.Line = 0 // lines in messages are lines of the cell
	ir.Comp.Filepath = cellFile(ExecCounter)
	nodes := ir.Comp.ParseBytes([]byte(code))
	if len(nodes) == 0 { // nothing, a comment, or a special command alone
		return nil
	}
	if err := unlinked(nodes); err != nil {
		return errors.Join(err, c.importLinked(nodes))
	}
	compiled, err := compile(ir, nodes)
	if err != nil {
		return err
	}
	if c.s.stop.interrupted() { // which the compiler does not notice
		return errors.New("interrupted")
	}
	results, types := ir.RunExpr(c.s.placed(compiled, nodes))
	last, ok := nodes[len(nodes)-1].(ast.Expr)
	if !ok {
		return nil
	}
	c.call, _ = last.(*ast.CallExpr)
	c.types = types
	for _, r := range results {
		c.values = append(c.values, basereflect.ValueInterface(r))
	}
	return c.failure()
}

// importLinked runs the imports of a cell, of which some are not linked, so that one unknown does not take the others along.
func (c *cell) importLinked(nodes []ast.Node) error {
	var rest []ast.Node
	for _, n := range nodes {
		if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.IMPORT && len(d.Specs) > 0 {
			rest = append(rest, n)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	compiled, err := compile(c.s.kernel.ir, rest)
	if err == nil {
		c.s.kernel.ir.RunExpr(compiled)
	}
	return err
}

// special runs the lines at the begin of a cell that are not Go, gophernotes' own with % and commands
// with $, and returns the others in their places.
func special(ir *interp.Interp, outerr OutErr, code string) (string, error) {
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		switch line = strings.TrimSpace(line); {
		case line == "%help":
			fmt.Fprint(outerr.out, help(ir))
		case strings.HasPrefix(line, "%"):
			evalSpecialCommand(ir, outerr, line)
		case strings.HasPrefix(line, "$"):
			if err := command(strings.Fields(line[1:])); err != nil {
				return "", err
			}
		case line != "":
			return strings.Join(lines, "\n"), nil
		}
		lines[i] = ""
	}
	return "", nil
}

// command runs a program until it ends or the cell is interrupted. It writes where the notebook does:
// through pipes of its own, as gophernotes has it, what came last was lost.
func command(args []string) error {
	if len(args) == 0 {
		return nil
	}
	c := exec.CommandContext(charts.Context(), args[0], args[1:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	err := c.Run()
	var end *exec.ExitError
	if errors.As(err, &end) {
		// Jupyter interrupts the command as well, which may end before the kernel has heard of it.
		if by, ok := end.Sys().(syscall.WaitStatus); ok && by.Signaled() && by.Signal() == syscall.SIGINT {
			return errors.New("interrupted")
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}

// failure is the error that the last call returned. A cell that ends in a call
// that did not work has not worked; the value of a variable that holds an error
// is shown like any other.
func (c *cell) failure() error {
	if c.call == nil || len(c.values) == 0 || c.onlyPrints() {
		return nil
	}
	n := len(c.values) - 1
	if err, ok := c.values[n].(error); ok && c.types[n].Name() == "error" {
		return err
	}
	return nil
}

// show publishes the value of the last expression.
func (c *cell) show(m *msgReceipt) error {
	if n := len(c.values) - 1; n > 0 && c.values[n] == nil && c.types[n].Name() == "error" {
		c.values, c.types = c.values[:n], c.types[:n] // it worked: the error is not worth showing
	}
	some := false
	for _, v := range c.values {
		some = some || v != nil
	}
	if !some || c.onlyPrints() {
		return nil
	}
	data, ok := readable(c.values)
	if !ok {
		data = c.s.kernel.autoRenderResults(c.values, c.types)
	}
	if len(data.Data) == 0 {
		return nil
	}
	// gophernotes forgets the text of values with other forms, and puts no
	// space between strings.
	if _, ok := data.Data[MIMETypeText]; !ok || len(data.Data) == 1 && len(c.values) > 1 {
		data.Data[MIMETypeText] = strings.TrimSuffix(fmt.Sprintln(c.values...), "\n")
	}
	charts.BringLibrary(data.Data)
	c.s.flush()
	return m.PublishExecutionResult(ExecCounter, data)
}

// onlyPrints reports whether the last expression is a call like fmt.Println,
// whose value is not shown.
func (c *cell) onlyPrints() bool {
	if c.call == nil {
		return false
	}
	f, ok := c.call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	p, ok := f.X.(*ast.Ident)
	return ok && p.Name == "fmt" && (strings.HasPrefix(f.Sel.Name, "Print") || strings.HasPrefix(f.Sel.Name, "Fprint"))
}

// unlinked takes imports of packages that the kernel does not have out of their declarations, and reports them: gomacro
// would silently drop all other imports of the same declaration.
func unlinked(nodes []ast.Node) error {
	var missing []string
	for _, n := range nodes {
		d, ok := n.(*ast.GenDecl)
		if !ok || d.Tok != token.IMPORT {
			continue
		}
		linked := d.Specs[:0]
		for _, spec := range d.Specs {
			path, err := strconv.Unquote(spec.(*ast.ImportSpec).Path.Value)
			if err != nil {
				return err
			}
			if _, ok := imports.Packages[path]; ok {
				linked = append(linked, spec)
			} else {
				missing = append(missing, path)
			}
		}
		d.Specs = linked
	}
	if len(missing) == 0 {
		return nil
	}
	quoted := make([]string, len(missing))
	for i, path := range missing {
		quoted[i] = strconv.Quote(path)
	}
	instead := knob.DidYouMean(missing[0], ownPackages())
	if slices.ContainsFunc(missing, func(path string) bool { return slices.Contains(generic, path) }) {
		instead = "; it has no generics: use package sort, append, copy and loops"
	}
	return fmt.Errorf("import %s: not among the packages of this kernel%s\nThe other imports of the cell hold. There are, besides most of the standard library:\n%s",
		strings.Join(quoted, ", "), instead, strings.Join(ownPackages(), "\n"))
}

// generic are the packages of the standard library that are nothing without generics.
var generic = []string{"cmp", "iter", "maps", "slices", "unique", "weak"}

// ownPackages are the packages of this module that cells can import, in order.
func ownPackages() (paths []string) {
	for path := range imports.Packages {
		if strings.HasPrefix(path, "drtmx/") {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}
