package measure

import (
	"drtmx/engine/history"
	"drtmx/engine/metrics"
	"drtmx/engine/result"
)

// Contention takes conflicts into the open window and into the measured interval.
type Contention struct {
	Window, Marked metrics.Contention
	Closed         bool // the measured interval has ended
}

// Mark starts a measured interval.
func (c *Contention) Mark() {
	c.Marked.Reset()
	c.Closed = false
}

func (c *Contention) each(f func(*metrics.Contention)) {
	f(&c.Window)
	if !c.Closed {
		f(&c.Marked)
	}
}

// Conflict is of txn.Conflicts, and so are Abort and Lost.
func (c *Contention) Conflict(record uint64, typ uint8, wait int64) {
	c.each(func(x *metrics.Contention) { x.Conflict(record, typ, wait) })
}

// Abort notes an attempt that ended at a record.
func (c *Contention) Abort(record uint64, backoff int64) {
	c.each(func(x *metrics.Contention) { x.Abort(record, backoff) })
}

// Lost notes time that conflicts took.
func (c *Contention) Lost(ps int64) {
	c.each(func(x *metrics.Contention) { x.Lost(ps) })
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

func PackContention(c *metrics.Contention, inFlight float64, ps int64) (p packedContention) {
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
