package twopl

import (
	"fmt"

	"drtmx/engine/locking"
	"drtmx/engine/metrics"
	"drtmx/engine/mvcc"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// protocol is the protocol on one database.
type protocol struct {
	db         *txn.DB
	cl         *r2.Cluster
	cfg        *running // of transactions that begin now, and of servers
	logs       *replication.Logs
	rpc        rpcs
	program    locking.Program
	maxPayload int
	tables     []*table // by server

	h              record.Header // of rows
	seqAt, valueAt r2.Addr       // in them
	stampsBack     int           // what a lock says of timestamps
	mv             *mvcc.Store   // nil: records have one version

	commitsOpen int // messages that end attempts, not served yet
	counts      counts
}

// counts are of what became of lock requests that could not be granted at once.
type counts struct {
	waits, timeouts, deadlocks, refused uint64
}

// Open prepares the cluster's machines: log rings, lock tables and handlers.
func (c Config) Open(db *txn.DB) (txn.Protocol, error) {
	cl, o := db.Cluster(), db.Options()
	p := &protocol{db: db, cl: cl, program: locking.Coordinator(o.Scale), maxPayload: cl.MaxPayload(), h: record.LockSeq}
	if c.Timestamps.Versions() {
		p.h, p.stampsBack = record.Versioned, stampsBack
	}
	p.seqAt, p.valueAt = r2.Addr(p.h.Stamp), r2.Addr(p.h.Bytes)
	cfg, err := p.prepare(c)
	if err != nil {
		return nil, err
	}
	p.cfg = cfg
	p.logs, err = replication.Open(cl, replication.Options{
		Stamped: p.h.HasVersions(),
		Servers: db.Servers(), Replicas: cfg.Replicas, RingBytes: o.RingBytes, FullNS: int64(o.Scale.Of(locking.CostFullLog, replication.DefaultFullNS)),
		LogCycles: o.Scale.Of(locking.CostServeLog, o.Costs.Logging), ReclaimCycles: p.program.Reclaim, ReclaimRecordCycles: p.program.ReclaimRecord, EntryBytes: o.Costs.Payload.Logging,
		Store: func(table uint8) store.Table { return db.TableOf(table).Store },
		Note:  db.Note,
	})
	if err != nil {
		return nil, err
	}
	if err := p.openTables(); err != nil {
		return nil, err
	}
	p.rpc.lock = cl.HandleDeferring("twopl.lock", p.serveLock)
	p.rpc.insert = cl.HandleDeferring("twopl.insert", p.serveInsert)
	p.rpc.commit = cl.Handle("twopl.commit", p.serveCommit)
	if p.h.HasVersions() {
		err = p.openVersions()
	}
	return p, err
}

// running is a configuration with what follows from it.
type running struct {
	Config
	waits       waitRule
	longest     r2.Time // that a message may wait for locks
	read, write int     // cycles of a record
}

// prepare checks a configuration and fills it in.
func (p *protocol) prepare(c Config) (*running, error) {
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Replicas > p.db.Servers() {
		return nil, fmt.Errorf("replicas %d: each replica needs a server of its own, there are %d", c.Replicas, p.db.Servers())
	}
	if p.cfg != nil && c.Replicas != p.cfg.Replicas {
		return nil, fmt.Errorf("replicas %d: fixed at %d when the database was opened; reset to change it", c.Replicas, p.cfg.Replicas)
	}
	r := &running{Config: c, waits: alwaysWaits, longest: r2.Time(c.TimeoutNS) * r2.Nanosecond}
	if c.Deadlock == WaitDie {
		r.waits, r.longest = mayWait, MaxTimeoutNS*r2.Nanosecond
	}
	mhz := p.cl.Fabric().Machine(0).CPU.MHz
	cycles := func(ns int64) int { return int(max(ns, 0) * mhz * int64(c.HostScale) / 1_000_000) }
	r.read, r.write = cycles(c.ReadNS), cycles(c.WriteNS)
	return r, nil
}

// cycles are what a request takes of a server's core.
func (p *protocol) cycles(r *request) (n int) {
	for b := r.items; len(b) >= lockItem; b = b[lockItem:] {
		if r.inserts || wire.Get64(b)&wantsWrite != 0 {
			n += p.cfg.write
		} else {
			n += p.cfg.read
		}
	}
	return n
}

// Common is what all protocols say.
func (c Config) Common() txn.Settings { return c.Settings }

func (p *protocol) Config() txn.Config { return p.cfg.Config }

func (p *protocol) Set(cfg txn.Config) error {
	c, ok := cfg.(Config)
	if !ok {
		return fmt.Errorf("configuration of another protocol, %T: reset to change the protocol", cfg)
	}
	if c.Replicas == 0 {
		c.Replicas = p.cfg.Replicas
	}
	now, err := p.prepare(c)
	if err != nil {
		return err
	}
	if err := p.mv.Follow(c.Timestamps); err != nil {
		return err
	}
	p.cfg = now
	return nil
}

// NeedsReset is that of the records' versions.
func (p *protocol) NeedsReset(to txn.Config) (knob, why string) {
	if c, ok := to.(Config); ok {
		return p.mv.NeedsReset(c.Timestamps)
	}
	return "", ""
}

// NeedsDrain is that of the configuration and another one.
func (p *protocol) NeedsDrain(to txn.Config) bool {
	c, ok := to.(Config)
	return ok && (NeedsDrain(p.cfg.Config, c) || p.mv != nil && p.mv.Changes(c.Timestamps))
}

// Session makes the session in which a coroutine runs its transactions.
func (p *protocol) Session(tx *txn.Tx) txn.Session {
	c := tx.Co()
	s := &session{p: p, tx: tx, c: c, log: p.logs.Writer(c)}
	r2.AheadWith(c, s)
	return s
}

// Header is a lock word and a sequence, or that of records with versions.
func (p *protocol) Header() record.Header { return p.h }

// Unserved counts what ended transactions have left for others to do.
func (p *protocol) Unserved() (commits, logs int) { return p.commitsOpen, p.logs.Unreclaimed() }

// Locked says who holds a row.
func (p *protocol) Locked(row []byte) (who string, held bool) {
	who = holders(record.Lock(row))
	return who, who != ""
}

// Backups are the machines that have copies of the records of a primary.
func (p *protocol) Backups(primary int) []int { return p.logs.Backups(primary) }

// LogFull counts how often a transaction found a log ring full.
func (p *protocol) LogFull() uint64 { return p.logs.Full() }

// What the locks show of themselves.
var (
	lockWaits     = metrics.NewGauge(metrics.Gauge{Part: "locks", Name: "waits", Label: "lock requests that wait", Unit: "/s", Kind: metrics.Rate})
	lockTimeouts  = metrics.NewGauge(metrics.Gauge{Part: "locks", Name: "timeouts", Label: "lock waits timed out", Unit: "/s", Kind: metrics.Rate})
	lockDeadlocks = metrics.NewGauge(metrics.Gauge{Part: "locks", Name: "deadlocks", Label: "upgrades in deadlock", Unit: "/s", Kind: metrics.Rate})
	lockRefused   = metrics.NewGauge(metrics.Gauge{Part: "locks", Name: "refused", Label: "lock requests refused at once", Unit: "/s", Kind: metrics.Rate})
)

// Gauges reads them.
func (p *protocol) Gauges(r *metrics.Readings) {
	r.Add(lockWaits, float64(p.counts.waits), 0)
	r.Add(lockTimeouts, float64(p.counts.timeouts), 0)
	r.Add(lockDeadlocks, float64(p.counts.deadlocks), 0)
	r.Add(lockRefused, float64(p.counts.refused), 0)
	p.mv.Gauges(r)
}
