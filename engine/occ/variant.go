package occ

import (
	"fmt"

	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// Variant is a known fault planted into the protocol: other rules in place of some
// of the sound ones. The checkers have to tell each from the correct protocol; that
// is how we know that they work.
type Variant uint8

const (
	// Correct is the protocol of §4.1.
	Correct Variant = iota
	// SkipVersionCheck locks and validates without comparing the sequence.
	SkipVersionCheck
	// UnlockBeforeWriteBack releases the lock, then writes the record.
	UnlockBeforeWriteBack
	// SequenceNotAdvanced writes the record back with the sequence it had.
	SequenceNotAdvanced
	// CommitBeforeLog writes back before the backups have the log.
	CommitBeforeLog
	// CASIgnoresExpected takes a lock whatever the lock word holds.
	CASIgnoresExpected
	// UnlockNotWon makes an abort zero every lock word it tried.
	UnlockNotWon
	// AsPublished is the write-back of the released code: WRITE of the value
	// alone, then of 0 to the lock; the sequence never moves.
	AsPublished
	// IgnoreAborts is a switch of the released code, under which its TPC-C/no
	// ran: a transaction commits whatever its locks and its validation say, and
	// reads records that are locked.
	IgnoreAborts
	// InsertNotLocked inserts records without locking them.
	InsertNotLocked
	// ValidateBeforeLock validates the read set, then locks the write set.
	ValidateBeforeLock
	// IgnoreLockWord validates by the sequence alone, though the record may be locked.
	IgnoreLockWord
	// ReadLocked takes a record that is locked as if it were free.
	ReadLocked
	// ReadTorn takes a row of several lines as if it had come in one piece: it skips the
	// validation that finds parts of two versions, and does not look whether a CPU or an
	// RNIC is writing the row.
	ReadTorn
	// CutLog sends log entries without their last line.
	CutLog
	// CutLogAccepted is CutLog, and the backups know a log entry by the size and the
	// number in front alone. A reclaim follows the acknowledgement of the log, so
	// that without CutLog there would be nothing wrong with that.
	CutLogAccepted
	// InsertUnchecked inserts records when all else is locked and validated, without locking their rows and
	// without comparing the version of the gap.
	InsertUnchecked
	// StaleLocation takes a row that a remembered location leads to, whatever record it holds.
	StaleLocation
	// IncarnationKept frees rows without giving them the next incarnation.
	IncarnationKept
	// FreedTwice frees the row of a record twice.
	FreedTwice
	// AbsenceUnchecked validates records alone, not that what was missing still is.
	AbsenceUnchecked
	// TupleOfRead, LookBeforeLock and CheckBeforeRaise are of records with versions, and so is a part of UnlockBeforeWriteBack.
	// TupleOfRead takes the timestamps of what is overwritten from when it was read, not from under the lock.
	TupleOfRead
	// LookBeforeLock has a handler read them, and then lock.
	LookBeforeLock
	// CheckBeforeRaise looks whether what was read is still so, and then raises its timestamps.
	CheckBeforeRaise
	numVariants
)

var variantNames = [...]string{
	"correct", "skip-version-check", "unlock-before-write-back", "sequence-not-advanced",
	"commit-before-log", "cas-ignores-expected", "unlock-not-won", "as-published", "ignore-aborts",
	"insert-not-locked", "validate-before-lock", "ignore-lock-word", "read-locked", "read-torn", "cut-log", "cut-log-accepted",
	"insert-unchecked", "stale-location", "incarnation-kept", "freed-twice", "absence-unchecked",
	"tuple-of-read", "look-before-lock", "check-before-raise",
}

func (v Variant) String() string {
	if v < numVariants {
		return variantNames[v]
	}
	return fmt.Sprintf("variant(%d)", v)
}

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
	SkipVersionCheck: func(r *rules) {
		r.same = func(found, read uint64) bool { return true }
		r.validate = func(*session, metrics.Phase, Prim) error { return nil }
	},
	UnlockBeforeWriteBack: func(r *rules) {
		r.writeBack = func(s *session, a *access) {
			s.write(a, lockAt, zero)
			s.c.Wait()
			s.write(a, seqAt, a.Out)
		}
		r.store = func(c *r2.Co, row r2.Addr, out []byte) {
			c.Store64(row+lockAt, 0)
			c.Store(row+seqAt, out)
		}
	},
	SequenceNotAdvanced: func(r *rules) { r.next = func(seq uint64) uint64 { return seq } },
	CommitBeforeLog: func(r *rules) {
		r.certify = func(s *session) error { return s.certifyUpTo(s.lock, s.validateRest) }
		r.install = func(s *session) error {
			if err := s.writeBack(); err != nil {
				return err
			}
			return s.logWrites()
		}
	},
	CASIgnoresExpected: func(r *rules) {
		r.take = func(s *session, l *r2.List, a *access, word uint64) {
			a.word = nil
			l.Write(at(a.loc, lockAt), s.c.Word(word))
		}
		r.takeHere = func(c *r2.Co, row r2.Addr, word uint64) bool {
			if c.LocalCAS(row+lockAt, 0, word) != 0 {
				c.Store64(row+lockAt, word)
			}
			return true
		}
	},
	UnlockNotWon: func(r *rules) { r.mine = func(bool) bool { return true } },
	AsPublished: func(r *rules) {
		r.next = func(seq uint64) uint64 { return seq }
		r.writeBack = func(s *session, a *access) {
			l := s.c.List(a.loc.Loc, true)
			l.Write(at(a.loc, valueAt), a.Out[txn.Front:])
			l.Write(at(a.loc, lockAt), zero)
			l.Post()
		}
		r.store = func(c *r2.Co, row r2.Addr, out []byte) {
			c.Store(row+valueAt, out[txn.Front:])
			c.Store64(row+lockAt, 0)
		}
	},
	IgnoreAborts: func(r *rules) {
		r.readable = readableLocked
		r.hopeless = func(bool) bool { return false }
		r.conflict = func(s *session) error { return s.tx.Failed() }
		r.insert = func(c *r2.Co, t *txn.Table, key uint64, own []byte, _ uint64) (store.Change, error) {
			return t.Store.Insert(c, key, own, store.AnyVersion)
		}
		r.exists = (*session).settle
	},
	InsertUnchecked: func(r *rules) {
		r.insert = func(c *r2.Co, t *txn.Table, key uint64, _ []byte, _ uint64) (store.Change, error) {
			return t.Store.Insert(c, key, zero, store.AnyVersion)
		}
		r.place = func(*session) error { return nil }
		r.certify = func(s *session) error {
			return s.certifyUpTo(s.lock, s.validateRest, s.place, s.logWrites)
		}
	},
	StaleLocation: func(r *rules) { r.stale = func(store.Location, uint64) bool { return false } },
	IncarnationKept: func(r *rules) {
		r.free = func(c *r2.Co, t *txn.Table, key uint64, at store.Ref) {
			t.Store.Free(c, key, at)
			seq := t.Store.Location(key, at).Addr + seqAt
			c.Store64(seq, uint64(at.Incarnation())<<48)
		}
	},
	FreedTwice: func(r *rules) {
		r.free = func(c *r2.Co, t *txn.Table, key uint64, at store.Ref) {
			t.Store.Free(c, key, at)
			t.Store.Free(c, key, at)
		}
	},
	AbsenceUnchecked: func(r *rules) { r.moved = func(now, read uint32) bool { return false } },
	InsertNotLocked:  func(r *rules) { r.lockInserts = func(*session) {} },
	ValidateBeforeLock: func(r *rules) {
		r.certify = func(s *session) error { return s.certifyUpTo(s.validateRest, s.lock, s.logWrites) }
	},
	IgnoreLockWord: func(r *rules) { r.changed = func(head []byte, read uint64) bool { return record.Seq(head) != read } },
	ReadLocked:     func(r *rules) { r.readable = readableLocked },
	ReadTorn: func(r *rules) {
		r.readable = func(row []byte) bool { return record.Live(record.Seq(row)) }
		r.onePiece = func(r2.Addr, int) bool { return true }
	},
	CutLog: func(r *rules) { r.cutLog = withoutLastLine },
	CutLogAccepted: func(r *rules) {
		r.cutLog = withoutLastLine
		r.openLog = func(b []byte) (record.Entry, error) {
			if len(b) > header {
				size, number := wire.Get64(b)&(1<<32-1), wire.Get64(b[8:])<<32
				b = append([]byte(nil), b...)
				if size >= 8 && size <= uint64(len(b)) {
					wire.Put64(b[size-8:], size|number)
				}
			}
			return record.OpenEntry(b)
		}
	},
}

func readableLocked(row []byte) bool {
	return record.Stable(record.Seq(row)) && record.Live(record.Seq(row))
}

func withoutLastLine(entry []byte) []byte {
	return entry[:max(len(entry)-record.LineBytes, header)]
}

// certifyUpTo is certify with other steps.
func (s *session) certifyUpTo(steps ...func() error) error {
	if s.tx.Writes() == 0 {
		return s.certifyReads()
	}
	if err := s.prepare(); err != nil {
		return err
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) validateRest() error { return s.validate(Validation, s.cfg.Validation) }

// write posts one WRITE to a row.
func (s *session) write(a *access, off int, b []byte) {
	l := s.c.List(a.loc.Loc, true)
	l.Write(at(a.loc, off), b)
	l.Post()
}
