package nowait

import (
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/history"
	"drtmx/engine/locking"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// LockLost is the kind of anomaly of a transaction that finds at its end that a lock of its own
// is not there any more.
const LockLost = "lock-lost"

// mostLosses is how many of them are noted.
const mostLosses = 4

// protocol is the protocol on one database.
type protocol struct {
	db         *txn.DB
	cl         *r2.Cluster
	cfg        *Config // of transactions that begin now
	logs       *replication.Logs
	rpc        rpcs
	program    locking.Program
	maxPayload int

	gaps []host.MR // the lock words of gaps, by server

	commitsOpen int // commit and release requests not served yet
	losses      int // of locks
}

// Open prepares the cluster's machines: log rings and handlers.
func (c Config) Open(db *txn.DB) (txn.Protocol, error) {
	cl, o := db.Cluster(), db.Options()
	p := &protocol{db: db, cl: cl, program: locking.Coordinator(o.Scale), maxPayload: cl.MaxPayload()}
	cfg, err := p.prepare(c)
	if err != nil {
		return nil, err
	}
	p.cfg = cfg
	p.logs, err = replication.Open(cl, replication.Options{
		Servers: db.Servers(), Replicas: cfg.Replicas, RingBytes: o.RingBytes, FullNS: int64(o.Scale.Of(locking.CostFullLog, replication.DefaultFullNS)),
		LogCycles: o.Scale.Of(locking.CostServeLog, o.Costs.Logging), ReclaimCycles: p.program.Reclaim, ReclaimRecordCycles: p.program.ReclaimRecord, EntryBytes: o.Costs.Payload.Logging,
		Store: func(table uint8) store.Table { return db.TableOf(table).Store },
		Note:  db.Note,
	})
	if err != nil {
		return nil, err
	}
	if err := p.openGaps(); err != nil {
		return nil, err
	}
	p.rpc.lock = cl.Handle("nowait.lock", p.serveLock)
	p.rpc.gap = cl.Handle("nowait.gap", p.serveGap)
	p.rpc.insert = cl.Handle("nowait.insert", p.serveInsert)
	p.rpc.remove = cl.Handle("nowait.remove", p.serveRemove)
	p.rpc.upgrade = cl.Handle("nowait.upgrade", p.serveUpgrade)
	p.rpc.commit = cl.Handle("nowait.commit", p.serveCommit)
	p.rpc.release = cl.Handle("nowait.release", p.serveCommit)
	return p, nil
}

// prepare checks a configuration, fills it in and resolves every Auto.
func (p *protocol) prepare(c Config) (*Config, error) {
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
	c = c.Resolved()
	return &c, nil
}

// Common is what all protocols say.
func (c Config) Common() txn.Settings { return c.Settings }

func (p *protocol) Config() txn.Config { return *p.cfg }

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
	p.cfg = now
	return nil
}

// NeedsDrain is that of the configuration and another one.
func (p *protocol) NeedsDrain(to txn.Config) bool {
	c, ok := to.(Config)
	return ok && NeedsDrain(*p.cfg, c)
}

// Session makes the session in which a coroutine runs its transactions.
func (p *protocol) Session(tx *txn.Tx) txn.Session {
	c := tx.Co()
	s := &session{p: p, tx: tx, c: c, cache: p.db.Cache(c.Machine()), log: p.logs.Writer(c)}
	r2.AheadWith(c, s)
	return s
}

// Header is a lock word.
func (p *protocol) Header() record.Header {
	return record.Header{Bytes: valueAt, Own: valueAt, Step: 2}
}

// Unserved counts what ended transactions have left for others to do.
func (p *protocol) Unserved() (commits, logs int) { return p.commitsOpen, p.logs.Unreclaimed() }

// Locked says who holds a row.
func (p *protocol) Locked(row []byte) (who string, held bool) {
	who = holders(wire.Get64(row[wordAt:]))
	return who, who != ""
}

// Backups are the machines that have copies of the records of a primary.
func (p *protocol) Backups(primary int) []int { return p.logs.Backups(primary) }

// LogFull counts how often a transaction found a log ring full.
func (p *protocol) LogFull() uint64 { return p.logs.Full() }

// lost notes that a lock is gone which a transaction was to hold on a machine. One loss leads to others, and
// a report has room for few anomalies: the first ones are noted.
func (p *protocol) lost(machine int, held lock, word uint64) {
	if p.losses++; p.losses > mostLosses {
		return
	}
	p.db.Note(history.Anomaly{Kind: LockLost, Text: fmt.Sprintf("a lock that is %s is released on machine %d, and its word is %#x", held, machine, word)})
}
