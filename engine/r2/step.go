package r2

import (
	"drtmx/engine/r2/account"
	"drtmx/engine/r2/core"
)

// Steps has step run on the worker's own stack in place of the coroutine, now and each time that what it posted is
// complete, until it returns false: then Steps returns. A loop of single requests goes on this way without the
// switch to a coroutine and without its stack's lines of the host's memory, and takes the same virtual time.
//
// step posts and ends with StepWait, as the last that it does; it must not wait in another way. A request that ended with an
// error ends the steps: Wait returns it.
func (c *Co) Steps(step func() (goesOn bool)) {
	c.alone("Steps")
	h := &c.w.cl.hints[c.ID()]
	proc := h.Proc
	c.step, h.Proc = step, nil
	if step() {
		core.Park(&c.Program)
	}
	c.step = nil
	c.w.cl.hints[c.ID()].Proc = proc // h is of before coroutines that were started meanwhile
}

// StepWait begins the wait that the next step ends. False: nothing is under way, and Steps shall return.
func (c *Co) StepWait() (goesOn bool) {
	if c.pending == 0 {
		return false
	}
	c.wait()
	c.leave()
	return true
}

// Passes says that Gate would not hold the coroutine now.
func (c *Co) Passes() bool { return !c.w.cl.gateShut && c.index < c.w.cl.active && !c.w.reserved }

// leave is what ends the coroutine's time on the core.
func (c *Co) leave() {
	core.Outside(&c.Program, "a wait")
	account.Leave(&c.Account)
	core.Spoil(&c.Program)
}

// resume lets a coroutine go on until its next wait.
func (w *Worker) resume(c *Co) {
	if c.step != nil && c.err == nil && c.step() {
		return
	}
	core.Resume(&c.Program)
}
