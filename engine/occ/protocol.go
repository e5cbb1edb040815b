package occ

import (
	"fmt"

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
	cfg        *Config // of transactions that begin now, with every Auto resolved
	logs       *replication.Logs
	rpc        rpcs
	costs      txn.Costs
	program    program // cycles of the coordinator
	maxPayload int
	h          record.Header  // of rows
	insertBack int            // bytes of an item in the answer to inserts
	mv         *mvcc.Store    // nil: records have one version
	sessions   [][][]*session // by machine, thread and coroutine

	changed [][]gaps // by machine and thread: by the request that its handler serves

	commitsOpen int // commit and unlock requests not served yet
}

// Open prepares the cluster's machines: log rings and handlers.
func (c Config) Open(db *txn.DB) (txn.Protocol, error) {
	cl, o := db.Cluster(), db.Options()
	p := &protocol{db: db, cl: cl, costs: scaledHandlers(o.Scale, o.Costs), program: scaledProgram(o.Scale, coordinator), maxPayload: cl.MaxPayload(), h: record.LockSeq, insertBack: insertBack}
	if c.Timestamps.Versions() {
		p.h, p.insertBack = record.Versioned, insertBackVersioned
		p.h.Inline = c.Inline
	}
	cfg, err := p.prepare(c)
	if err != nil {
		return nil, err
	}
	p.cfg = cfg
	p.logs, err = replication.Open(cl, replication.Options{
		Stamped: p.h.HasVersions(),
		Servers: db.Servers(), Replicas: cfg.Replicas, RingBytes: o.RingBytes, FullNS: int64(o.Scale.Of(CostFullLog, replication.DefaultFullNS)),
		LogCycles: p.costs.Logging, ReclaimCycles: p.program.reclaim, ReclaimRecordCycles: p.program.reclaimRecord, EntryBytes: p.costs.Payload.Logging,
		Store: func(table uint8) store.Table { return db.TableOf(table).Store },
		Note:  db.Note,
	})
	if err != nil {
		return nil, err
	}
	for m := range cl.Machines() {
		p.sessions = append(p.sessions, make([][]*session, cl.Threads(m)))
		p.changed = append(p.changed, make([]gaps, cl.Threads(m)))
	}
	p.rpc.fetch = cl.Handle("occ.fetch", p.serveFetch)
	lock, validate, commit, unlock := p.serveLock, p.serveValidate, p.serveCommit, p.serveUnlock
	if p.h.HasVersions() {
		lock, validate, commit, unlock = p.lockVersions, p.validateVersions, p.installVersions, p.unlockVersions
	}
	p.rpc.lock = cl.Handle("occ.lock", lock)
	p.rpc.validate = cl.Handle("occ.validate", validate)
	p.rpc.commit = cl.Handle("occ.commit", commit)
	p.rpc.unlock = cl.Handle("occ.unlock", unlock)
	p.rpc.insert = cl.Handle("occ.insert", p.serveInsert)
	p.rpc.remove = cl.Handle("occ.remove", p.serveRemove)
	if p.h.HasVersions() {
		err = p.openVersions()
	}
	return p, err
}

// prepare checks a configuration and fills it in.
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
	c.ReadRetryNS = int64(p.db.Options().Scale.Of(CostReadRetry, int(c.ReadRetryNS)))
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
	if err := p.mv.Follow(c.Timestamps); err != nil {
		return err
	}
	if p.mv != nil {
		p.mv.ReadsBy(now.readsVersions())
	}
	p.cfg = now
	return nil
}

// Session makes the session in which a coroutine runs its transactions.
func (p *protocol) Session(tx *txn.Tx) txn.Session {
	c := tx.Co()
	s := &session{p: p, tx: tx, c: c, cache: p.db.Cache(c.Machine()), log: p.logs.Writer(c)}
	r2.AheadWith(c, s)
	list := &p.sessions[c.Machine()][c.Thread()]
	for len(*list) <= c.Index() {
		*list = append(*list, nil)
	}
	(*list)[c.Index()] = s
	return s
}

// Header is a lock and a sequence, or that of records with versions.
func (p *protocol) Header() record.Header { return p.h }

// Unserved counts what ended transactions have left for others to do.
func (p *protocol) Unserved() (commits, logs int) { return p.commitsOpen, p.logs.Unreclaimed() }

// Locked says who holds a row.
func (p *protocol) Locked(row []byte) (who string, held bool) {
	o, held := record.Holder(record.Lock(row))
	return fmt.Sprintf("machine %d thread %d coroutine %d", o.Machine, o.Thread, o.Coroutine), held
}

// Backups are the machines that have copies of the records of a primary.
func (p *protocol) Backups(primary int) []int { return p.logs.Backups(primary) }

// LogFull counts how often a transaction found a log ring full.
func (p *protocol) LogFull() uint64 { return p.logs.Full() }

// auditConflict is Tx.Met for a handler that finds the conflict: the reply does not say at
// which record it was, so the simulator looks up the session that asked. Nothing of it takes time
// or is on the wire.
func (p *protocol) auditConflict(from r2.Peer, machine int, row r2.Addr) {
	list := p.sessions[from.Machine][from.Thread]
	if from.Coroutine < 0 || from.Coroutine >= len(list) || list[from.Coroutine] == nil {
		return
	}
	s := list[from.Coroutine]
	for _, a := range s.set {
		if a.loc.Addr == row && int(a.Machine) == machine {
			s.tx.Met(&a.Access, 0)
			return
		}
	}
}

// chargeHandler charges a handler by Table 4-2.
func chargeHandler(c *r2.Co, cycles int) {
	if cycles > 0 {
		c.ChargeHandler(cycles)
	}
}

// padded lengthens a message with zeros to at least that many bytes.
func padded(b []byte, bytes int) []byte {
	for len(b) < bytes {
		b = wire.Add64(b, 0)
	}
	return b
}
