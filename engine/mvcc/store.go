package mvcc

import (
	"fmt"
	"slices"

	"drtmx/engine/fabric/host"
	"drtmx/engine/knob"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/r2/clocks"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// Host is what a concurrency control says of its lock words.
type Host interface {
	// Busy says of a lock word that its holder may be about to install a version.
	Busy(lock uint64) bool
	// TryLockRow locks a row of c's machine for the collector, if it is free, with that word. Gone says that the row it has so
	// locked holds no record any more.
	TryLockRow(c *r2.Co, row r2.Addr) (word uint64, won bool)
	RowRemoved(c *r2.Co, row r2.Addr)
}

// Waited is a bit of a lock word: a snapshot waits for its holder, which calls Released when it has released it.
const Waited = uint64(1) << 62

// Options of a Store.
type Options struct {
	Timestamps timestamp.Options
	// What the program of a snapshot takes, in cycles: of the coordinator for each fetch and each record, and of a handler for each
	// message, which covers its memory accesses but those of versions.
	FetchCycles, RecordCycles, HandlerCycles int
	ReplyBytes                               int  // that a reply has at least
	OneSided                                 bool // as ReadsBy says
}

// Store has the versions of a database.
type Store struct {
	db   *txn.DB
	cl   *r2.Cluster
	host Host
	opt  Options

	oneSided bool // snapshots READ what they can

	writerWaiter WriterWaiter // the host, if it is one

	asPublishedWait, asPublishedCommit bool // a form of DST as it is printed, see timestamp.Options.Variant

	clocks  *clocks.Clocks
	schemes map[string]timestamp.Scheme // that were opened
	scheme  timestamp.Scheme            // in force
	used    []metrics.Gauged            // schemes that were in force and show something of themselves
	traits  timestamp.Traits

	machines []*machine
	ready    bool // heaps are there
	rpcRead  uint8
	rpcLow   uint8

	stats Stats
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
func Open(db *txn.DB, under Host, o Options) (*Store, error) {
	cl := db.Cluster()
	s := &Store{db: db, cl: cl, host: under, opt: o, oneSided: o.OneSided, schemes: map[string]timestamp.Scheme{}}
	s.asPublishedWait, s.asPublishedCommit = o.Timestamps.Variant == timestamp.AsPublishedWait, o.Timestamps.Variant == timestamp.AsPublishedCommit
	if s.clocks = o.Timestamps.Clocks; s.clocks == nil {
		s.clocks = clocks.New(cl, clocks.Options{DriftNS: o.Timestamps.DriftNS, Seed: cl.Stream("dst.clocks", 0).Uint64()})
		s.clocks.Skew(o.Timestamps.SkewMachine, o.Timestamps.SkewNS)
	}
	for m := range cl.Machines() {
		x := &machine{id: m, queues: map[r2.Addr][]queued{}, sessions: make([][]*session, cl.Threads(m)), said: make([][]uint64, cl.Machines()), scratch: make([][]byte, cl.Threads(m)), points: make([][]uint64, cl.Threads(m))}
		s.machines = append(s.machines, x)
		if m >= db.Servers() {
			continue
		}
		var err error
		if x.guards, err = cl.Mem(m).Alloc(host.Alloc{Name: "mvcc.guards", Bytes: guardWords * 8, Interleaved: true}); err != nil {
			return nil, fmt.Errorf("guards of machine %d: %w", m, err)
		}
		if x.lines, err = cl.Mem(m).Reserve("mvcc.queues", queueLines*lineBytes, 0); err != nil {
			return nil, fmt.Errorf("queues of machine %d: %w", m, err)
		}
	}
	if s.writerWaiter, _ = under.(WriterWaiter); s.writerWaiter != nil {
		s.rpcRead = cl.HandleWaiting("mvcc.read", s.serveAwaiting)
	} else {
		s.rpcRead = cl.HandleDeferring("mvcc.read", s.serveRead)
	}
	s.rpcLow = cl.HandleAtOnce("mvcc.low", s.serveLow)
	return s, s.openSchemes()
}

// openSchemes opens what the roles of the machines allow.
func (s *Store) openSchemes() error {
	e := timestamp.Env{
		Cluster: s.cl, Clocks: s.clocks, Oracle: s.db.Oracle(),
		Options: func() *timestamp.Options { return &s.opt.Timestamps }, Values: func() knob.Values { return s.opt.Timestamps.Values },
	}
	from, to := 0, s.cl.Machines()
	if e.Oracle >= 0 {
		to = e.Oracle
	}
	if s.db.Servers() < to {
		from = s.db.Servers()
	}
	for m := from; m < to; m++ {
		e.Clients = append(e.Clients, m)
	}
	for _, name := range timestamp.Names() {
		k := timestamp.Named(name)
		if k.Traits(s.opt.Timestamps.Values).Oracle && e.Oracle < 0 {
			continue
		}
		x, err := k.Open(e)
		if err != nil {
			return fmt.Errorf("ts.scheme %s: %w", name, err)
		}
		s.schemes[name] = x
	}
	return s.use()
}

// use puts the scheme of the options in force.
func (s *Store) use() error {
	name := s.opt.Timestamps.Scheme
	x, ok := s.schemes[name]
	if name == timestamp.None {
		x, ok = unstamped{}, true
	}
	if !ok {
		return fmt.Errorf("ts.scheme %s: it was not opened; set oracle=true if it needs one, and reset", name)
	}
	for _, other := range timestamp.Names() { // the scheme that leaves frees what the new one needs
		if y, ok := s.schemes[other].(timestamp.Switched); ok && other != name {
			y.Switch(false)
		}
	}
	if y, ok := x.(timestamp.Switched); ok {
		y.Switch(true)
	}
	s.scheme, s.traits = x, x.Traits()
	if g, ok := x.(metrics.Gauged); ok && !slices.Contains(s.used, g) {
		s.used = append(s.used, g)
	}
	if s.traits.Readers {
		return s.openReaders()
	}
	return nil
}

// Changes says that options have another scheme in force, which needs a drain and Restamp.
func (s *Store) Changes(o timestamp.Options) bool {
	now := &s.opt.Timestamps
	if !o.Versions() || !now.Versions() {
		return o.Versions() != now.Versions()
	}
	for _, name := range [...]string{"ts.scheme", "ts.compression", "ts.stable", "ts.readers"} {
		if o.Values[name] != now.Values[name] {
			return true
		}
	}
	return o.Scheme != now.Scheme
}

// Set takes in new options with the scheme that is in force.
func (s *Store) Set(o timestamp.Options) {
	if !o.Versions() {
		return
	}
	if o.DriftNS != s.opt.Timestamps.DriftNS {
		s.clocks.SetDrift(o.DriftNS)
	}
	s.clocks.Skew(s.opt.Timestamps.SkewMachine, 0)
	s.clocks.Skew(o.SkewMachine, o.SkewNS)
	s.opt.Timestamps = o
}

// Scheme is the one in force.
func (s *Store) Scheme() timestamp.Scheme { return s.scheme }

// Traits are those of the scheme in force.
func (s *Store) Traits() timestamp.Traits { return s.traits }

// Stats are the counts so far.
func (s *Store) Stats() Stats { return s.stats }

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

// Where the words of a row are.
const (
	tupleAt   = 8
	chainAt   = 16
	versionAt = 24
	seqAt     = 32
	valueAt   = 40
)

// Under is what a writer has to know of a record or of a gap that it has just locked, for timestamp.Scheme.Over.
func (s *Store) Under(c *r2.Co, row r2.Addr) (tuple, version uint64) {
	if s.traits.Readers {
		s.holdReaders(c, row)
	}
	b := c.Load(row+tupleAt, valueAt-tupleAt)
	return wire.Get64(b), wire.Get64(b[versionAt-tupleAt:])
}

// Guard is the timestamp of a key's gap, for a writer that has put the key's row where lookups find it.
func (s *Store) Guard(c *r2.Co, t *txn.Table, key uint64) uint64 {
	return c.Load64(s.guard(s.machines[c.Machine()], t, key))
}

// Raise lets the tuple timestamp of a row be no less than ts, or has it remember the reader with that stamp.
func (s *Store) Raise(c *r2.Co, row r2.Addr, ts uint64) { s.hasRead(c, row, row+tupleAt, ts) }

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
