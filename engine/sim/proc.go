package sim

import (
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"strings"
	"unsafe"
)

// Proc is a process: straight-line code that waits in virtual time. It is a
// coroutine, so it runs only while a handler has resumed it.
type Proc struct {
	parked // first: see AheadResume
	s      *Sim
	next   func() (struct{}, bool)
	yield  func(struct{}) bool
	done   bool
	id     uint32

	name string
	stop func()
	_    [24]byte // two lines of the host's memory
}

// PanicError is a panic in a process or handler, with the stack of the culprit.
type PanicError struct {
	Where string // "process name" or "handler name"
	At    Time
	Value any
	Stack string
}

// Error is Line followed by the stack.
func (e *PanicError) Error() string { return e.Line() + "\n" + e.Stack }

// Line says who panicked, when and with what, without the stack.
func (e *PanicError) Line() string {
	v := strings.ReplaceAll(fmt.Sprint(e.Value), "\n", " ")
	return fmt.Sprintf("%s panicked at %d ps: %s", e.Where, e.At, v)
}

// Unwrap is the panic value if it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// errStopped travels up a process's stack when Close unwinds it, so that
// deferred functions run.
var errStopped = errors.New("sim: process stopped")

// Go makes a process. Its body starts with the first Resume (or WakeAt).
func (s *Sim) Go(name string, body func(*Proc)) *Proc {
	p := &Proc{s: s, name: name, id: uint32(len(s.procs))}
	p.next, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		p.yields = uintptr(*(*unsafe.Pointer)(unsafe.Pointer(&p.yield)))
		returned := false
		defer func() {
			p.done = true
			s.procs[p.id] = nil
			// iter.Pull would carry the panic to Resume, but without the stack.
			r := recover()
			if r == nil && !returned {
				r = "runtime.Goexit called"
			}
			if r != nil && r != errStopped {
				s.Fail(&PanicError{Where: "process " + name, At: s.Now(), Value: r, Stack: string(debug.Stack())})
			}
		}()
		body(p)
		returned = true
	})
	p.goesOn = closure(p.next)
	s.procs = append(s.procs, p)
	return p
}

// Name is the name given to Go.
func (p *Proc) Name() string { return p.name }

// Done says whether the body has returned or panicked.
func (p *Proc) Done() bool { return p.done }

// Resume runs p until it parks or ends. Only handlers may call it: a process
// wakes another one with WakeAt.
func (p *Proc) Resume() {
	s := p.s
	if s.running != nil {
		panic(fmt.Sprintf("sim: process %s resumed from inside process %s", p.name, s.running.name))
	}
	if p.done {
		panic(fmt.Sprintf("sim: process %s resumed after its end", p.name))
	}
	s.running = p
	p.next()
	s.running = nil
}

// Park suspends the process until the next Resume. Only the process itself may
// call it.
func (p *Proc) Park() {
	if p.s.running != p {
		panic(fmt.Sprintf("sim: process %s parked from outside", p.name))
	}
	var here byte
	p.routine, p.stack = routine(), uintptr(unsafe.Pointer(&here))
	if !p.yield(struct{}{}) {
		panic(errStopped)
	}
}

// parked is where the host keeps a process while it is parked. A stack may have
// moved since; then the wrong lines are asked for.
type parked struct {
	routine, stack uintptr
	yields         uintptr
	goesOn         [3]uintptr // the function, and the two words it captured
}

// closure is where iter.Pull's function to go on is, and what it captured. Should it
// be another function one day, the wrong lines are asked for.
func closure(next func() (struct{}, bool)) [3]uintptr {
	at := *(*unsafe.Pointer)(unsafe.Pointer(&next))
	words := (*[3]uintptr)(at)
	return [3]uintptr{uintptr(at), words[1], words[2]}
}

// Ahead asks the host for what AheadResume needs.
func (p *Proc) Ahead() { PrefetchLines(unsafe.Pointer(p), 2) }

// AheadResume asks the host for the memory that the next Resume will need. It has
// no effect on the simulation.
func (p *Proc) AheadResume() {
	if p.routine != 0 {
		prefetchParked(&p.parked)
	}
}

// WakeAt schedules a Resume of p. Every wake ends one Park, so a process that
// waits for several things must check which has happened. A wake that finds the
// process ended is dropped.
func (p *Proc) WakeAt(t Time) { p.s.At(t, p.s.tag|kindWake, p.id) }

// Sleep parks the process for d.
func (p *Proc) Sleep(d Time) {
	p.WakeAt(p.s.Now() + d)
	p.Park()
}

func (s *Sim) wake(id uint32) {
	if p := s.procs[id]; p != nil {
		p.Resume()
	}
}

// Close ends every process, clock by clock in the order of creation: Park panics in it, its
// deferred functions run, and it is gone before the next one is unwound. A
// process that never ran is dropped. A panic of a deferred function is left in
// Err. Close must not be called from inside a run; a second Close does nothing.
func (s *Sim) Close() {
	if s.all.inRun {
		panic("sim: Close called from inside a run")
	}
	s.all.line.closed = true
	for _, l := range s.all.lines {
		l.closed = true
	}
	for _, c := range s.all.list {
		for i := 0; i < len(c.procs); i++ { // deferred functions may still add some
			if p := c.procs[i]; p != nil {
				p.unwind()
			}
		}
	}
}

// Stop ends the process as Close does, and the others go on. Wakes that are
// scheduled for it are dropped. A process cannot stop one, itself included: only
// handlers and code outside of a run may.
func (p *Proc) Stop() {
	if r := p.s.running; r != nil {
		panic(fmt.Sprintf("sim: process %s stopped from inside process %s", p.name, r.name))
	}
	if !p.done {
		p.unwind()
	}
}

func (p *Proc) unwind() {
	s := p.s
	s.running = p
	p.stop()
	s.running = nil
	s.procs[p.id] = nil
	p.done, p.parked = true, parked{}
}
