package versions

import (
	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
	"drtmx/engine/r2/clocks"
	"drtmx/engine/record"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
	"fmt"
)

// Host is what a concurrency control says of its lock words.
type Host interface {
	// Busy says of a lock word that its holder may be about to install a version.
	Busy(lock uint64) bool
	// TryLockRow locks a row of c's machine for the collector, if it is free, with that word. RowRemoved says that the row it has so
	// locked holds no record any more.
	TryLockRow(c *r2.Co, row r2.Addr) (word uint64, won bool)
	RowRemoved(c *r2.Co, row r2.Addr)
}

// Waited is a bit of a lock word: a snapshot waits for its holder, which calls Released when it has released it.
const Waited = uint64(1) << 62

// Costs are what the program of a snapshot takes of its host, in cycles: of the coordinator for each fetch and each record, and of a
// handler for each message, which covers its memory accesses but those of versions. A reply has ReplyBytes at least.
type Costs struct {
	Fetch, Record, Handler int
	ReplyBytes             int
}

// Store has the versions of a database.
type Store struct {
	db    *txn.DB
	cl    *r2.Cluster
	host  Host
	costs Costs
	opt   timestamp.Options
	at    offsets // of all rows

	oneSided bool // snapshots READ what they can, see ReadsBy

	writerWaiter WriterWaiter // the host, if it is one

	clocks  *clocks.Clocks
	schemes []opened        // that are or were in force, in the order in which they came
	kind    *timestamp.Kind // of the one in force; nil: unstamped
	scheme  timestamp.Scheme
	traits  timestamp.Traits

	machines []*machine
	ready    bool // heaps are there
	rpcRead  uint8
	rpcLow   uint8
}

// Stats count what snapshots met.
type Stats struct {
	Reads    uint64  // records that snapshots have read
	OneSided uint64  // of these, those that one READ has brought
	Blocked  uint64  // of these, those that have waited for the holder of a lock
	WaitPS   r2.Time // how long these took together
	Pushed   uint64  // versions that were overwritten
	Freed    uint64  // of these, those that were collected
	Full     uint64  // locks refused because no room for an old version was left
}

// machine is what the store has on one machine.
type machine struct {
	id       int
	heaps    [256]*heap // by table; of servers
	guards   r2.Addr
	queues   map[r2.Addr][]queued
	lines    r2.Addr // of the queues
	tombs    fifo[tomb]
	scratch  [][]byte   // by thread: a node
	points   [][]uint64 // by thread: of the request that is handled
	spare    []*waiter
	stats    Stats
	said     [][]uint64      // by machine: the lowest point that its snapshots may have; nil: not heard yet
	low      []uint64        // the least of them; nil: nothing can be collected yet
	floor    []uint64        // that it has announced itself
	begins   timestamp.Point // below it no snapshot of the machine begins
	lowest   []uint64        // what it announces
	heard    []uint64        // what another one has announced, while it is handled
	sessions [][]*session

	// See readers.go.
	readers      map[r2.Addr]*readers // lookups only, but for all of them at rest
	readerLines  r2.Addr
	entered      fifo[reader]
	spareReaders []*readers
	passed       [][]timestamp.Stamp // by thread: to be answered
}

// Open prepares the machines of a database that is being opened.
func Open(db *txn.DB, under Host, o timestamp.Options, costs Costs) (*Store, error) {
	cl := db.Cluster()
	s := &Store{db: db, cl: cl, host: under, opt: o, costs: costs, at: offsetsOf(record.Versioned)}
	if s.clocks = o.Clocks; s.clocks == nil {
		s.clocks = clocks.New(cl, clocks.Options{DriftNS: o.DriftNS, Seed: cl.Stream("dst.clocks", 0).Uint64()})
		s.clocks.Skew(o.SkewMachine, o.SkewNS)
	}
	for m := range cl.Machines() {
		x := &machine{id: m, queues: map[r2.Addr][]queued{}, sessions: make([][]*session, cl.Threads(m)), said: make([][]uint64, cl.Machines()), scratch: make([][]byte, cl.Threads(m)), points: make([][]uint64, cl.Threads(m))}
		s.machines = append(s.machines, x)
		if m >= db.Servers() {
			continue
		}
		var err error
		if x.guards, err = cl.Mem(m).Alloc(host.Alloc{Name: "versions.guards", Bytes: guardWords * 8, Interleaved: true}); err != nil {
			return nil, fmt.Errorf("guards of machine %d: %w", m, err)
		}
		if x.lines, err = cl.Mem(m).Reserve("versions.queues", queueLines*lineBytes, 0); err != nil {
			return nil, fmt.Errorf("queues of machine %d: %w", m, err)
		}
	}
	if s.writerWaiter, _ = under.(WriterWaiter); s.writerWaiter != nil {
		s.rpcRead = cl.HandleWaiting("versions.read", s.serveAwaiting)
	} else {
		s.rpcRead = cl.HandleDeferring("versions.read", s.serveRead)
	}
	s.rpcLow = cl.HandleAtOnce("versions.low", s.serveLow)
	return s, s.use()
}

// Scheme is the one in force.
func (s *Store) Scheme() timestamp.Scheme { return s.scheme }

// Traits are those of the scheme in force.
func (s *Store) Traits() timestamp.Traits { return s.traits }

// Stats are the counts so far, of all machines.
func (s *Store) Stats() (sum Stats) {
	for _, m := range s.machines {
		x := &m.stats
		sum.Reads, sum.OneSided, sum.Blocked, sum.WaitPS = sum.Reads+x.Reads, sum.OneSided+x.OneSided, sum.Blocked+x.Blocked, sum.WaitPS+x.WaitPS
		sum.Pushed, sum.Freed, sum.Full = sum.Pushed+x.Pushed, sum.Freed+x.Freed, sum.Full+x.Full
	}
	return sum
}

// counts is where a coroutine counts.
func (s *Store) counts(c *r2.Co) *Stats { return &s.machines[c.Machine()].stats }

// guard is where the guard of a key's gap is, on its primary.
func (s *Store) guard(m *machine, t *txn.Table, key uint64) r2.Addr {
	return m.guards + r2.Addr(spread(t.Store.Gap(key).Addr)%guardWords*8)
}

const (
	guardWords = 1 << 16
	queueLines = 1 << 10
	lineBytes  = 64
)

// spread hashes addresses.
func spread(a r2.Addr) uint64 {
	const prime = 0x9e3779b97f4a7c15
	return uint64(a) / 8 * prime >> 32
}

// offsets are where the words of a row are.
type offsets struct{ lock, tuple, chain, version, seq, value r2.Addr }

func offsetsOf(l record.Layout) offsets {
	return offsets{
		lock: r2.Addr(l.Lock), tuple: r2.Addr(l.Read), chain: r2.Addr(l.Span("chain").From), version: r2.Addr(l.Version),
		seq: r2.Addr(l.Stamp), value: r2.Addr(l.Bytes),
	}
}

// Under is what a writer has to know of a record or of a gap that it has just locked, for timestamp.Scheme.Over.
func (s *Store) Under(c *r2.Co, row r2.Addr) (tuple, version uint64) {
	if s.traits.Readers {
		s.holdReaders(c, row)
	}
	b := c.Load(row+s.at.tuple, int(s.at.value-s.at.tuple))
	return wire.Get64(b), wire.Get64(b[s.at.version-s.at.tuple:])
}

// Guard is the timestamp of a key's gap, for a writer that has put the key's row where lookups find it.
func (s *Store) Guard(c *r2.Co, t *txn.Table, key uint64) uint64 {
	return c.Load64(s.guard(s.machines[c.Machine()], t, key))
}

// Raise lets the tuple timestamp of a row be no less than ts, or has it remember the reader with that stamp.
func (s *Store) Raise(c *r2.Co, row r2.Addr, ts uint64) { s.hasRead(c, row, row+s.at.tuple, ts) }

// ClaimGap is Raise of the gap of a key.
func (s *Store) ClaimGap(c *r2.Co, t *txn.Table, key, ts uint64) {
	s.claimGuard(c, s.guard(s.machines[c.Machine()], t, key), ts)
}

// ClaimGapAt is ClaimGap by where the gap is.
func (s *Store) ClaimGapAt(c *r2.Co, gap r2.Addr, ts uint64) {
	s.claimGuard(c, s.machines[c.Machine()].guards+r2.Addr(spread(gap)%guardWords*8), ts)
}

func (s *Store) claimGuard(c *r2.Co, guard r2.Addr, ts uint64) { s.hasRead(c, guard, guard, ts) }

// hasRead notes that a transaction with a stamp has read a record or a gap: among its readers, or in its timestamp.
func (s *Store) hasRead(c *r2.Co, of, timestamp r2.Addr, ts uint64) {
	if s.traits.Readers {
		s.enter(c, of, ts)
		return
	}
	raise(c, timestamp, ts)
}

// raise moves a word up to ts.
func raise(c *r2.Co, at r2.Addr, ts uint64) { raiseFrom(c, at, c.Load64(at), ts) }

// raiseFrom is raise of a word that was just read. No handler's measured cycles have its locked instruction.
func raiseFrom(c *r2.Co, at r2.Addr, found, ts uint64) {
	defer c.Back(c.Beyond())
	for found < ts {
		was := c.LocalCAS(at, found, ts)
		if was == found {
			return
		}
		found = was
	}
}

// RaisesReads says that a host raises the timestamps of what its writers have only read, or has them enter as readers.
func (s *Store) RaisesReads() bool { return s.traits.Claims || s.traits.Readers }
