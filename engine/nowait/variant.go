package nowait

import (
	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
)

// Variant is a known fault planted into the protocol: other rules in place of some
// of the sound ones. The checkers have to tell each from the correct protocol; that
// is how we know that they work.
type Variant uint8

const (
	// Correct is the protocol of the package's comment.
	Correct Variant = iota
	// SharedCountLost takes a shared lock as won though another reader came between: the count
	// lacks one holder.
	SharedCountLost
	// ValueBeforeLock reads the value and then locks.
	ValueBeforeLock
	// UnlockBeforeWrite releases the lock, then writes the value.
	UnlockBeforeWrite
	// LockLeft makes an abort forget the lock that it won last.
	LockLeft
	// ExclusiveOverShared takes an exclusive lock as won though readers hold the record.
	ExclusiveOverShared
	// AsPublished writes lock word and value back with a single WRITE. It is sound where a row
	// lies in one line.
	AsPublished
	// AbsentNotLocked looks whether a record is missing and does not lock its gap.
	AbsentNotLocked
	// InsertNotLocked inserts records without locking their gaps.
	InsertNotLocked
	numVariants
)

var variantNames = [...]string{
	"correct", "shared-count-lost", "value-before-lock", "unlock-before-write", "lock-left", "exclusive-over-shared", "as-published",
	"absent-not-locked", "insert-not-locked",
}

func (v Variant) String() string { return knob.NameOf(variantNames[:], uint8(v)) }

// heldUp are cycles between two steps that are in the wrong order, as an interrupt takes. Without them the lock's line takes longer
// to another core than the owner its next step, and the fault hardly ever shows.
const heldUp = 2000

// rules are those of the protocol with the fault.
func (v Variant) rules() rules {
	r := sound()
	if plant := faults[v]; plant != nil {
		plant(&r)
	}
	return r
}

// faults change the rules, by variant.
var faults = [numVariants]func(r *rules){
	SharedCountLost: func(r *rules) {
		r.won = func(want lock, found, expected uint64) bool {
			return found == expected || want == shared && found&exclusiveBit == 0
		}
	},
	ValueBeforeLock: func(r *rules) {
		r.lockAndRead = func(s *session, a *access) {
			b := s.c.Read(at(a.loc, valueAt), a.Table.ValueBytes())
			a.value, a.buf = b.B, b.Addr
			s.c.Wait()
			l := s.c.List(a.loc.Loc, true)
			s.addCAS(l, a)
			l.Post()
		}
		r.lockHere = func(won wonRule, c *r2.Co, loc store.Location, want lock, value []byte) (uint64, bool) {
			copy(value, c.Load(loc.Addr+valueAt, len(value)))
			c.Compute(heldUp)
			return lockHere(won, c, loc, want, nil)
		}
	},
	UnlockBeforeWrite: func(r *rules) {
		r.writeBack = func(s *session, a *access) {
			s.write(a, a.at, zero)
			s.c.Wait()
			s.write(a, at(a.loc, valueAt), a.Out[txn.Front:])
		}
		r.store = func(p *protocol, c *r2.Co, row r2.Addr, value []byte) {
			p.unlockHere(c, row, exclusive)
			c.Compute(heldUp)
			c.Store(row+valueAt, value)
		}
	},
	LockLeft: func(r *rules) {
		r.giveBack = func(s *session) error {
			if list := s.holding(); len(list) > 0 {
				list[len(list)-1].held = none
			}
			return s.releaseAll()
		}
	},
	ExclusiveOverShared: func(r *rules) {
		r.won = func(want lock, found, expected uint64) bool {
			return found == expected || want == exclusive && found&exclusiveBit == 0
		}
	},
	AsPublished: func(r *rules) {
		r.writeBack = func(s *session, a *access) {
			put64(a.Out, a.free)
			s.write(a, a.at, a.Out)
		}
	},
	AbsentNotLocked: func(r *rules) {
		r.absent = func(s *session, a *access) { s.tx.Lacks(&a.Access, uint32(a.loc.Ref)) }
	},
	InsertNotLocked: func(r *rules) {
		r.insertGaps = func(*session) error { return nil }
		r.insertGapHere = func(wonRule, *r2.Co, r2.Addr, lock) bool { return true }
	},
}
