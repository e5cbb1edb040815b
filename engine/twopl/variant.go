package twopl

import "drtmx/engine/knob"
import "drtmx/engine/r2"

// Variant is a known fault planted into the protocol: other rules in place of some
// of the sound ones. The checkers have to tell each from the correct protocol; that
// is how we know that they work.
type Variant uint8

const (
	// Correct is the protocol of the package's comment.
	Correct Variant = iota
	// SharedOverExclusive grants shared locks of what is held exclusively.
	SharedOverExclusive
	// ExclusiveOverShared grants exclusive locks, upgrades among them, of what others share.
	ExclusiveOverShared
	// ReleasedEarly gives shared locks back as soon as the record is read: not two-phase.
	ReleasedEarly
	// UnlockBeforeWrite releases the locks, then writes the values.
	UnlockBeforeWrite
	// LockLeft forgets the lock that an attempt got last which writes nothing there, or aborts.
	LockLeft
	// AbsentNotLocked looks whether a record is missing and does not lock its gap.
	AbsentNotLocked
	// InsertNotLocked inserts records without locking their gaps.
	InsertNotLocked
	// TupleOfRead keeps the timestamp of a record that was read, and then written, from before it was locked exclusively.
	TupleOfRead
	numVariants
)

var variantNames = [...]string{
	"correct", "shared-over-exclusive", "exclusive-over-shared", "released-early", "unlock-before-write", "lock-left",
	"absent-not-locked", "insert-not-locked", "tuple-of-read",
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
	SharedOverExclusive: func(r *rules) {
		r.compatible = func(l *lock, want mode) bool { return want == shared || compatible(l, want) }
	},
	ExclusiveOverShared: func(r *rules) {
		r.compatible = func(l *lock, want mode) bool { return l.mode == shared || compatible(l, want) }
		r.alone = func(*lock) bool { return true }
	},
	ReleasedEarly: func(r *rules) {
		r.answered = func(t *table, c *r2.Co, p *party) {
			var next list
			for i := 0; p != nil && i < len(p.held); {
				if l := p.held[i]; l.mode == shared {
					p.held = append(p.held[:i], p.held[i+1:]...)
					t.release(c, l, p, &next)
				} else {
					i++
				}
			}
			t.goOn(c, &next)
		}
	},
	UnlockBeforeWrite: func(r *rules) {
		r.end = func(t *table, c *r2.Co, x *party, items []byte, last bool, next *list) {
			if last && len(x.placed) == 0 {
				t.finish(c, x, next)
				c.Compute(heldUp)
			}
			t.install(c, x, items, next)
			if last && len(x.held) > 0 {
				t.finish(c, x, next)
			}
		}
	},
	LockLeft: func(r *rules) {
		r.end = func(t *table, c *r2.Co, x *party, items []byte, last bool, next *list) {
			if n := len(x.held); n > 0 && len(items) == 0 {
				x.held = x.held[:n-1]
			}
			end(t, c, x, items, last, next)
		}
	},
	AbsentNotLocked: func(r *rules) {
		r.holdsGap = func(*table, *r2.Co, *party, r2.Loc, mode) bool { return true }
	},
	TupleOfRead: func(r *rules) {
		r.upgraded = func(s *session, a *access, b []byte) []byte { return b[s.p.stampsBack:] }
	},
	InsertNotLocked: func(r *rules) {
		r.insertGap = func(*table, *r2.Co, *request, r2.Loc) verdict { return granted }
	},
}
