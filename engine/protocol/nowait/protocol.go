package nowait

import (
	"fmt"

	"drtmx/engine/coordinator"
	"drtmx/engine/history"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// LockLost is the kind of anomaly of a transaction that finds at its end that a lock of its own
// is not there any more.
const LockLost = "lock-lost"

// mostLosses is how many of them each machine notes.
const mostLosses = 4

// protocol is the protocol on one database.
type protocol struct {
	coordinator.Protocol
	coordinator.Configured[Config, Config]
	rpc rpcs

	gaps *coordinator.Gaps

	losses owned.Each[int] // of locks
}

// Open prepares the cluster's machines: log rings and handlers.
func (c Config) Open(db *txn.DB) (txn.Protocol, error) {
	cl := db.Cluster()
	p := &protocol{Protocol: coordinator.Open(db, layout), losses: owned.New[int](db.Cluster().Machines(), nil)}
	var err error
	if p.Configured, err = coordinator.Configure(c, p.fill); err != nil {
		return nil, err
	}
	if err := p.OpenLog(p.Cfg.Replicas); err != nil {
		return nil, err
	}
	if p.gaps, err = coordinator.OpenGaps(&p.Protocol, "nowait.gaps", true); err != nil {
		return nil, err
	}
	p.rpc.lock = cl.Handle("nowait.lock", p.serveLock)
	p.rpc.gap = cl.Handle("nowait.gap", p.serveGap)
	p.rpc.insert = cl.Handle("nowait.insert", p.serveInsert)
	p.rpc.remove = cl.Handle("nowait.remove", p.ServeRemove(p.takeOut))
	p.rpc.upgrade = cl.Handle("nowait.upgrade", p.serveUpgrade)
	p.rpc.commit = cl.Handle("nowait.commit", p.serveCommit)
	p.rpc.release = cl.Handle("nowait.release", p.serveCommit)
	return p, nil
}

// fill checks a configuration, fills it in and resolves every Auto.
func (p *protocol) fill(c Config) (*Config, error) {
	if err := p.KeepReplicas(&c.Settings); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.Resolved()
	return &c, nil
}

// NeedsDrain is that of the configuration and another one.
func (p *protocol) NeedsDrain(to txn.Config) bool {
	c, ok := to.(Config)
	return ok && NeedsDrain(*p.Cfg, c)
}

// Session makes the session in which a coroutine runs its transactions.
func (p *protocol) Session(tx *txn.Tx) txn.Session {
	c := tx.Co()
	s := &session{Session: coordinator.OpenSession[access](&p.Protocol, tx), p: p, cache: p.DB.Cache(c.Machine())}
	r2.AheadWith(c, s)
	return s
}

// Locked says who holds a row.
func (p *protocol) Locked(row []byte) (who string, held bool) {
	who = holders(wire.Get64(row))
	return who, who != ""
}

// lost notes that a lock is gone which a transaction was to hold on a machine, and that c finds it so. One loss leads to others, and
// a report has room for few anomalies: the first ones are noted.
func (p *protocol) lost(c *r2.Co, machine int, held lock, word uint64) {
	n := p.losses.Of(c.Machine())
	if *n++; *n > mostLosses {
		return
	}
	p.DB.Note(c.Machine(), history.Anomaly{Kind: LockLost, Text: fmt.Sprintf("a lock that is %s is released on machine %d, and its word is %#x", held, machine, word)})
}
