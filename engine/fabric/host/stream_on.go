//go:build invariants

package host

import "fmt"

// check holds that no line waits while a buffer is free, and that every buffer in
// use has its line somewhere on the way to a memory controller.
func (w *stream) check() {
	m := w.machine
	fail := func(what string, n int) {
		panic(fmt.Sprintf("fabric: at %d ps machine %d core %d: %d of %d combining buffers in use, %s %d",
			m.clock.Now(), w.machine.ID, w.core, w.held, w.buffers, what, n))
	}
	if waiting := len(w.queue) - w.head; w.held < 0 || w.held > w.buffers || waiting > 0 && w.held < w.buffers {
		fail("lines that wait", waiting)
	}
	under := 0
	for i := range m.steps.ops {
		if m.steps.ops[i].nt.from == w {
			under++
		}
	}
	for _, a := range m.steps.arbiters {
		for i := range a.waiting {
			if a.waiting[i].from == w {
				under++
			}
		}
	}
	for _, s := range w.machine.Processors {
		for i := range s.NVM.Tracking {
			if s.NVM.Tracking[i].from == w {
				under++
			}
		}
	}
	if under != w.held {
		fail("lines on the way", under)
	}
}
