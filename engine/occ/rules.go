package occ

import (
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
)

// rules are what the protocol does at the places where faults can be planted. The
// protocol calls them and does not know which of them are sound; see Variant.
type rules struct {
	// certify locks, validates and logs; install writes back.
	certify, install func(s *session) error
	// certifyReads is certify of an attempt that has written nothing.
	certifyReads func(s *session) error

	// readable says that a row that was fetched may be used, onePiece that n bytes at an
	// address are read in one piece.
	readable func(row []byte) bool
	onePiece func(at r2.Addr, n int) bool
	// postRow posts what brings a row, and whole says whether it is of one moment, or
	// validation will find out.
	postRow func(s *session, a *access)
	whole   func(s *session, a *access, row []byte) bool
	// patient attempts wait for a record until nobody has it locked.
	patient bool
	// stale says that a row has lost the record that was looked up.
	stale func(at store.Location, seq uint64) bool

	// take posts what locks a row, takeHere locks one of the handler's own machine.
	take     func(s *session, l *r2.List, a *access, word uint64)
	takeHere func(c *r2.Co, row r2.Addr, word uint64) (won bool)
	// mine says of a lock whether an abort releases it, by whether it was won.
	mine        func(won bool) bool
	lockInserts func(s *session)

	// place inserts the new records in the lock phase, insert gives one a row, free makes one free, and exists is what becomes of an
	// insert whose record has a row.
	place  func(s *session) error // which is Tx.Failed, too
	insert func(c *r2.Co, t *txn.Table, key uint64, own []byte, seen uint64) (store.Change, error)
	free   func(c *r2.Co, t *txn.Table, key uint64, at store.Ref)
	exists func(s *session, a *access, at store.Ref)

	// same compares the version under a lock with the one that was read, changed looks at
	// the header of a row that was only read, moved at the version of a gap, next is the
	// version that follows.
	same    func(found, read uint64) bool
	changed func(head []byte, read uint64) bool
	moved   func(now, read uint32) bool
	next    func(seq uint64) uint64

	validate func(s *session, phase metrics.Phase, prim Prim) error
	// hopeless says whether a lost lock ends the attempt, conflict ends it.
	hopeless func(lost bool) bool
	conflict func(s *session) error

	// writeBack posts what installs a record and releases its lock, store does it by the
	// CPU.
	writeBack func(s *session, a *access)
	store     func(c *r2.Co, row r2.Addr, out []byte)

	// cutLog is what is sent of a log entry, openLog how a backup reads one.
	cutLog  func(entry []byte) []byte
	openLog func(entry []byte) (record.Entry, error)

	// Where records have versions: over gives a scheme what is overwritten, under is the order in which a handler locks a
	// record and reads its timestamps, verify that in which it claims what was read and looks at it, and put
	// that in which it installs a version and releases the lock.
	over   func(s *session, a *access, tuple, version uint64)
	under  func(p *protocol, c *r2.Co, row r2.Addr, seq, word uint64) (tuple, version uint64, won bool)
	verify func(p *protocol, c *r2.Co, from r2.Peer, ts uint64, items []byte) bool
	put    func(p *protocol, c *r2.Co, word uint64, x *installed)
}

// sound are the rules of §4.1.
func sound() rules {
	return rules{
		certify:      (*session).certify,
		certifyReads: (*session).certifyReads,
		install:      (*session).writeBack,
		readable:     record.Readable,
		onePiece:     func(at r2.Addr, n int) bool { return record.OneLine(uint64(at), n) },
		postRow:      (*session).postRow,
		whole:        func(*session, *access, []byte) bool { return true },
		take:         (*session).takeByCAS,
		takeHere:     func(c *r2.Co, row r2.Addr, word uint64) bool { return c.LocalCAS(row+lockAt, 0, word) == 0 },
		mine:         func(won bool) bool { return won },
		stale:        store.Location.Stale,
		lockInserts:  (*session).lockInserts,
		place:        (*session).place,
		insert: func(c *r2.Co, t *txn.Table, key uint64, own []byte, seen uint64) (store.Change, error) {
			return t.Store.Insert(c, key, own, seen)
		},
		free:      func(c *r2.Co, t *txn.Table, key uint64, at store.Ref) { t.Store.Free(c, key, at) },
		exists:    (*session).clash,
		same:      func(found, read uint64) bool { return found == read },
		changed:   func(head []byte, read uint64) bool { return record.Lock(head) != 0 || record.Seq(head) != read },
		moved:     func(now, read uint32) bool { return now != read },
		next:      record.Next,
		validate:  (*session).validateReads,
		hopeless:  func(lost bool) bool { return lost },
		conflict:  func(s *session) error { return s.tx.Fail(txn.ErrAborted) },
		writeBack: (*session).postWriteBack,
		store:     storeRow,
		cutLog:    func(entry []byte) []byte { return entry },
		openLog:   record.OpenEntry,
	}
}
