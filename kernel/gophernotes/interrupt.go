//go:build drtmxkernel

package main

import (
	"fmt"
	"os"
	"reflect"
	"sync"
	"time"
	"unsafe"

	"github.com/cosmos72/gomacro/atomic"
	"github.com/cosmos72/gomacro/base"
	interp "github.com/cosmos72/gomacro/fast"

	"drtmx/dashboard/charts"
)

const (
	// stopGrace is how long compiled code has to notice that its context is
	// cancelled, and to end in good order, before all interpreted code it
	// may be calling is stopped by force.
	stopGrace = 250 * time.Millisecond
	// stopAgain repeats the force: code may recover, or come into being, in between.
	stopAgain = 20 * time.Millisecond
	// stopVain is when the user is told that a cell waits in Go itself, where no force reaches it.
	stopVain = 3 * time.Second
)

// inVain is what a user can do about a cell that does not stop.
const inVain = "the cell waits in Go itself (a channel, a lock, a WaitGroup), which an interrupt cannot end: restart the kernel; " +
	"a cell that may wait long selects on charts.Context().Done() as well"

// stopper interrupts the running cell.
type stopper struct {
	globals *interp.IrGlobals

	mu      sync.Mutex
	running bool
	asked   chan struct{} // closed by the first interrupt of a cell
	ended   chan struct{} // closed at the end of the cell
}

// begin and end bracket a cell; end says whether it was interrupted.
func (t *stopper) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running, t.asked, t.ended = true, make(chan struct{}), make(chan struct{})
}

func (t *stopper) end() (interrupted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running = false
	close(t.ended)
	t.signal(base.SigNone) // nothing of it may hit the next cell
	return t.wasAsked()
}

// interrupts is closed by an interrupt of the cell that runs now, or ran last.
func (t *stopper) interrupts() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asked
}

// interrupted says whether the running cell has been asked to stop.
func (t *stopper) interrupted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wasAsked()
}

func (t *stopper) wasAsked() bool {
	select {
	case <-t.asked:
		return true
	default:
		return false
	}
}

// interrupt stops the running cell, if there is one.
func (s *session) interrupt() {
	t := &s.stop
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.running {
		return
	}
	charts.Interrupt()
	s.kernel.ir.Interrupt(nil) // the cell's own goroutine
	if t.wasAsked() {
		return // the force is on its way
	}
	close(t.asked)
	go t.force(t.ended)
	go sayInVain(t.ended)
}

// sayInVain tells the user why a cell goes on after an interrupt.
func sayInVain(ended chan struct{}) {
	select {
	case <-ended:
	case <-time.After(stopVain):
		fmt.Fprintln(os.Stderr, inVain)
	}
}

// force stops interpreted code on all goroutines, until the cell has ended.
// Interpreted code runs on others than the cell's own when compiled code calls
// it from there: a user's transaction runs in a coroutine of the simulator.
func (t *stopper) force(ended chan struct{}) {
	wait := stopGrace
	for {
		select {
		case <-ended:
			return
		case <-time.After(wait):
		}
		wait = stopAgain
		t.mu.Lock()
		select {
		case <-ended: // since the timer fired
		default:
			t.signal(base.SigInterrupt)
		}
		t.mu.Unlock()
	}
}

// signal sets the asynchronous signal of every goroutine that runs, or ran,
// interpreted code. gomacro keeps them in a map that it does not export, and
// its own Interrupt reaches the main goroutine only.
func (t *stopper) signal(sig base.Signal) {
	eachRun(t.globals, func(_ uintptr, run *interp.Run) { run.Signals.Async = sig })
}

// eachRun calls f with every goroutine that runs, or ran, interpreted code, by gomacro's number of it.
func eachRun(globals *interp.IrGlobals, f func(goroutine uintptr, run *interp.Run)) {
	v := reflect.ValueOf(globals).Elem()
	lock := (*atomic.SpinLock)(unsafe.Pointer(v.FieldByName("lock").UnsafeAddr()))
	lock.Lock()
	defer lock.Unlock()
	for goroutine, run := range *(*map[uintptr]*interp.Run)(unsafe.Pointer(v.FieldByName("gls").UnsafeAddr())) {
		f(goroutine, run)
	}
}
