package r2

import (
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/r2/core"
)

// mail is what one thread of a machine leaves to another: an answer to one of its tickets, or a coroutine
// of it to go on. Each worker has a list of them in its machine's memory, which others add to with one
// locked instruction, and which its loop looks at in every turn.
type mail struct {
	ticket *Ticket
	wake   *Co
}

// post leaves something for a worker, at c's local time.
func (w *Worker) post(c *Co, m mail) {
	core.Outside(&c.Program, "mail to another thread")
	if c.w.mc != w.mc {
		panic(fmt.Sprintf("r2: %s at %d ps leaves mail for machine %d, on which it does not run", c.Name(), c.Now(), w.mc.id))
	}
	if c.w != w {
		flat := c.Beyond() // a handler's measured cycles have no such instruction
		c.LocalFAA(w.mailbox(), 1)
		c.Back(flat)
		core.Sync(&c.Program)
	}
	w.mail = append(w.mail, m)
	w.mailed = true
	w.wake()
}

// mailbox is the line that threads contend for.
func (w *Worker) mailbox() Addr {
	if w.box == 0 {
		a, err := w.mc.mem.Alloc(host.Alloc{Name: fmt.Sprintf("r2.mail.%d", w.thread), Bytes: space.LineBytes, Socket: w.home})
		if err != nil {
			w.Clock.Fail(fmt.Errorf("r2: mailbox of thread %d on machine %d: %w", w.thread, w.mc.id, err))
		}
		w.box = a
	}
	return w.box
}

// readMail takes what is there. It returns early when an answer has to wait for local time.
func (w *Worker) readMail() {
	for len(w.mail) > 0 {
		m := w.mail[0]
		n := copy(w.mail, w.mail[1:])
		w.mail[n] = mail{}
		w.mail = w.mail[:n]
		if w.box != 0 {
			core.Noted(&w.handler.Program, w.box, 8, true)
			w.Charge(w.HW.Access(w.Number, max(w.Local, w.Clock.Now()), w.box, 8, host.Load))
		}
		if m.wake != nil {
			m.wake.endSuspend()
			continue
		}
		w.job = job{ticket: m.ticket, from: m.ticket.from}
		if core.Resume(&w.handler.Program); w.Current != nil {
			return
		}
	}
	w.mailed = false
}
