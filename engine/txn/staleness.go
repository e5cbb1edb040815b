package txn

import (
	"fmt"

	"drtmx/engine/history"
	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
)

// Versioned is what a Protocol with Snapshots says of them.
type Versioned interface {
	Snapshots
	// Bound is how stale a read of a snapshot that begins now is at most; ok is false where nothing is promised.
	Bound() (ns int64, ok bool)
	// Missable says that a snapshot which is under way or begins from now on may lack what has a stamp.
	Missable(stamp timestamp.Stamp) bool
}

// staleness measures how old what snapshots read is: the begin of a snapshot less the decision of the oldest committed
// version that is newer than the one it read. It is an oracle: it knows of decisions alone, free of virtual time, so what
// is wrong with chains, locks or points is not wrong with it too.
//
// It remembers the decisions on versions that some snapshot may lack.
type staleness struct {
	of     Versioned
	last   map[history.Key]uint64 // of a record: its last decision that is remembered
	recent []verdict              // of decision i at i mod the length, which is a power of two
	first  uint64                 // decision that is remembered
	next   uint64                 // decision to come
	lost   bool                   // there was no room
	broken string                 // the first read beyond the bound
	bounds bool                   // there is, or was, a bound
}

// verdict is a decision on one record.
type verdict struct {
	key     history.Key
	version uint64
	before  uint64 // the decision before on the record, if it is remembered
	at      r2.Time
	stamp   timestamp.Stamp
}

// mostVerdicts bounds the memory, to some 50 MB.
const mostVerdicts = 1 << 20

// noVerdict is no decision.
const noVerdict = ^uint64(0)

func newStaleness(of Versioned) *staleness {
	return &staleness{of: of, last: map[history.Key]uint64{}, recent: make([]verdict, 1<<10)}
}

// decided takes in what an attempt that commits writes.
func (s *staleness) decided(tx *Tx) {
	for s.first < s.next && !s.of.Missable(s.recent[s.first&uint64(len(s.recent)-1)].stamp) {
		s.drop()
	}
	for _, a := range tx.set {
		if a.Out != nil && !s.lost {
			s.add(verdict{key: history.MakeKey(a.Table.ID, a.Key), version: a.Next, before: noVerdict, at: tx.decision, stamp: tx.stamp})
		}
	}
}

func (s *staleness) add(v verdict) {
	if n := uint64(len(s.recent)); s.next-s.first == n {
		if n == mostVerdicts {
			s.lost = true
			return
		}
		grown := make([]verdict, 2*n)
		for i := s.first; i < s.next; i++ {
			grown[i&(2*n-1)] = s.recent[i&(n-1)]
		}
		s.recent = grown
	}
	if i, ok := s.last[v.key]; ok {
		v.before = i
	}
	s.recent[s.next&uint64(len(s.recent)-1)] = v
	s.last[v.key] = s.next
	s.next++
}

// drop forgets the first decision.
func (s *staleness) drop() {
	v := &s.recent[s.first&uint64(len(s.recent)-1)]
	if s.last[v.key] == s.first {
		delete(s.last, v.key)
	}
	s.first++
}

// superseded is when it was decided what replaced a version of a record, if that is remembered.
func (s *staleness) superseded(key history.Key, version uint64) (at r2.Time, ok bool) {
	i, found := s.last[key]
	for found && i != noVerdict && i >= s.first {
		v := &s.recent[i&uint64(len(s.recent)-1)]
		if v.version <= version {
			break
		}
		at, ok, i = v.at, true, v.before
	}
	return at, ok
}

// measure looks at what a snapshot has read.
func (s *staleness) measure(tx *Tx) {
	s.bounds = s.bounds || tx.bounded
	if s.lost {
		return
	}
	for _, a := range tx.set {
		if a.readNothing() {
			continue
		}
		at, ok := s.superseded(history.MakeKey(a.Table.ID, a.Key), a.Version)
		age := r2.Time(0)
		if ok {
			age = max(0, tx.begun-at)
		}
		if f := tx.db.opt.OnSnapshotRead; f != nil {
			f(age)
		}
		if tx.bounded && age > r2.Time(tx.boundNS)*r2.Nanosecond && s.broken == "" {
			s.broken = fmt.Sprintf("the snapshot that machine %d began at %d ns read version %d of key %d of table %s, which was replaced at %d ns: %d ns before, where at most %d may be",
				tx.c.Machine(), tx.begun/r2.Nanosecond, a.Version, a.Key, a.Table.Name, at/r2.Nanosecond, age/r2.Nanosecond, tx.boundNS)
		}
	}
}

// StalenessBound is how stale a read of a snapshot that begins now is at most; ok is false where nothing is promised.
func (db *DB) StalenessBound() (ns int64, ok bool) {
	if db.staleness == nil {
		return 0, false
	}
	return db.staleness.of.Bound()
}

// StalenessVerdict is where a read of a snapshot was staler than its bound, "" where none was; ok is false where there was no
// bound, or it could not be measured.
func (db *DB) StalenessVerdict() (broken string, ok bool) {
	s := db.staleness
	if s == nil {
		return "", false
	}
	return s.broken, s.bounds && (s.broken != "" || !s.lost)
}

// StalenessUnmeasured says why the reads of snapshots were no longer measured from some moment on, "" if they were.
func (db *DB) StalenessUnmeasured() string {
	if db.staleness == nil || !db.staleness.lost {
		return ""
	}
	return fmt.Sprintf("snapshots may lack what the last %d decisions wrote, of which no more are remembered, so reads staler than the bound may be missed; %s", mostVerdicts, timestamp.LackLess)
}

// Restamped says that every snapshot to come has everything that was committed, whatever its stamps: those of another scheme
// mean nothing. No transaction is under way.
func (db *DB) Restamped() {
	s := db.staleness
	if s == nil {
		return
	}
	clear(s.last)
	s.first = s.next
	for _, cl := range db.clients {
		if cl != nil && cl.tx.guarantees != nil {
			cl.tx.session = timestamp.Session{}
			cl.tx.guarantees.forget()
		}
	}
	if r := db.opt.Recorder; r != nil {
		r.Restamp()
	}
}

// watch begins to look at snapshots, when the first client can read one.
func (db *DB) watch() {
	of, ok := db.protocol.(Versioned)
	if !ok || db.staleness != nil {
		return
	}
	db.staleness = newStaleness(of)
	if r := db.opt.Recorder; r != nil {
		r.Needs(func(stamp uint64) bool { return of.Missable(timestamp.Stamp(stamp)) }, timestamp.LackLess)
	}
}

// follow looks at an attempt that commits, where there are snapshots.
func (tx *Tx) follow() {
	switch s := tx.db.staleness; {
	case tx.snapshot():
		s.measure(tx)
		tx.checkOwnWrites()
	case tx.common.Timestamps.Versions():
		s.decided(tx)
		tx.noteOwnWrites()
	}
}

// CommitsAt says which stamp the attempt's writes have, before Decided.
func (tx *Tx) CommitsAt(s timestamp.Stamp) { tx.stamp = s }

// level is what the attempt's reads are promised, for the history.
func (tx *Tx) level() history.Level {
	switch {
	case !tx.snapshot():
		return history.LevelStrict
	case tx.fresh == timestamp.Strict:
		return history.LevelFresh
	}
	return history.LevelSnapshot
}
