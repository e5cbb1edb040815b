package nvm

import (
	"math/bits"
	"slices"

	"drtmx/engine/sim"
)

// plain is one DIMM again, as the package comment describes it and as simply as
// can be: slices that are searched, no wear levelling.
type plain struct {
	c          Config
	free       sim.Time
	accepts    []sim.Time // one per entry, in order of use
	reads      []sim.Time
	backs      []sim.Time
	buffer     []*plainXLine // most recent first
	complete   []*plainXLine // first complete first
	pages      []uint64      // most recent first
	read, writ sim.Time      // when the media are free
	s          Stats
}

type plainXLine struct {
	tag          uint64
	valid, dirty uint64
	ready        sim.Time
}

func (p *plain) lines() uint64 { return uint64(p.c.XLineBytes / LineBytes) }
func (p *plain) full() uint64  { return 1<<p.lines() - 1 }

// enter waits for the entry used longest ago.
func enter(q []sim.Time, entries int) sim.Time {
	if len(q) < entries {
		return 0
	}
	return q[len(q)-entries]
}

// leave notes when the newest entry leaves, which is not before the others do.
func leave(q *[]sim.Time, at sim.Time) {
	if len(*q) > 0 {
		at = max(at, (*q)[len(*q)-1])
	}
	*q = append(*q, at)
}

func (p *plain) Read(now sim.Time, line uint64) sim.Time {
	p.s.ReadReq++
	at := max(now, p.free, enter(p.reads, p.c.ReadQueue))
	x, at := p.get(at, line/p.lines())
	if x.valid>>(line%p.lines())&1 != 0 {
		p.s.ReadHits++
	} else {
		x.valid, x.ready = p.full(), p.fromMedia(at, x.tag)
	}
	p.free = at + p.c.ControllerReadPS
	end := max(at, x.ready) + p.c.ReadHitPS
	leave(&p.reads, end)
	return end
}

func (p *plain) Write(now sim.Time, line uint64) sim.Time {
	p.s.WriteReq++
	accepted := max(now, enter(p.accepts, p.c.WriteQueue))
	hit := slices.ContainsFunc(p.buffer, func(x *plainXLine) bool { return x.tag == line/p.lines() })
	if hit {
		p.s.WriteHits++
	}
	x, at := p.get(max(accepted, p.free), line/p.lines())
	p.free = at + p.c.ControllerWritePS
	leave(&p.accepts, p.free)
	bit := uint64(1) << (line % p.lines())
	if x.dirty&bit != 0 {
		p.s.Overwritten++
		return accepted
	}
	x.valid |= bit
	x.dirty |= bit
	if x.dirty == p.full() {
		x.ready = max(x.ready, p.free)
		p.complete = append(p.complete, x)
	}
	return accepted
}

// get finds an XLine or makes room for it, after what could be drained was.
func (p *plain) get(at sim.Time, tag uint64) (*plainXLine, sim.Time) {
	for len(p.complete) > 0 {
		start := max(p.complete[0].ready, enter(p.backs, p.c.WritebackQueue))
		if start > at {
			break
		}
		p.writeBack(start, p.complete[0])
	}
	i := slices.IndexFunc(p.buffer, func(x *plainXLine) bool { return x.tag == tag })
	var x *plainXLine
	if i >= 0 {
		x = p.buffer[i]
		p.buffer = slices.Delete(p.buffer, i, i+1)
	} else {
		if n := len(p.buffer); n == p.c.XBufferXLines {
			if v := p.buffer[n-1]; v.dirty != 0 {
				at = max(at, enter(p.backs, p.c.WritebackQueue))
				p.writeBack(at, v)
			}
			p.buffer = p.buffer[:n-1]
		}
		x = &plainXLine{tag: tag}
	}
	p.buffer = slices.Insert(p.buffer, 0, x)
	return x, at
}

func (p *plain) writeBack(at sim.Time, x *plainXLine) {
	p.complete = slices.DeleteFunc(p.complete, func(y *plainXLine) bool { return y == x })
	service := p.c.mediaTime(p.c.MediaWriteBytesPerSec)
	switch partial := x.valid != p.full(); {
	case partial && p.c.MediaShared:
		p.s.PartialWritebacks++
		p.s.MediaRead += p.lines()
		p.translate(x.tag)
		service += p.c.mediaTime(p.c.MediaReadBytesPerSec)
	case partial:
		p.s.PartialWritebacks++
		at = p.fromMedia(at, x.tag)
	default:
		p.s.FullWritebacks++
		p.translate(x.tag)
		at = max(at, x.ready)
	}
	p.s.MediaWrite += p.lines()
	free := &p.writ
	if p.c.MediaShared {
		free = &p.read
	}
	*free = max(*free, at) + service
	leave(&p.backs, *free)
	x.dirty = 0
}

func (p *plain) fromMedia(at sim.Time, tag uint64) sim.Time {
	p.s.MediaRead += p.lines()
	latency := p.c.MediaReadPS
	if p.translate(tag) {
		latency += p.c.TranslationMissPS
	}
	start := max(at, p.read)
	p.read = start + p.c.mediaTime(p.c.MediaReadBytesPerSec)
	return max(p.read, start+latency)
}

func (p *plain) translate(tag uint64) (miss bool) {
	page := tag * uint64(p.c.XLineBytes) / uint64(p.c.TranslationPageBytes)
	i := slices.Index(p.pages, page)
	if miss = i < 0; miss {
		p.s.TranslationMisses++
	} else {
		p.pages = slices.Delete(p.pages, i, i+1)
	}
	p.pages = slices.Insert(p.pages, 0, page)
	p.pages = p.pages[:min(len(p.pages), p.c.TranslationPages)]
	return miss
}

// dirtyLines are the lines not yet written to the media.
func (p *plain) dirtyLines() (n int) {
	for _, x := range p.buffer {
		n += bits.OnesCount64(x.dirty)
	}
	return n
}
