package rolex

import (
	"encoding/binary"
	"errors"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/xstore/rivals/service"
)

// operation is what is done to a pair under the lock of its leaf.
type operation uint8

const (
	update operation = iota
	insert
	remove
)

// Update overwrites the value of a key that is there.
func (x *client) Update(key uint64, value []byte) (found bool, err error) {
	return x.change(update, key, value)
}

// Insert adds a key that is not there.
func (x *client) Insert(key uint64, value []byte) (inserted bool, err error) {
	return x.change(insert, key, value)
}

// Delete takes a key out. Leaves that are empty stay.
func (x *client) Delete(key uint64) (found bool, err error) { return x.change(remove, key, nil) }

// change locks the leaf that a key belongs to, and writes it anew. Where the model leaves no doubt it is locked at once; else
// the prediction is READ first.
func (x *client) change(op operation, key uint64, value []byte) (bool, error) {
	p := x.s.part(key)
	i := x.segmentOf(p, key)
	m := x.model(p, i, key)
	first, last := m.span(key)
	number := m.leaf(first)
	if first < last {
		l, err := x.findIn(p, i, m, key)
		if err != nil {
			return false, err
		}
		if _, there := x.search(l.n, key); there == (op == insert) {
			return false, nil
		}
		number = l.number
	} else {
		x.stats(p).Lookups++
		x.numbers(p, i, m, first, 1)
	}
	for hop := 0; ; hop++ {
		l, err := x.lock(p, number)
		switch {
		case err != nil:
			return false, err
		case key < l.n.low():
			x.unlock(p, l)
			return false, errors.Join(x.beyond(p, key), x.c.Wait())
		case key <= l.n.high() || x.s.opt.planted.noSecond:
			return x.apply(p, i, l, op, key, value)
		case hop == maxHops || l.n.link() == noLeaf:
			x.unlock(p, l)
			return false, errors.Join(x.missingLink(p, key), x.c.Wait())
		}
		// The leaf has got a synonym since the model was trained.
		x.stats(p).Synonyms++
		number = l.n.link()
		x.unlock(p, l)
		if hop > 0 {
			continue
		}
		entry := x.c.Read(p.entryLoc(i, atCurrent), 8)
		if err := x.c.Wait(); err != nil {
			return false, err
		}
		if err := x.refresh(p, i, binary.LittleEndian.Uint64(entry.B)); err != nil {
			return false, err
		}
	}
}

const (
	// maxTries bounds those of a lock: at some microseconds each, most of a second.
	maxTries = 1 << 17
	// The pause behind a try that failed is random, below firstPause at first and twice as long each time up to lastPause, in ps. Assumed.
	firstPause = 1_000_000
	lastPause  = 16_000_000
)

// lock takes the lock of a leaf and READs it, in one round trip.
func (x *client) lock(p *part, number uint32) (*leaf, error) {
	loc := p.leafLoc(number)
	pause, mark := uint64(firstPause), x.c.Mark()
	for range maxTries {
		x.c.Release(mark)
		list := x.c.List(loc, true)
		was := list.CAS(loc, 0, uint64(x.c.ID())+1)
		x.leaves = append(x.leaves[:0], leaf{number: number})
		l := &x.leaves[0]
		l.buf = list.Read(loc, x.s.layout.bytes())
		list.Post()
		x.stats(p).Leaves++
		if err := x.c.Wait(); err != nil {
			return nil, err
		}
		if binary.LittleEndian.Uint64(was.B) != 0 {
			x.stats(p).Waits++
			x.c.Sleep(r2.Time(x.c.Rand().Uint64n(pause)))
			pause = min(2*pause, lastPause)
			continue
		}
		// The client that had the lock released it with the first line of its WRITE: others may be on their way.
		x.decode(p, l)
		return l, x.read(p)
	}
	return nil, fmt.Errorf("rolex %s: leaf %d of machine %d stays locked", x.s.spec.Name, number, p.machine)
}

// unlock releases a leaf that was not changed, with the requests that follow.
func (x *client) unlock(p *part, l *leaf) { x.c.Write(p.leafLoc(l.number), x.c.Word(0)) }

// apply executes an operation on a leaf that is locked, and releases it.
func (x *client) apply(p *part, segment int, l *leaf, op operation, key uint64, value []byte) (bool, error) {
	lay := &x.s.layout
	i, there := x.search(l.n, key)
	if there == (op == insert) {
		x.unlock(p, l)
		return false, x.c.Wait()
	}
	x.c.Compute(shiftCycles)
	switch {
	case op == update:
		copy(l.n.value(lay, i), value)
	case op == remove:
		l.n.remove(lay, i)
	case l.n.count() < lay.slots:
		l.n.insert(lay, i, key, value)
	default:
		return x.split(p, segment, l, key, value)
	}
	return true, x.write(p, l)
}

// shiftCycles is what moving pairs in a leaf and putting versions between its bytes takes: some 300 bytes in steps of eight. Assumed.
const shiftCycles = 60

// write WRITEs a leaf with its next version, and with that releases its lock.
func (x *client) write(p *part, l *leaf) error {
	if x.s.opt.planted.unlockFirst {
		x.unlock(p, l)
		if err := x.c.Wait(); err != nil {
			return err
		}
	}
	x.s.layout.encode(x.image, l.n, l.version+1)
	x.c.Write(p.leafLoc(l.number), x.image)
	return x.c.Wait()
}

// split inserts a key into a leaf that is full: the upper half of its pairs goes to a synonym. That is written first, by the
// same queue pair, so that no client that sees the link READs what is not there yet.
func (x *client) split(p *part, segment int, l *leaf, key uint64, value []byte) (bool, error) {
	number, ok, err := x.takeLeaf(p)
	if err != nil {
		return false, err
	}
	if !ok {
		x.unlock(p, l)
		if err := x.c.Wait(); err != nil {
			return false, err
		}
		return false, fmt.Errorf("store %s: key %d: %w", x.s.spec.Name, key, service.ErrFull)
	}
	lay := &x.s.layout
	l.n.split(lay, x.fresh, number)
	into := l.n
	if key >= x.fresh.low() {
		into = x.fresh
	}
	i, _ := into.find(lay, key)
	into.insert(lay, i, key, value)
	x.c.Compute(shiftCycles)
	x.stats(p).Splits++
	if x.s.opt.planted.linkFirst {
		x.s.layout.encode(x.image, l.n, l.version+1)
		x.c.Write(p.leafLoc(l.number), x.image)
		if err := x.c.Wait(); err != nil {
			return false, err
		}
	}
	list := x.c.List(p.leafLoc(l.number), false)
	lay.encode(x.image, x.fresh, 0)
	list.Write(p.leafLoc(number), x.image)
	if !x.s.opt.planted.linkFirst {
		lay.encode(x.image, l.n, l.version+1)
		list.Write(p.leafLoc(l.number), x.image)
	}
	list.Post()
	splits := x.c.FAA(p.entryLoc(segment, atSplits), 1)
	if err := x.c.Wait(); err != nil {
		return false, err
	}
	if at := uint64(x.s.opt.RetrainAt); at > 0 && (binary.LittleEndian.Uint64(splits.B)+1)%at == 0 {
		x.s.wantTraining(x.c, p, segment)
	}
	return true, nil
}

// chunk is how many leaves a thread takes at once.
const chunk = 16

// takeLeaf gives a free leaf: one of the thread's, which takes more of the memory node when it has none. ok is false if there are
// none at all.
func (x *client) takeLeaf(p *part) (number uint32, ok bool, err error) {
	t := x.s.trainsOf(x.c)
	free := &t.free[p.machine]
	if len(*free) == 0 {
		head := x.c.FAA(p.headLoc(0), chunk)
		if err := x.c.Wait(); err != nil {
			return 0, false, err
		}
		first := binary.LittleEndian.Uint64(head.B)
		for i := first; i < min(first+chunk, p.leaves.Room()); i++ {
			*free = append(*free, uint32(i))
		}
	}
	n := len(*free)
	if n == 0 {
		return 0, false, nil
	}
	number = (*free)[n-1]
	*free = (*free)[:n-1]
	return number, true, nil
}
