package measure

import (
	"drtmx/engine/history"
	"drtmx/engine/metrics"
	"drtmx/engine/owned"
	"drtmx/engine/result"
)

// Contention takes conflicts into the open window and into the measured interval, each machine those of its own clients.
type Contention struct {
	parts  owned.Each[conflicts]
	closed bool              // the measured interval has ended
	all    metrics.Conflicts // of the machines, as read last
}

// conflicts are those of a machine's clients.
type conflicts struct{ window, marked metrics.Contention }

// NewContention is that of so many machines.
func NewContention(machines int) Contention {
	return Contention{parts: owned.New[conflicts](machines, nil)}
}

// Mark starts a measured interval, Close ends it.
func (c *Contention) Mark() {
	for _, p := range c.parts.All() {
		p.marked.Reset()
	}
	c.closed = false
}

func (c *Contention) Close() { c.closed = true }

// Conflict is of txn.Conflicts, and so are Abort and Lost.
func (c *Contention) Conflict(machine int, record uint64, typ uint8, wait int64) {
	p := c.parts.Of(machine)
	p.window.Conflict(record, typ, wait)
	if !c.closed {
		p.marked.Conflict(record, typ, wait)
	}
}

// Abort notes an attempt that ended at a record.
func (c *Contention) Abort(machine int, record uint64, backoff int64) {
	p := c.parts.Of(machine)
	p.window.Abort(record, backoff)
	if !c.closed {
		p.marked.Abort(record, backoff)
	}
}

// Lost notes time that conflicts took.
func (c *Contention) Lost(machine int, ps int64) {
	p := c.parts.Of(machine)
	p.window.Lost(ps)
	if !c.closed {
		p.marked.Lost(ps)
	}
}

// Measured is that of the measured interval so far. It is good until either of both is called again.
func (c *Contention) Measured() *metrics.Conflicts {
	c.all.Reset()
	for _, p := range c.parts.All() {
		c.all.Add(&p.marked)
	}
	return &c.all
}

// Open is that of the open window, likewise.
func (c *Contention) Open() *metrics.Conflicts {
	c.all.Reset()
	for _, p := range c.parts.All() {
		c.all.Add(&p.window)
	}
	return &c.all
}

// Cut ends the open window.
func (c *Contention) Cut() {
	for _, p := range c.parts.All() {
		p.window.Reset()
	}
}

// packedHot is a hot record in little memory.
type packedHot struct {
	key               uint64
	conflicts, aborts uint32
	waitUS            float32
}

// packedContention is a window's part, without types.
type packedContention struct {
	conflicts uint64
	lost      float32 // share
	hot       [result.HotWindow]packedHot
}

// LostShare is the share of the time in flight that was lost: area is requests times picoseconds.
func LostShare(lostPS int64, inFlight float64, ps int64) float64 {
	if inFlight <= 0 || ps <= 0 {
		return 0
	}
	return float64(lostPS) / (inFlight * float64(ps))
}

func PackContention(c *metrics.Conflicts, inFlight float64, ps int64) (p packedContention) {
	if c.Conflicts == 0 && c.LostPS == 0 {
		return p
	}
	p.conflicts, p.lost = c.Conflicts, float32(LostShare(c.LostPS, inFlight, ps))
	for i, h := range c.Hottest(result.HotWindow) {
		p.hot[i] = packedHot{h.Key, uint32(h.Conflicts), uint32(h.Aborts), float32(float64(h.WaitPS) / 1e6)}
	}
	return p
}

// unpack is a window's contention; nil without conflicts.
func (p *packedContention) unpack(table func(uint8) string) *result.ContentionStat {
	if p.conflicts == 0 && p.lost == 0 {
		return nil
	}
	c := &result.ContentionStat{Conflicts: p.conflicts, LostShare: float64(p.lost)}
	for _, h := range p.hot {
		if h.conflicts > 0 {
			k := history.Key(h.key)
			c.Hot = append(c.Hot, result.HotRecord{Table: table(k.Table()), Key: k.Row(), Conflicts: uint64(h.conflicts), LockWaitUS: float64(h.waitUS), Aborts: uint64(h.aborts)})
		}
	}
	return c
}
