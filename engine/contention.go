package engine

import (
	"fmt"
	"strings"

	"drtmx/engine/history"
	"drtmx/engine/metrics"
)

// ContentionStat is what conflicts between transactions cost, and where they were.
type ContentionStat struct {
	Conflicts uint64 `json:"conflicts"` // failed locks and validations, and reads of locked records
	// LostShare is the part of the time in flight that conflicts took: attempts that aborted, their
	// back-off, and pauses before a locked record was read again.
	LostShare float64     `json:"lost_share"`
	Hot       []HotRecord `json:"hot,omitempty"` // hottest first
}

// HotRecord is a record at which transactions met.
type HotRecord struct {
	Table      string            `json:"table"`
	Key        uint64            `json:"key"`
	Conflicts  uint64            `json:"conflicts"`
	Over       uint64            `json:"over,omitempty"` // at most so many of Conflicts are other records'
	LockWaitUS float64           `json:"lock_wait_us"`   // pauses before it was read again, and back-off after aborts at it
	Aborts     uint64            `json:"aborts"`         // attempts that ended because of it
	ByType     map[string]uint64 `json:"by_type,omitempty"`
}

func (h *HotRecord) name() string { return fmt.Sprintf("%s/%d", h.Table, h.Key) }

const (
	hotShown  = 10 // records of a result
	hotWindow = 3  // records that a window keeps
)

// contention takes conflicts into the open window and into the measured interval.
type contention struct {
	window, marked metrics.Contention
	closed         bool // the measured interval has ended
}

// mark starts a measured interval.
func (c *contention) mark() {
	c.marked.Reset()
	c.closed = false
}

func (c *contention) each(f func(*metrics.Contention)) {
	f(&c.window)
	if !c.closed {
		f(&c.marked)
	}
}

// Conflict is of txn.Conflicts, and so are Abort and Lost.
func (c *contention) Conflict(record uint64, typ uint8, wait int64) {
	c.each(func(x *metrics.Contention) { x.Conflict(record, typ, wait) })
}

// Abort notes an attempt that ended at a record.
func (c *contention) Abort(record uint64, backoff int64) {
	c.each(func(x *metrics.Contention) { x.Abort(record, backoff) })
}

// Lost notes time that conflicts took.
func (c *contention) Lost(ps int64) {
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
	hot       [hotWindow]packedHot
}

// lostShare is the share of the time in flight that was lost: area is requests times picoseconds.
func lostShare(lostPS int64, inFlight float64, ps int64) float64 {
	if inFlight <= 0 || ps <= 0 {
		return 0
	}
	return float64(lostPS) / (inFlight * float64(ps))
}

func packContention(c *metrics.Contention, inFlight float64, ps int64) (p packedContention) {
	if c.Conflicts == 0 && c.LostPS == 0 {
		return p
	}
	p.conflicts, p.lost = c.Conflicts, float32(lostShare(c.LostPS, inFlight, ps))
	for i, h := range c.Hottest(hotWindow) {
		p.hot[i] = packedHot{h.Key, uint32(h.Conflicts), uint32(h.Aborts), float32(float64(h.WaitPS) / 1e6)}
	}
	return p
}

// unpack is a window's contention; nil without conflicts.
func (p *packedContention) unpack(table func(uint8) string) *ContentionStat {
	if p.conflicts == 0 && p.lost == 0 {
		return nil
	}
	c := &ContentionStat{Conflicts: p.conflicts, LostShare: float64(p.lost)}
	for _, h := range p.hot {
		if h.conflicts > 0 {
			k := history.Key(h.key)
			c.Hot = append(c.Hot, HotRecord{Table: table(k.Table()), Key: k.Row(), Conflicts: uint64(h.conflicts), LockWaitUS: float64(h.waitUS), Aborts: uint64(h.aborts)})
		}
	}
	return c
}

// contentionOf is that of the measured interval; nil where nobody met.
func (s *System) contentionOf(inFlight float64, ps int64) *ContentionStat {
	m := &s.conflicts.marked
	if m.Conflicts == 0 && m.LostPS == 0 {
		return nil
	}
	c := &ContentionStat{Conflicts: m.Conflicts, LostShare: lostShare(m.LostPS, inFlight, ps)}
	for _, h := range m.Hottest(hotShown) {
		k := history.Key(h.Key)
		r := HotRecord{Table: s.tableName(k.Table()), Key: k.Row(), Conflicts: h.Conflicts, Over: h.Over, LockWaitUS: float64(h.WaitPS) / 1e6, Aborts: h.Aborts, ByType: map[string]uint64{}}
		for typ, n := range h.ByType {
			if n > 0 {
				r.ByType[s.typeName(uint8(typ))] += uint64(n)
			}
		}
		c.Hot = append(c.Hot, r)
	}
	return c
}

// tableName is what people call a table.
func (s *System) tableName(id uint8) string {
	if db := s.load.db; db != nil {
		if name := db.TableName(id); name != "" {
			return name
		}
	}
	return fmt.Sprintf("table %d", id)
}

// hotText is a table of the hottest records for a terminal, "" without any.
func hotText(hot []HotRecord) string {
	if len(hot) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nHottest records %24s %10s %14s  %s\n", "conflicts", "aborts", "lock wait us", "by type")
	for i := range hot {
		h := &hot[i]
		fmt.Fprintf(&b, "  %-28s %9d %10d %14.4g  %s\n", h.name(), h.Conflicts, h.Aborts, h.LockWaitUS, h.Types())
	}
	return b.String()
}

// Types lists the transaction types that met others at the record, most conflicts first.
func (h *HotRecord) Types() string {
	names := make([]string, 0, len(h.ByType))
	for name := range h.ByType { // order-free: sorted below
		names = append(names, name)
	}
	sortBy(names, func(name string) uint64 { return h.ByType[name] })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, h.ByType[name])
	}
	return strings.Join(names, ", ")
}
