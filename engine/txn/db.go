package txn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"drtmx/engine/membership"
	"drtmx/engine/metrics"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn/audit"
)

// MostRecords is how many records a transaction takes.
const MostRecords = 1 << 14

const (
	maxReplicas = 8
	cacheSeed   = 7  // of the location cache's hash function
	smallSet    = 64 // members that are found by looking at one after the other
)

// Costs is the CPU time of a request's handler in cycles, by phase (Table
// 4-2). It covers the handler's memory accesses too, so they are not charged
// beside it. 0 charges the accesses instead.
type Costs struct {
	Execution, Validation, Logging, Commit int
	Payload                                Payload
}

// Payload is the bytes that a phase's message has at least, by phase (Table
// 4-2): the reply of a fetch, the request to lock or validate, the log entry
// and the request to commit. What is missing is padded with zeros, for what the
// original's messages have there is not known. 0 adds nothing.
type Payload struct {
	Execution, Validation, Logging, Commit int
}

// Scale maps a cost, by its name, to the one that takes its place.
type Scale func(cost string, amount int) int

// Of is what takes the place of a cost.
func (s Scale) Of(cost string, amount int) int {
	if s == nil {
		return amount
	}
	return s(cost, amount)
}

// Options of a database.
type Options struct {
	Config Config
	Store  store.Kind // of its tables
	// Schemes are those of timestamps that may be in force, if records have versions.
	Schemes timestamp.Kinds

	// Members says which machines hold the data, run transactions and serve timestamps. nil means that all
	// machines hold data and run transactions, the symmetric model of §4.3.
	Members *membership.Table

	// Costs of the workload's handlers.
	Costs Costs

	// Scale replaces a cost by another one, once when the database is opened: of the
	// costs in code that have no knob (occ.ScaledCosts). nil keeps them all. It is there to
	// measure what a cost is worth, see engine.Causes.
	Scale Scale

	// Log is what keeps the copies of records in step, if the protocol has it do so.
	Log replication.Choice

	// Recorder takes in what transactions read and wrote; nil records nothing.
	Recorder *audit.Recorder

	// Conflicts is told of transactions that conflict; nil: not reported.
	Conflicts Conflicts

	// OnBegin and OnDone are called when a transaction begins its first attempt
	// and when it has ended. The Outcome is valid during the call.
	OnBegin func(machine, thread int, at r2.Time)
	OnDone  func(machine, thread int, o *Outcome)
	// OnSnapshotRead is called for each record that a snapshot has read, with how old what it read was.
	OnSnapshotRead func(machine int, staleness r2.Time)
	// OnAbort is called when a conflict has ended an attempt of a transaction of
	// that type, before the next attempt begins: a request may take longer than
	// the interval at which attempts are counted.
	OnAbort func(machine int, typ uint8)
}

// DB is a partitioned, replicated database over a cluster.
type DB struct {
	cl       *r2.Cluster
	opt      Options
	common   Settings // of transactions that begin now
	protocol Protocol
	log      replication.Scheme
	servers  int
	tables   [256]*Table
	order    []*Table
	caches   store.Caches // nil: none was asked for yet

	held int // thousandths, see Tx.Hold

	staleness *audit.Staleness   // nil: there are no snapshots
	indexes   store.DatedIndexes // nil: likewise, or of no indexes

	book *audit.Book
	row  [record.MaxHeaderBytes + record.MaxValueBytes]byte // of an oracle

	own owned.Each[part]
}

// part is what a machine's transactions count and share, free of time.
type part struct {
	scratch  scratch
	clients  []*Client // of its coroutines, in the order in which they began
	inFlight int       // transactions between begin and end
	locks    Locks
}

// Locks counts locks that transactions tried to take, and those among them of
// records on their own machine.
type Locks struct{ All, Local uint64 }

// scratch is what a transaction tells of itself when it ends: scratch memory, see r2.Co.Request.
type scratch struct {
	out   Outcome
	time  metrics.Breakdown // of a coroutine between transactions, which belongs to none
	trips []uint32          // likewise
}

// Open prepares the cluster's machines. Tables follow by AddTable.
func Open(cl *r2.Cluster, o Options) (*DB, error) {
	if o.Members == nil {
		o.Members = membership.New(cl.Machines(), membership.Symmetric)
	}
	servers := o.Members.Servers()
	if servers < 1 || o.Members.Machines() != cl.Machines() {
		return nil, fmt.Errorf("%d of %d members hold data, the cluster has %d machines: give each machine its roles, one at least holds data", servers, o.Members.Machines(), cl.Machines())
	}
	if o.Store == nil {
		return nil, errors.New("store is nil: say what makes the tables, such as kv.Kind")
	}
	db := &DB{cl: cl, opt: o, servers: servers, log: replication.Single{}, book: audit.OpenBook(o.Recorder, cl.Machines(), func(m int) int64 { return cl.Fabric().Machine(m).Now() }), held: o.Scale.Of(CostHeld, asLong)}
	db.own = owned.New(cl.Machines(), func(int) part {
		return part{scratch: scratch{NewOutcome(), metrics.NewBreakdown(), metrics.ForPhases[uint32]()}}
	})
	cl.OnSpoil(func(m int) { db.own.Of(m).scratch.out.clear() })
	protocol, err := o.Config.Open(db)
	if err != nil {
		return nil, err
	}
	db.protocol = protocol
	db.loadSettings()
	return db, nil
}

// loadSettings reads the settings that all protocols share from the protocol's configuration.
func (db *DB) loadSettings() {
	c := db.protocol.Config().Common()
	c.BackoffMinNS = int64(db.opt.Scale.Of(CostBackoff, int(c.BackoffMinNS)))
	c.BackoffMaxNS = int64(db.opt.Scale.Of(CostBackoff, int(c.BackoffMaxNS)))
	db.common = c
}

// TableName is the name of the table with a number, "" if there is none.
func (db *DB) TableName(id uint8) string {
	if t := db.tables[id]; t != nil {
		return t.Name
	}
	return ""
}

// AddTable creates a table, spread over the servers by p.
func (db *DB) AddTable(spec store.Spec, p store.Partition) (store.Table, error) {
	if db.caches != nil {
		return nil, fmt.Errorf("table %s: the location caches exist already; add all tables before the first client", spec.Name)
	}
	if db.tables[spec.ID] != nil {
		return nil, fmt.Errorf("table %d (%s): the number is taken by %s", spec.ID, spec.Name, db.tables[spec.ID].Name)
	}
	if p.Servers() != db.servers {
		return nil, fmt.Errorf("table %s: partitioned over %d servers, there are %d", spec.Name, p.Servers(), db.servers)
	}
	for m := range db.servers {
		if err := db.opt.Store.Halves().CheckOn(spec, m, db.cl.Threads(m)); err != nil {
			return nil, err
		}
	}
	made, err := db.opt.Store.Make(db.cl, spec, db.protocol.Layout(), store.Placement{Partition: p, Replicas: db.common.Replicas, Members: db.opt.Members})
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", spec.Name, err)
	}
	layout := &made.Rows().Layout
	t := &Table{OutHeaderBytes: layout.OutHeaderBytes(), logged: layout.Carried - layout.Stamp, ID: spec.ID, Name: spec.Name, Store: made, RowBytes: made.RowBytes(), Written: spec.Mutable, Constant: spec.Constant, Fixed: spec.Fixed, AllowsInserts: spec.AllowsInserts(), UnorderedReads: spec.Constant && spec.Fixed, Cached: !spec.Local}
	t.Audit.Open(db.book, spec.ID, known(p), spec.Fixed)
	if t.Written == 0 {
		t.Written = spec.ValueBytes
	}
	db.tables[spec.ID] = t
	db.order = append(db.order, t)
	if x, ok := db.opt.Store.(store.Fitting); ok {
		if err := x.Fits(db.cl, db.cached(), db.common.CacheBytes); err != nil {
			return nil, fmt.Errorf("table %s: %w", spec.Name, err)
		}
	}
	return made, nil
}

// cached are the tables that location caches have.
func (db *DB) cached() (list []store.Table) {
	for _, t := range db.order {
		if t.Cached {
			list = append(list, t.Store)
		}
	}
	return list
}

func (db *DB) tableNames() string {
	var names []string
	for _, t := range db.order {
		names = append(names, fmt.Sprintf("%d %s", t.ID, t.Name))
	}
	return strings.Join(names, ", ")
}

// Servers is the number of machines that hold data.
func (db *DB) Servers() int { return db.servers }

// Cluster is the framework below.
func (db *DB) Cluster() *r2.Cluster { return db.cl }

// Config is the configuration of transactions that begin now, resolved.
func (db *DB) Config() Config { return db.protocol.Config() }

// Common is what all protocols say of it.
func (db *DB) Common() Settings { return db.common }

// NeedsDrain reports whether SetConfig must wait until no transaction is in flight.
func (db *DB) NeedsDrain(c Config) bool { return db.protocol.NeedsDrain(c) }

// Options are those of Open, with the number of servers.
func (db *DB) Options() *Options { return &db.opt }

// TableOf is the table with a number, nil if there is none.
func (db *DB) TableOf(id uint8) *Table { return db.tables[id] }

// Tables are all tables, in the order in which they were added.
func (db *DB) Tables() []*Table { return db.order }

// Protocol is its concurrency control.
func (db *DB) Protocol() Protocol { return db.protocol }

// SetConfig changes the configuration of transactions that begin from now on.
// If NeedsDrain, the caller has to Pause, wait until InFlight is 0, change and
// Resume.
func (db *DB) SetConfig(c Config) error {
	if err := db.protocol.Set(c); err != nil {
		return err
	}
	db.loadSettings()
	if db.caches == nil {
		return nil
	}
	return db.caches.Resize(db.common.CacheBytes)
}

// CacheEntries is how many records the location cache of a machine has room for.
func (db *DB) CacheEntries() uint64 {
	if entry := db.opt.Store.Needs().Entry; entry > 0 {
		return db.common.CacheBytes / uint64(entry)
	}
	return math.MaxUint64
}

// Cache is the location cache of a machine, nil of a database without tables. All tables have to be there
// before it is first asked for.
func (db *DB) Cache(machine int) store.Cache {
	if len(db.order) == 0 {
		return nil
	}
	if db.caches == nil {
		x, err := db.opt.Store.Caches(db.cl, db.cached(), db.common.CacheBytes, cacheSeed)
		if err != nil {
			panic(fmt.Sprintf("txn: %v", err)) // AddTable refuses a second table of an id, and what does not fit
		}
		db.caches = x
	}
	return db.caches.Of(machine)
}

// Prepare makes what all machines share, when the tables and the clients' coroutines are there and none of them has run. Without it the first
// client does so.
func (db *DB) Prepare() {
	db.Cache(0)
	if p, ok := db.protocol.(Preparing); ok && p.Prepare() {
		db.watch()
	}
}

// Pause holds new transactions back at their gate.
func (db *DB) Pause() { db.cl.ShutGate() }

// Resume lets them go on.
func (db *DB) Resume() { db.cl.OpenGate() }

// InFlight counts what a drain has to wait for: transactions that have begun
// and not ended, commit and unlock requests not served, log entries not
// reclaimed. Passive WRITEs may still be on their way when it is 0; they need
// no coroutine and land within microseconds.
func (db *DB) InFlight() int {
	sum := 0
	for _, p := range db.own.All() {
		sum += p.inFlight
	}
	return sum + db.protocol.Unserved() + db.log.Unreclaimed()
}

// Pending is a transaction that has begun and not ended.
type Pending struct {
	Machine, Thread int
	Type            uint8
	Phase           metrics.Phase
	Attempts        int // begun, so that the last is under way
}

// Pending lists the transactions that have begun and not ended, by coroutine.
func (db *DB) Pending() []Pending {
	var open []*Tx
	for _, p := range db.own.All() {
		for _, cl := range p.clients {
			if cl.tx.open {
				open = append(open, &cl.tx)
			}
		}
	}
	slices.SortFunc(open, func(a, b *Tx) int { return cmp.Compare(a.c.ID(), b.c.ID()) })
	var list []Pending
	for _, tx := range open {
		list = append(list, Pending{tx.c.Machine(), tx.c.Thread(), tx.typ, tx.phase, tx.attempts})
	}
	return list
}

// Unserved counts commit and unlock requests that are not served, and log entries
// that are not reclaimed.
func (db *DB) Unserved() (commits, logs int) {
	return db.protocol.Unserved(), db.log.Unreclaimed()
}

// Locks are those tried so far.
func (db *DB) Locks() (sum Locks) {
	for _, p := range db.own.All() {
		sum.All, sum.Local = sum.All+p.locks.All, sum.Local+p.locks.Local
	}
	return sum
}

// Locking counts an attempt to take the lock of a record, for a transaction on a machine.
func (db *DB) Locking(machine int, local bool) {
	n := &db.own.Of(machine).locks
	n.All++
	if local {
		n.Local++
	}
}

// OpenLog opens what keeps the copies of records in step. A protocol calls it once, while it opens; one that does not has one copy of each
// record. The protocol says how many copies there are, what its rows look like, and what logs cost.
func (db *DB) OpenLog(o replication.Options) (replication.Scheme, error) {
	if db.opt.Log.Kind.Open == nil {
		return nil, errors.New("log is nil: say what keeps the copies of records, such as redo.Kind")
	}
	if k := db.opt.Log.Kind; k.InPlace != o.InPlace {
		return nil, fmt.Errorf("log %s writes records %s, and the protocol %s: take a log that both allow", k.Name, inPlace[k.InPlace], inPlace[o.InPlace])
	}
	o.Choice, o.Members, o.Note = db.opt.Log, db.opt.Members, db.Note
	o.Store = func(table uint8) store.Table { return db.tables[table].Store }
	log, err := db.opt.Log.Kind.Open(db.cl, o)
	if err == nil {
		db.log = log
	}
	return log, err
}

var inPlace = map[bool]string{true: "in place before the decision", false: "back after it"}

// Log is what keeps the copies of records in step.
func (db *DB) Log() replication.Scheme { return db.log }

// Stuck is what the protocol says of its waiting transactions: a few sentences.
func (db *DB) Stuck(few int) []string {
	if p, ok := db.protocol.(Waiting); ok {
		return p.Stuck(few)
	}
	return nil
}

// known is a bound of the keys that a partition has from the start, if they are
// dense as in Blocks and Stripes.
func known(p store.Partition) uint64 {
	n := uint64(0)
	for m := range p.Servers() {
		n += p.Count(m)
	}
	return n
}

// Table is the store of a table, nil if there is none.
func (db *DB) Table(id uint8) store.Table {
	if t := db.tables[id]; t != nil {
		return t.Store
	}
	return nil
}

// Members says what the machines are there for.
func (db *DB) Members() *membership.Table { return db.opt.Members }
