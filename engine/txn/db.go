package txn

import (
	"fmt"
	"strings"

	"drtmx/engine/fabric"
	"drtmx/engine/history"
	"drtmx/engine/history/export"
	"drtmx/engine/kv"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
)

const (
	nanosecond = r2.Time(1000) // in picoseconds

	maxReplicas = 8
	cacheSeed   = 7    // of the location cache's hash function
	maxSet      = 1024 // records of a transaction

	// DefaultRingBytes is the size of one log ring: 42 entries of SmallBank. A
	// thread has one at each backup, and few entries are under way in each.
	DefaultRingBytes = 8 << 10
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

// padded lengthens a message with zeros to at least that many bytes.
func padded(b []byte, bytes int) []byte {
	for len(b) < bytes {
		b = add64(b, 0)
	}
	return b
}

// Options of a database.
type Options struct {
	Config Config

	// Servers hold the data: machines 0 to Servers-1. 0 means all machines, the
	// symmetric model of §4.3; fewer leaves the others to clients alone.
	Servers int

	// Costs of the workload's handlers.
	Costs Costs

	// Scale replaces a cost by another one, once when the database is opened: of the
	// costs in code (CostNames) that have no knob. nil keeps them all. It is there to
	// measure what a cost is worth, see engine.Causes.
	Scale Scale

	// RingBytes is the size of a log ring, one per thread of the cluster in the
	// memory of each server. Small rings make transactions wait for reclaims.
	RingBytes uint64

	// Recorder takes in what transactions read and wrote; nil records nothing.
	Recorder *history.Recorder

	// CheckLogs looks into the backups' rings at every commit decision, free of
	// time: the entry must be there.
	CheckLogs bool

	// Conflicts is told of transactions that meet others; nil tells nobody.
	Conflicts Conflicts

	// OnBegin and OnDone are called when a transaction begins its first attempt
	// and when it has ended. The Outcome is valid during the call.
	OnBegin func(machine, thread int, at r2.Time)
	OnDone  func(machine, thread int, o *Outcome)
	// OnAbort is called when a conflict has ended an attempt of a transaction of
	// that type, before the next attempt begins: a request may take longer than
	// whoever counts attempts looks.
	OnAbort func(typ uint8)
}

// DB is a partitioned, replicated database over a cluster.
type DB struct {
	cl      *r2.Cluster
	opt     Options
	cfg     *Config // of transactions that begin now
	servers int
	backups [][]int // by primary
	tables  [256]*table
	order   []*table
	threads [][]*thread
	caches  []*kv.Cache // location caches, by machine
	numbers *kv.Numbers // of all of them
	rings   record.Rings
	ringMR  [][]fabric.MR // by backup machine, by source thread
	costs   Costs
	program program // cycles of the coordinator

	maxPayload int
	nextID     uint64

	// One coroutine at a time uses these, between two of its waits: they stay in
	// the host's cache.
	seqBuf [8]byte
	req    []byte // of an RPC
	entry  []byte // of the log, of transaction logged
	logged record.TxnID
	out    Outcome
	hist   historyOf

	history  *export.Writer // nil: nobody asked for it
	exported export.Attempt

	// Oracles and counters, free of time.
	clients     []*Client         // by coroutine, nil where there is none
	inFlight    int               // transactions between begin and end
	idle        metrics.Breakdown // time that belongs to no transaction
	commitsOpen int               // commit and unlock requests not served yet
	logsOpen    int               // log entries not reclaimed yet
	ringFull    uint64
	ringFullNS  int64
	held        int // thousandths, see Tx.hold
	locks       Locks
}

// Locks counts locks that transactions tried to take, and those among them of
// records on their own machine.
type Locks struct{ All, Local uint64 }

// historyOf is the record of one transaction while it is made.
type historyOf struct {
	txn    history.Txn
	reads  []history.Read
	writes []history.Write
	// Of their values.
	readSums, writeSums []uint64
}

// table is a table with what transactions ask of it often.
type table struct {
	id       uint8
	name     string
	store    *kv.Table
	rowBytes int
	written  int    // leading bytes of a value that an update writes back
	constant bool   // nobody writes it
	still    bool   // nor are records inserted or deleted: a CPU's read need not meet others' accesses in their true order
	cached   bool   // location caches have it
	touched  keySet // of the keys from the start
}

// thread is what the coroutines of one worker share.
type thread struct {
	machine, thread int
	rings           []record.Ring // by backup machine
	number          uint32        // of the last logged transaction
	txs             []*Tx         // by coroutine
}

func (t *thread) owner(c *r2.Co) record.Owner {
	return record.Owner{Machine: uint16(t.machine), Thread: uint8(t.thread), Coroutine: uint16(c.Index())}
}

func ownerOf(p r2.Peer) record.Owner {
	return record.Owner{Machine: uint16(p.Machine), Thread: uint8(p.Thread), Coroutine: uint16(p.Coroutine)}
}

// Open prepares the cluster's machines: log rings and handlers. Tables follow
// by AddTable.
func Open(cl *r2.Cluster, o Options) (*DB, error) {
	if o.Servers == 0 {
		o.Servers = cl.Machines()
	}
	if o.Servers < 1 || o.Servers > cl.Machines() {
		return nil, fmt.Errorf("servers %d: from 1 to the number of machines, %d", o.Servers, cl.Machines())
	}
	if o.RingBytes == 0 {
		o.RingBytes = DefaultRingBytes
	}
	db := &DB{cl: cl, opt: o, servers: o.Servers, caches: make([]*kv.Cache, cl.Machines()), entry: make([]byte, 0, record.MaxEntryBytes), maxPayload: cl.MaxPayload()}
	db.program, db.costs, db.ringFullNS = o.Scale.program(coordinator), o.Scale.handlers(o.Costs), int64(o.Scale.of(CostFullLog, defaultRingFullNS))
	db.held = o.Scale.of(CostHeld, asLong)
	cfg, err := db.prepare(o.Config)
	if err != nil {
		return nil, err
	}
	db.cfg = cfg
	for m := range db.servers {
		var list []int
		for i := 1; i < cfg.Replicas; i++ {
			list = append(list, (m+i)%db.servers)
		}
		db.backups = append(db.backups, list)
	}
	if err := db.openRings(); err != nil {
		return nil, err
	}
	cl.Handle(rpcFetch, db.serveFetch)
	cl.Handle(rpcLock, db.serveLock)
	cl.Handle(rpcValidate, db.serveValidate)
	cl.Handle(rpcLog, db.serveLog)
	cl.Handle(rpcCommit, db.serveCommit)
	cl.Handle(rpcUnlock, db.serveUnlock)
	cl.Handle(rpcReclaim, db.serveReclaim)
	cl.OnReceipt(rpcReclaim, db.reclaimed)
	cl.AheadOf(rpcReclaim, db.aheadReclaim)
	return db, nil
}

// prepare checks a configuration and fills it in.
func (db *DB) prepare(c Config) (*Config, error) {
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Replicas > db.servers {
		return nil, fmt.Errorf("replicas %d: each replica needs a server of its own, there are %d", c.Replicas, db.servers)
	}
	if db.cfg != nil && c.Replicas != db.cfg.Replicas {
		return nil, fmt.Errorf("replicas %d: fixed at %d when the database was opened; reset to change it", c.Replicas, db.cfg.Replicas)
	}
	c = c.Resolved()
	db.opt.Scale.waits(&c)
	return &c, nil
}

// openRings allocates one ring per source thread in each server's memory, on
// the socket of the worker that applies its entries.
func (db *DB) openRings() error {
	cl := db.cl
	db.rings = record.Rings{Machines: cl.Machines(), Threads: 1, Bytes: db.opt.RingBytes}
	if err := db.rings.Check(); err != nil {
		return err
	}
	threads := 0 // most of any machine
	for m := range cl.Machines() {
		var list []*thread
		for t := range cl.Threads(m) {
			th := &thread{machine: m, thread: t}
			for range db.servers {
				th.rings = append(th.rings, db.rings.NewRing())
			}
			list = append(list, th)
			if err := (record.Owner{Machine: uint16(m), Thread: uint8(min(t, 255))}).Check(); err != nil {
				return err
			}
		}
		db.threads = append(db.threads, list)
		threads = max(threads, len(list))
	}
	if db.cfg.Replicas == 1 {
		return nil
	}
	for m := range db.servers {
		var mrs []fabric.MR
		for t := range threads {
			_, home := cl.Fabric().Machine(m).Place(t % cl.Threads(m))
			a, err := cl.Mem(m).Alloc(fabric.Alloc{Name: "txn.log", Bytes: db.rings.Total(), Socket: home})
			if err != nil {
				return fmt.Errorf("log rings of machine %d: %w", m, err)
			}
			mrs = append(mrs, cl.Mem(m).Register(a, db.rings.Total(), fabric.RemoteWrite))
		}
		db.ringMR = append(db.ringMR, mrs)
	}
	return nil
}

// ringAddr is where an entry of a source thread lies in a backup's memory.
func (db *DB) ringAddr(backup, machine, thread int, pos uint64) r2.Addr {
	return db.ringMR[backup][thread].Addr + r2.Addr(db.rings.Offset(machine, 0)+pos%db.rings.Bytes)
}

func (db *DB) ringLoc(backup int, th *thread, pos uint64) r2.Loc {
	return r2.Loc{Machine: backup, RKey: db.ringMR[backup][th.thread].RKey, Addr: db.ringAddr(backup, th.machine, th.thread, pos)}
}

// TableName is the name of the table with a number, "" if there is none.
func (db *DB) TableName(id uint8) string {
	if t := db.tables[id]; t != nil {
		return t.name
	}
	return ""
}

// AddTable creates a table, spread over the servers by p.
func (db *DB) AddTable(spec kv.Spec, p kv.Partition) (*kv.Table, error) {
	for _, x := range db.caches {
		if x != nil {
			return nil, fmt.Errorf("table %s: the location caches exist already; add all tables before the first client", spec.Name)
		}
	}
	if db.tables[spec.ID] != nil {
		return nil, fmt.Errorf("table %d (%s): the number is taken by %s", spec.ID, spec.Name, db.tables[spec.ID].name)
	}
	if p.Servers() != db.servers {
		return nil, fmt.Errorf("table %s: partitioned over %d servers, there are %d", spec.Name, p.Servers(), db.servers)
	}
	store, err := kv.NewTable(db.cl, spec, kv.Placement{Partition: p, Replicas: db.cfg.Replicas})
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", spec.Name, err)
	}
	t := &table{id: spec.ID, name: spec.Name, store: store, rowBytes: store.RowBytes(), written: spec.Mutable, constant: spec.Constant, still: spec.Constant && spec.Fixed, cached: !spec.Local, touched: newKeySet(keys(p))}
	if t.written == 0 {
		t.written = spec.ValueBytes
	}
	db.tables[spec.ID] = t
	db.order = append(db.order, t)
	return store, nil
}

func (db *DB) tableNames() string {
	var names []string
	for _, t := range db.order {
		names = append(names, fmt.Sprintf("%d %s", t.id, t.name))
	}
	return strings.Join(names, ", ")
}

// Servers is the number of machines that hold data.
func (db *DB) Servers() int { return db.servers }

// Cluster is the framework below.
func (db *DB) Cluster() *r2.Cluster { return db.cl }

// Config is the configuration of transactions that begin now, resolved.
func (db *DB) Config() Config { return *db.cfg }

// SetConfig changes the configuration of transactions that begin from now on.
// If NeedsDrain, the caller has to Pause, wait until InFlight is 0, change and
// Resume.
func (db *DB) SetConfig(c Config) error {
	if c.Replicas == 0 {
		c.Replicas = db.cfg.Replicas
	}
	cfg, err := db.prepare(c)
	if err != nil {
		return err
	}
	for _, x := range db.caches {
		if x != nil && x.Bytes() != cfg.CacheBytes {
			if err := x.Resize(cfg.CacheBytes); err != nil {
				return err
			}
		}
	}
	db.cfg = cfg
	return nil
}

// Cache is the location cache of a machine. All tables have to be there before
// it is first asked for.
func (db *DB) Cache(machine int) *kv.Cache {
	if db.caches[machine] == nil {
		x, err := kv.NewCache(db.cl, machine, db.numbered(), db.cfg.CacheBytes, cacheSeed)
		if err != nil {
			panic(fmt.Sprintf("txn: location cache that Validate let pass: %v", err))
		}
		db.caches[machine] = x
	}
	return db.caches[machine]
}

// numbered numbers the records that caches may have.
func (db *DB) numbered() *kv.Numbers {
	if db.numbers == nil {
		var tables []*kv.Table
		for _, t := range db.order {
			if t.cached {
				tables = append(tables, t.store)
			}
		}
		x, err := kv.NumberRecords(tables)
		if err != nil {
			panic(fmt.Sprintf("txn: %v", err)) // AddTable refuses a second table of an id
		}
		db.numbers = x
	}
	return db.numbers
}

// Pause holds new transactions back at their gate.
func (db *DB) Pause() { db.cl.ShutGate() }

// Resume lets them go on.
func (db *DB) Resume() { db.cl.OpenGate() }

// InFlight counts what a drain has to wait for: transactions that have begun
// and not ended, commit and unlock requests not served, log entries not
// reclaimed. Passive WRITEs may still be on their way when it is 0; they need
// nobody's help and land within microseconds.
func (db *DB) InFlight() int { return db.inFlight + db.commitsOpen + db.logsOpen }

// Pending is a transaction that has begun and not ended.
type Pending struct {
	Machine, Thread int
	Type            uint8
	Phase           metrics.Phase
	Attempts        int // begun, so that the last is under way
}

// Pending lists the transactions that have begun and not ended, by coroutine.
func (db *DB) Pending() []Pending {
	var list []Pending
	for _, cl := range db.clients {
		if cl != nil && cl.tx.open {
			tx := &cl.tx
			list = append(list, Pending{tx.th.machine, tx.th.thread, tx.typ, tx.phase, tx.attempts})
		}
	}
	return list
}

// Unserved counts commit and unlock requests that are not served, and log entries
// that are not reclaimed.
func (db *DB) Unserved() (commits, logs int) { return db.commitsOpen, db.logsOpen }

// Locks are those tried so far.
func (db *DB) Locks() Locks { return db.locks }

// RingFull counts how often a transaction found a log ring full.
func (db *DB) RingFull() uint64 { return db.ringFull }

// covered charges a handler by Table 4-2.
func (db *DB) covered(c *r2.Co, cycles int) {
	if cycles > 0 {
		c.Covered(cycles)
	}
}

// keys is a bound of the keys that a partition has from the start, if they are
// dense as in Blocks and Stripes.
func keys(p kv.Partition) uint64 {
	n := uint64(0)
	for m := range p.Servers() {
		n += p.Count(m)
	}
	return n
}

// Table is the store of a table, nil if there is none.
func (db *DB) Table(id uint8) *kv.Table {
	if t := db.tables[id]; t != nil {
		return t.store
	}
	return nil
}
