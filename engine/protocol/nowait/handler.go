package nowait

import (
	"fmt"

	"drtmx/engine/coordinator"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/wire"
)

// What CPUs do with lock words: those of participants for coordinators of other machines, and a
// coordinator's for the records of its own machine.

// lockLocal locks a record of the machine and then copies its value. If it does not get the lock it
// returns the word that it found.
func lockLocal(c *r2.Co, loc store.Location, want lock, value []byte) (word uint64, ok bool) {
	if want != none {
		expect := freeWord(loc.Ref)
		if want == shared {
			if expect = c.Load64(loc.Addr); !holds(expect, loc.Ref) || expect&exclusiveBit != 0 {
				return expect, false
			}
		}
		if found := c.LocalCAS(loc.Addr, expect, want.withLock(expect)); found != expect {
			return found, false
		}
	}
	copy(value, c.Load(loc.Addr+valueAt, len(value)))
	return 0, true
}

// spinCycles is a pause between two looks at a word that other CPUs change.
const spinCycles = 40

// upgradeLocal makes the only shared lock of a record exclusive.
func upgradeLocal(c *r2.Co, row r2.Addr) bool {
	free := c.Load64(row) &^ stateMask
	return c.LocalCAS(row, free+oneHolder, free|exclusiveBit) == free+oneHolder
}

// unlockTries bounds how often a release tries again that meets others on the word: each of them
// has taken or released a lock meanwhile.
const unlockTries = 1 << 16

// unlockLocal releases a lock.
func (p *protocol) unlockLocal(c *r2.Co, row r2.Addr, held lock) {
	word := c.Load64(row)
	if held == exclusive {
		if word&stateMask != exclusiveBit {
			p.lost(c, c.Machine(), held, word)
		}
		c.Store64(row, word&^stateMask)
		return
	}
	for range unlockTries {
		if word&stateMask < oneHolder {
			p.lost(c, c.Machine(), held, word)
			return
		}
		found := c.LocalCAS(row, word, word-oneHolder)
		if found == word {
			return
		}
		word = found
		c.Compute(spinCycles)
	}
	c.Fail(errLatched(c.Machine()))
}

// errLatched is of a release that never succeeds.
func errLatched(machine int) error {
	return fmt.Errorf("nowait: a shared lock of machine %d is not released after %d attempts", machine, unlockTries)
}

// storeLocal writes a record back and then releases its lock.
func (p *protocol) storeLocal(c *r2.Co, row r2.Addr, value []byte) {
	c.Store(row+valueAt, value)
	p.unlockLocal(c, row, exclusive)
}

// serveLock looks records up, locks and reads them. At the first that it does not get it releases those
// before, and says which it was.
func (p *protocol) serveLock(c *r2.Co, from r2.Peer, req, rep []byte) int {
	n := coordinator.LockStatus
	for got := 0; got < len(req); got += coordinator.LockItem {
		item := wire.Get64(req[got:])
		t := p.DB.TableOf(uint8(item >> 56))
		loc, ok, err := t.Store.LookupLocal(c, item&coordinator.LockKey)
		if err != nil {
			c.Fail(fmt.Errorf("nowait: lock: %w", err))
		}
		if !ok {
			wire.Put64(rep[n:], uint64(loc.Ref))
			n += lockHead
			continue
		}
		value := rep[n+lockHead : n+lockHead+t.ValueBytes()]
		if _, ok := lockLocal(c, loc, p.wanted(item), value); !ok {
			p.undo(c, req[:got], rep[coordinator.LockStatus:n])
			wire.Put64(rep, uint64(got/coordinator.LockItem)<<1)
			return coordinator.LockStatus
		}
		wire.Put64(rep[n:], uint64(loc.Ref)|coordinator.Found)
		n += lockHead + wire.Padded(len(value))
	}
	wire.Put64(rep, coordinator.LocksGranted)
	return n
}

// wanted is the lock that an item of a request asks for.
func (p *protocol) wanted(item uint64) lock {
	switch {
	case p.DB.TableOf(uint8(item >> 56)).Constant:
		return none
	case item&coordinator.WantsWrite != 0:
		return exclusive
	}
	return shared
}

// undo releases the locks of the items of a request, whose replies are there.
func (p *protocol) undo(c *r2.Co, req, rep []byte) {
	for ; len(req) > 0; req = req[coordinator.LockItem:] {
		item, head := wire.Get64(req), wire.Get64(rep)
		rep = rep[lockHead:]
		if head&coordinator.Found == 0 {
			continue
		}
		t := p.DB.TableOf(uint8(item >> 56))
		rep = rep[wire.Padded(t.ValueBytes()):]
		if held := p.wanted(item); held != none {
			p.unlockLocal(c, t.Store.Location(item&coordinator.LockKey, store.Ref(head&^coordinator.Found)).Addr, held)
		}
	}
}

// serveUpgrade makes a shared lock exclusive.
func (p *protocol) serveUpgrade(c *r2.Co, from r2.Peer, req, rep []byte) int {
	rep[0] = coordinator.ReplyNo
	if upgradeLocal(c, r2.Addr(wire.Get64(req))) {
		rep[0] = coordinator.ReplyYes
	}
	return 1
}

// serveCommit writes records back and releases their locks, or only releases them.
func (p *protocol) serveCommit(c *r2.Co, from r2.Peer, req, rep []byte) int {
	for len(req) >= commitItem {
		word := wire.Get64(req)
		row, n := r2.Addr(word&addrMask&^sharedHolder), int(word>>addrBits)
		switch {
		case n > 0:
			p.storeLocal(c, row, req[commitItem:commitItem+n])
		case word&sharedHolder != 0:
			p.unlockLocal(c, row, shared)
		default:
			p.unlockLocal(c, row, exclusive)
		}
		req = req[commitItem+wire.Padded(n):]
	}
	return p.Ended(c, rep)
}
