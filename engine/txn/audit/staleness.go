package audit

import (
	"fmt"

	"drtmx/engine/history"
	"drtmx/engine/timestamp"
)

// Promises is what snapshots promise of how stale they are.
type Promises interface {
	// Bound is how stale a read of a snapshot that begins now is at most; ok is false where nothing is promised.
	Bound() (ns int64, ok bool)
	// Missable says that a snapshot which is under way or begins from now on may lack what has a stamp.
	Missable(stamp timestamp.Stamp) bool
}

// Staleness measures how old what snapshots read is: the begin of a snapshot less the decision of the oldest committed
// version that is newer than the one it read. It knows of decisions alone, so what is wrong with chains, locks or points is not wrong
// with it too.
//
// It remembers the decisions on versions that some snapshot may lack.
type Staleness struct {
	of     Promises
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
	at      int64  // ps
	stamp   timestamp.Stamp
}

// mostVerdicts bounds the memory, to some 50 MB.
const mostVerdicts = 1 << 20

// noVerdict is no decision.
const noVerdict = ^uint64(0)

// NewStaleness holds snapshots to promises.
func NewStaleness(of Promises) *Staleness {
	return &Staleness{of: of, last: map[history.Key]uint64{}, recent: make([]verdict, 1<<10)}
}

// Bound is that of snapshots that begin now.
func (s *Staleness) Bound() (ns int64, ok bool) { return s.of.Bound() }

// Prune forgets the decisions that no snapshot lacks any more.
func (s *Staleness) Prune() {
	for s.first < s.next && !s.of.Missable(s.recent[s.first&uint64(len(s.recent)-1)].stamp) {
		s.drop()
	}
}

// Decided takes in a version that an attempt writes which was decided at a time, in ps.
func (s *Staleness) Decided(key history.Key, version uint64, at int64, stamp timestamp.Stamp) {
	if !s.lost {
		s.add(verdict{key: key, version: version, before: noVerdict, at: at, stamp: stamp})
	}
}

func (s *Staleness) add(v verdict) {
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
func (s *Staleness) drop() {
	v := &s.recent[s.first&uint64(len(s.recent)-1)]
	if s.last[v.key] == s.first {
		delete(s.last, v.key)
	}
	s.first++
}

// Forget says that every snapshot to come has all that was decided.
func (s *Staleness) Forget() {
	clear(s.last)
	s.first = s.next
}

// superseded is when it was decided what replaced a version of a record, if that is remembered.
func (s *Staleness) superseded(key history.Key, version uint64) (at int64, ok bool) {
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

// Snapshot is one whose reads are measured.
type Snapshot struct {
	Machine int
	Begun   int64 // ps
	BoundNS int64
	Bounded bool // there is a bound
}

// Begin says whether the reads of a snapshot can be measured.
func (s *Staleness) Begin(x Snapshot) bool {
	s.bounds = s.bounds || x.Bounded
	return !s.lost
}

// Read is how stale it is, in ps, that a snapshot has read a version of a record.
func (s *Staleness) Read(x *Snapshot, table string, key history.Key, version uint64) (age int64) {
	at, ok := s.superseded(key, version)
	if ok {
		age = max(0, x.Begun-at)
	}
	if x.Bounded && age > x.BoundNS*psPerNS && s.broken == "" {
		s.broken = fmt.Sprintf("the snapshot that machine %d began at %d ns read version %d of key %d of table %s, which was replaced at %d ns: %d ns before, where at most %d may be",
			x.Machine, x.Begun/psPerNS, version, key.Row(), table, at/psPerNS, age/psPerNS, x.BoundNS)
	}
	return age
}

const psPerNS = 1000

// Verdict is where a read of a snapshot was staler than its bound, "" where none was; ok is false where there was no
// bound, or it could not be measured.
func (s *Staleness) Verdict() (broken string, ok bool) {
	return s.broken, s.bounds && (s.broken != "" || !s.lost)
}

// Unmeasured says why the reads of snapshots were no longer measured from some moment on, "" if they were.
func (s *Staleness) Unmeasured() string {
	if !s.lost {
		return ""
	}
	return fmt.Sprintf("snapshots may lack what the last %d decisions wrote, of which no more are remembered, so reads staler than the bound may be missed; %s", mostVerdicts, timestamp.LackLess)
}
