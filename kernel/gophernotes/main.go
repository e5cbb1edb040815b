//go:build drtmxkernel

// The notebook kernel: gophernotes with this module's packages compiled in.
//
// The files here take the place of gophernotes' main.go; its other files are
// put beside them by go build -overlay, straight from the module cache (see
// kernel/mkkernel). So Kernel, msgReceipt, SocketGroup and their methods, which
// are used here and defined nowhere in this folder, are gophernotes'.
//
// What differs from stock gophernotes, which Go 1.26 breaks: it starts; own
// packages are importable and no import runs the go command; an interrupt stops
// the cell and not the kernel, also inside a simulator's coroutine; the control
// channel is served while a cell runs; output of goroutines that outlive their
// cell is shown; a call that returns an error fails its cell, and cells that wait
// behind one that failed, as with "Run All", do not run; charts are shown as charts.
//
// Caveats, the likeliest first: the interpreter knows no generics and no range
// over functions; a panic in a goroutine started with a named function ends the kernel, as do os.Exit and
// endless recursion; an interrupt does not cut short what waits in Go itself:
// time.Sleep, a channel, a select, a sync.Mutex or WaitGroup. A cell that may wait
// long selects on charts.Context().Done() as well, which an interrupt closes; one
// that waits for ever leaves only the restart of the kernel.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/build"
	"io"
	"log"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/cosmos72/gomacro/base"
	interp "github.com/cosmos72/gomacro/fast"
	"github.com/cosmos72/gomacro/imports"

	"drtmx/dashboard/charts"
	_ "drtmx/kernel/bind"
	"drtmx/kernel/install"
)

const (
	// Version and ProtocolVersion are used by gophernotes' files.
	Version         = "0.7.5+drtmx"
	ProtocolVersion = "5.3"
)

// klog is the kernel's own log: the terminal of the notebook server.
var klog = log.New(os.Stderr, "drtmx-kernel: ", log.LstdFlags)

func init() {
	// gomacro reads type information with go/importer where it finds a Go
	// installation, and panics on what Go 1.18 and later put there (type
	// parameters, aliases). Without a GOROOT it uses reflection alone.
	build.Default.GOROOT = ""
	// With reflection alone, removing promoted methods leaves the method
	// values at their old places, and wrong methods are called.
	for path, p := range imports.Packages {
		p.Wrappers = nil
		imports.Packages[path] = p
	}
	// go-echarts charts have a method JSON, which gophernotes would show.
	jsoner := autoRenderers["JSONer"]
	autoRenderers["JSONer"] = func(d Data, x interface{}) Data {
		if r, ok := x.(charts.Renderer); ok {
			d.Data = merge(d.Data, charts.New(fmt.Sprintf("%T", x), r, "").SimpleRender())
			return d
		}
		return jsoner(d, x)
	}
}

func main() {
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: drtmx-kernel CONNECTION_FILE\n       drtmx-kernel [-prefix DIR] install\n\nJupyter starts this. To install it: drtmx kernel install")
	}
	prefix := flag.String("prefix", "", "install to DIR/share/jupyter")
	flag.Parse()
	if flag.NArg() == 1 && flag.Arg(0) == "install" { // drtmx kernel install runs this
		dir, err := install.Install(install.Options{Prefix: *prefix})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("the kernel is in " + dir)
		return
	}
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if runCells != nil && flag.Arg(0) == "cells" {
		if err := runCells(os.Stdin, os.Stdout); err != nil {
			klog.Fatal(err)
		}
		return
	}
	s, err := newSession(flag.Arg(0))
	if err != nil {
		klog.Fatal(err)
	}
	s.serve()
}

// runCells runs cells without Jupyter, for tests: nil in the kernel that ships.
var runCells func(r io.Reader, w io.Writer) error

// session is one kernel process.
type session struct {
	kernel  *Kernel
	sockets SocketGroup
	stop    stopper
	streams []*stream
	waiting <-chan msgReceipt // requests on the shell channel
	given   int               // of those, how many were there when a cell failed: cells among them do not run

	mu     sync.Mutex
	parent msgReceipt // the last execute_request: output belongs to it
}

// newSession reads Jupyter's connection file, starts the interpreter (which
// belongs to the calling goroutine) and listens.
func newSession(connectionFile string) (*session, error) {
	b, err := os.ReadFile(connectionFile)
	if err != nil {
		return nil, err
	}
	var info ConnectionInfo
	if err := json.Unmarshal(b, &info); err != nil {
		return nil, fmt.Errorf("%s: %w", connectionFile, err)
	}
	s := newInterpreter()
	if s.sockets, err = prepareSockets(info); err != nil {
		return nil, err
	}
	return s, nil
}

// newInterpreter is a session without a front end.
func newInterpreter() *session {
	ir := interp.New()
	ir.Comp.Stdout, ir.Comp.Stderr = io.Discard, io.Discard
	ir.Comp.CompGlobals.Options &^= base.OptModuleImport // never run go get
	ir.Comp.CompGlobals.Options &^= base.OptShowPrompt | base.OptTrapPanic
	s := &session{kernel: &Kernel{ir: ir, display: importPackage(ir, "display", "display")}}
	ir.DeclVar("Display", nil, stubDisplay)
	s.declareGuard()
	s.keepKernel()
	s.kernel.initRenderers()
	s.stop.globals = ir.Comp.CompGlobals.IrGlobals
	return s
}

// serve handles requests until Jupyter asks to shut down.
func (s *session) serve() {
	startHeartbeat(s.sockets.HBSocket, new(sync.WaitGroup))
	charts.SetFrontend(s)
	sigs := make(chan os.Signal, 1)
	signal.Notify(sigs, os.Interrupt)
	go func() {
		for range sigs {
			s.interrupt()
		}
	}()
	if os.Getenv("JPY_PARENT_PID") != "" {
		go watchParent()
	}
	if err := s.redirect(); err != nil {
		klog.Fatal(err)
	}
	go func() {
		for {
			if _, err := s.sockets.StdinSocket.Socket.Recv(); err != nil {
				return
			}
		}
	}()
	control := s.sockets
	control.ShellSocket = control.ControlSocket // replies go where requests came from
	go loop(s.queueRequests(control, control.ControlSocket), s.handleControl)
	s.waiting = s.queueRequests(s.sockets, s.sockets.ShellSocket)
	loop(s.waiting, s.handleShell)
}

// watchParent ends the kernel when the notebook server is gone.
func watchParent() {
	parent := os.Getppid()
	for {
		time.Sleep(time.Second)
		if os.Getppid() != parent {
			os.Exit(1)
		}
	}
}
