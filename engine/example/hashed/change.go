package hashed

import (
	"encoding/binary"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// reach is how a bucket and its rows are changed: by loads, stores and CAS of a CPU, or by requests to an RNIC. Errors are of the network.
type reach interface {
	read(at r2.Loc, n int) ([]byte, error)
	cas(at r2.Loc, old, new uint64) (bool, error)
	write(list []write) error // one after the other
	pause()
}

// write are bytes for a place.
type write struct {
	at r2.Loc
	b  []byte
}

// byCPU is the half of the server.
type byCPU struct{ c *r2.Co }

func (x byCPU) read(at r2.Loc, n int) ([]byte, error) { return x.c.Load(at.Addr, n), nil }
func (x byCPU) pause()                                { x.c.Compute(spin) }

func (x byCPU) cas(at r2.Loc, old, new uint64) (bool, error) {
	return x.c.LocalCAS(at.Addr, old, new) == old, nil
}

func (x byCPU) write(list []write) error {
	for _, w := range list {
		x.c.Store(w.at.Addr, w.b)
	}
	return nil
}

// byRNIC is the one-sided half.
type byRNIC struct{ c *r2.Co }

func (x byRNIC) pause() {} // a READ takes its time

func (x byRNIC) read(at r2.Loc, n int) ([]byte, error) {
	b := x.c.Read(at, n)
	return b.B, x.c.Wait()
}

func (x byRNIC) cas(at r2.Loc, old, new uint64) (bool, error) {
	found := x.c.CAS(at, old, new)
	err := x.c.Wait()
	return err == nil && binary.LittleEndian.Uint64(found.B) == old, err
}

func (x byRNIC) write(list []write) error {
	l := x.c.List(list[0].at, true)
	for _, w := range list {
		l.Write(w.at, w.b)
	}
	l.Post()
	return x.c.Wait()
}

// Insert and Claim are one algorithm, and so are Remove and Release.
func (t *Table) Insert(c *r2.Co, key uint64, own []byte, seen uint64) (store.Change, error) {
	return t.insert(byCPU{c}, key, own, seen)
}

// Claim is Insert by requests.
func (t *Table) Claim(c *r2.Co, key uint64, own []byte, seen uint64) (store.Change, error) {
	return t.insert(byRNIC{c}, key, own, seen)
}

// Remove reserves the row, which Free gives back.
func (t *Table) Remove(c *r2.Co, key uint64, at store.Ref) (store.Change, error) {
	return t.remove(byCPU{c}, key, at, false)
}

// Release is Remove and Free by requests.
func (t *Table) Release(c *r2.Co, key uint64, at store.Ref) (store.Change, error) {
	return t.remove(byRNIC{c}, key, at, true)
}

// Free gives a row its next incarnation.
func (t *Table) Free(c *r2.Co, key uint64, at store.Ref) {
	list, _ := t.freed(byCPU{c}, key, at) // a CPU reaches its own memory
	_ = byCPU{c}.write(list)
}

// change locks the bucket of a key whose state passes a check.
func (t *Table) change(x reach, key uint64, check func(look) error) (seen look, err error) {
	at, n := t.bucket(key)
	for range attempts {
		line, err := x.read(at, record.LineBytes)
		if err != nil {
			return look{}, err
		}
		if seen = t.look(line, n, key); seen.version%2 == 0 {
			if err := check(seen); err != nil {
				return seen, err
			}
			if won, err := x.cas(at, uint64(seen.version), uint64(seen.version+1)); won || err != nil {
				return seen, err
			}
		}
		x.pause()
	}
	return seen, store.ErrBusy
}

// insert gives a key an empty slot of its bucket, whose row then has the inserter's own bytes.
func (t *Table) insert(x reach, key uint64, own []byte, seen uint64) (store.Change, error) {
	if t.spec.Fixed {
		return store.Change{}, store.ErrFixed
	}
	was, err := t.change(x, key, func(now look) error {
		switch {
		case now.slot >= 0:
			return store.ErrExists
		case seen != store.AnyVersion && uint32(seen) != now.version:
			return store.ErrChanged
		case now.empty < 0 || key >= reserved-1:
			return store.ErrFull
		}
		return nil
	})
	done := store.Change{Ref: was.ref, Before: was.version, After: was.version}
	if err != nil {
		return done, err
	}
	bucket, n := t.bucket(key)
	row := t.Location(key, store.NewRef(uint32(n)*slots+uint32(was.empty), 0))
	word, err := x.read(t.incarnationOf(row), 8)
	if err != nil {
		return done, err
	}
	incarnation := binary.LittleEndian.Uint64(word)
	t.rows.Layout.MarkInserted(own, incarnation)
	done.Ref, done.After = store.NewRef(row.Ref.Row(), record.Incarnation(incarnation)), was.version+2
	list := make([]write, 0, 3)
	if len(own) > 0 {
		list = append(list, write{row.Loc, own})
	}
	list = append(list, entry(bucket, was.empty, entryOf(key, done.Ref.Incarnation())), version(bucket, done.After))
	return done, x.write(list)
}

// remove takes a key out of its bucket.
func (t *Table) remove(x reach, key uint64, at store.Ref, free bool) (store.Change, error) {
	if t.spec.Fixed {
		return store.Change{}, store.ErrFixed
	}
	was, err := t.change(x, key, func(now look) error {
		if now.slot < 0 || now.ref != at {
			return store.ErrMissing
		}
		return nil
	})
	done := store.Change{Ref: at, Before: was.version, After: was.version + 2}
	if err != nil {
		return store.Change{}, err
	}
	bucket, _ := t.bucket(key)
	list := []write{entry(bucket, was.slot, reserved)}
	if free {
		if list, err = t.freed(x, key, at); err != nil {
			return done, err
		}
	}
	return done, x.write(append(list, version(bucket, done.After)))
}

// freed are the writes that give a row its next incarnation and its slot back, if it has incarnations left.
func (t *Table) freed(x reach, key uint64, at store.Ref) ([]write, error) {
	row := t.incarnationOf(t.Location(key, at))
	word, err := x.read(row, 8)
	if err != nil {
		return nil, err
	}
	next, reusable := t.rows.Layout.Freed(binary.LittleEndian.Uint64(word))
	slot := uint64(reserved)
	if reusable {
		slot = 0
	}
	bucket, _ := t.bucket(key)
	return []write{{row, binary.LittleEndian.AppendUint64(nil, next)}, entry(bucket, int(at.Row()%slots), slot)}, nil
}

func (t *Table) incarnationOf(row store.Location) r2.Loc {
	row.Addr += r2.Addr(t.rows.Layout.Incarnation)
	return row.Loc
}

func entry(bucket r2.Loc, slot int, value uint64) write {
	bucket.Addr += r2.Addr(8 + 8*slot)
	return write{bucket, binary.LittleEndian.AppendUint64(nil, value)}
}

// version is the write that unlocks a bucket.
func version(bucket r2.Loc, v uint32) write {
	return write{bucket, binary.LittleEndian.AppendUint64(nil, uint64(v))}
}
