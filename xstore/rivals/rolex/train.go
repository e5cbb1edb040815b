package rolex

import (
	"encoding/binary"
	"slices"

	"drtmx/engine/metrics"
	"drtmx/engine/r2"
)

// trains is what a thread of a client keeps: leaves that it has taken and not used, and segments that it has to train. The training is by a
// coroutine of its own, which the thread gets with the first of them.
type trains struct {
	s     *Store
	free  [][]uint32 // leaves, by server
	queue []task
	now   task // while busy
	busy  bool
	co    *r2.Co
}

// task is a segment that is to be trained again.
type task struct {
	p       *part
	segment int
}

const (
	// mostLeaves of a segment can be trained. With more it keeps its model, and its keys are found along the links.
	mostLeaves  = 4096
	mostVersion = 1<<16 - 1
	// headBatch is how many headers of leaves are READ at once.
	headBatch = 32
	// trainCycles is what a leaf takes: its header is looked at, and its lowest key narrows the cone of slopes by two divisions. Then
	// its two places are predicted, for the bounds. Assumed.
	trainCycles = 150
)

// trainsOf is that of a coroutine's thread.
func (s *Store) trainsOf(c *r2.Co) *trains {
	i := s.first[c.Machine()] + c.Thread()
	if s.trains[i] == nil {
		s.trains[i] = &trains{s: s, free: make([][]uint32, len(s.parts))}
	}
	return s.trains[i]
}

// wantTraining has the thread train a segment.
func (s *Store) wantTraining(c *r2.Co, p *part, segment int) {
	t := s.trainsOf(c)
	if x := (task{p, segment}); !slices.Contains(t.queue, x) {
		t.queue = append(t.queue, x)
	}
	if t.co == nil {
		t.co = s.cl.SpawnBackground(c.Machine(), c.Thread(), "trainer", t.run)
		return
	}
	c.Wake(t.co)
}

// run trains what is wanted, one segment after the other.
func (t *trains) run(c *r2.Co) {
	c.Phase(metrics.PhaseOther, r2.Mode{Outstanding: true, Doorbell: true})
	for x := t.s.client(c); ; {
		if len(t.queue) == 0 {
			c.Suspend()
			continue
		}
		next := t.queue[0]
		t.now, t.busy, t.queue = next, true, slices.Delete(t.queue, 0, 1)
		c.Reset()
		trained, err := x.train(next.p, next.segment)
		t.busy = false
		if err != nil { // the memory node cannot be reached
			c.Fail(err)
			return
		}
		if trained {
			x.stats(next.p).Trained++
		} else {
			x.stats(next.p).Given++
		}
	}
}

// head is the header of a leaf.
type head struct {
	number    uint32
	low, high uint64
	link      uint32
	read      bool
}

// train makes a new model of a segment and publishes it, under a lock in the directory that keeps other trainers away. Clients that change leaves
// meanwhile are not held up: what they split after its header was READ is a synonym to the new model.
func (x *client) train(p *part, i int) (trained bool, err error) {
	loc := p.entryLoc(i, 0)
	list := x.c.List(loc, true)
	was, word := list.CAS(loc, 0, uint64(x.c.ID())+1), list.Read(p.entryLoc(i, atCurrent), 8)
	list.Post()
	if err := x.c.Wait(); err != nil || binary.LittleEndian.Uint64(was.B) != 0 {
		return false, err
	}
	now := binary.LittleEndian.Uint64(word.B)
	if err := x.refresh(p, i, now); err != nil {
		return false, err
	}
	heads, err := x.heads(p, i, x.known(p, i))
	if err != nil {
		return false, err
	}
	if version := uint32(now >> 48); len(heads) <= mostLeaves && version < mostVersion {
		return x.publish(p, i, x.fit(p, i, heads, version+1))
	}
	x.c.Write(loc, x.c.Word(0))
	return false, x.c.Wait()
}

// heads READs the headers of a segment's leaves, and of the synonyms behind them until there is no gap, each round all that
// are known to be missing.
func (x *client) heads(p *part, i int, m *segment) (list []head, err error) {
	for g := range m.leaves {
		list = append(list, head{number: m.leaf(g)})
	}
	for missing := true; missing; {
		if err := x.readHeads(p, list); err != nil {
			return nil, err
		}
		all := make([]head, 0, len(list))
		missing = false
		for g, h := range list {
			all = append(all, h)
			next := p.highest(i)
			if g+1 < len(list) {
				next = list[g+1].low - 1
			}
			if h.high < next {
				missing = true
				all = append(all, head{number: h.link})
			}
		}
		list = all
	}
	return list, nil
}

// readHeads READs the headers that have not come.
func (x *client) readHeads(p *part, list []head) error {
	var bufs [headBatch]r2.Buf
	var of [headBatch]*head
	n, lay := 0, &x.s.layout
	take := func() error {
		err := x.c.Wait()
		for k := range n {
			h := node(bufs[k].B[lockBytes:])
			lay.head.Decode(h, h) // it lies in one line
			of[k].low, of[k].high, of[k].link, of[k].read = h.low(), h.high(), h.link(), true
			x.c.TouchDMA(bufs[k].Addr, len(bufs[k].B))
		}
		n = 0
		x.c.Reset()
		return err
	}
	for g := range list {
		if list[g].read {
			continue
		}
		bufs[n], of[n] = x.c.Read(p.leafLoc(list[g].number), lay.headBytes()), &list[g]
		if n++; n == headBatch {
			if err := take(); err != nil {
				return err
			}
		}
	}
	return take()
}

// fit trains the model of leaves, and lets the thread's other coroutines in between.
func (x *client) fit(p *part, i int, heads []head, version uint32) *segment {
	lows, table := make(fences, len(heads)), make([]uint32, len(heads))
	for g, h := range heads {
		lows[g], table[g] = h.low, h.number
		x.c.Compute(trainCycles)
		if g%headBatch == headBatch-1 {
			x.c.Yield()
		}
	}
	m := x.s.trained(lows, p.highest(i))
	m.version, m.table = version, table
	return m
}

// publish WRITEs a model into new memory, and then the word that leads to it together with the release of the segment. Memory of older
// models is not used again: a client may be about to READ it.
func (x *client) publish(p *part, i int, m *segment) (published bool, err error) {
	loc := p.entryLoc(i, 0)
	lines := (m.bytes() + lineBytes - 1) / lineBytes
	first := x.c.FAA(p.headLoc(1), uint64(lines))
	if err := x.c.Wait(); err != nil {
		return false, err
	}
	line := binary.LittleEndian.Uint64(first.B)
	if published = lines <= mostLines && line+uint64(lines) <= p.lines; published {
		b := make([]byte, m.bytes())
		m.put(b)
		x.c.Compute(m.bytes() / 8) // a word a cycle
		at := p.lineLoc(line)
		for size := x.s.cl.MaxWrite() &^ (lineBytes - 1); len(b) > 0; b, at.Addr = b[min(size, len(b)):], at.Addr+r2.Addr(size) {
			x.c.Write(at, b[:min(size, len(b))])
		}
		if err := x.c.Wait(); err != nil {
			return false, err
		}
		x.install(p, i, m)
	}
	list := x.c.List(loc, false)
	if published {
		list.Write(p.entryLoc(i, atCurrent), x.c.Word(current(m.version, lines, line)))
	}
	list.Write(loc, x.c.Word(0))
	list.Post()
	return published, x.c.Wait()
}
