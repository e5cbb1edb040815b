package occ

import (
	"drtmx/engine/coordinator"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// protocol is the protocol on one database.
type protocol struct {
	coordinator.Protocol
	coordinator.Host
	coordinator.Configured[Config, Config]
	rpc        rpcs
	costs      txn.Costs
	off        offsets // in rows
	insertBack int     // bytes of an item in the answer to inserts

	changed [][]gaps // by machine and thread: by the request that its handler serves
}

// Open prepares the cluster's machines: log rings and handlers.
func (c Config) Open(db *txn.DB) (txn.Protocol, error) {
	cl, o := db.Cluster(), db.Options()
	header, back := record.LockSeq, coordinator.InsertBack
	if c.Timestamps.Versions() {
		header, back = record.Versioned, insertBackVersioned
		header.Inline = c.Timestamps.Inline
	}
	p := &protocol{Protocol: coordinator.Open(db, header), costs: scaledHandlers(o.Scale, o.Costs), insertBack: back, off: offsetsOf(&header)}
	var err error
	if p.Configured, err = coordinator.Configure(c, p.fill); err != nil {
		return nil, err
	}
	if err := p.OpenLog(p.Cfg.Replicas); err != nil {
		return nil, err
	}
	for m := range cl.Machines() {
		p.changed = append(p.changed, make([]gaps, cl.Threads(m)))
	}
	p.rpc.fetch = cl.Handle("occ.fetch", p.serveFetch)
	lock, validate, commit, unlock := p.serveLock, p.serveValidate, p.serveCommit, p.serveUnlock
	if p.H.HasVersions() {
		lock, validate, commit, unlock = p.lockVersions, p.validateVersions, p.installVersions, p.unlockVersions
	}
	p.rpc.lock = cl.Handle("occ.lock", lock)
	p.rpc.validate = cl.Handle("occ.validate", validate)
	p.rpc.commit = cl.Handle("occ.commit", commit)
	p.rpc.unlock = cl.Handle("occ.unlock", unlock)
	p.rpc.insert = cl.Handle("occ.insert", p.serveInsert)
	p.rpc.remove = cl.Handle("occ.remove", p.ServeRemove(p.takeOut))
	if p.H.HasVersions() {
		err = p.openVersions()
	}
	return p, err
}

// fill checks a configuration and fills it in.
func (p *protocol) fill(c Config) (*Config, error) {
	if err := p.KeepReplicas(&c.Settings); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = p.resolved(c)
	c.ReadRetryNS = int64(p.DB.Options().Scale.Of(CostReadRetry, int(c.ReadRetryNS)))
	if p.MV != nil {
		if err := p.MV.Follow(c.Timestamps); err != nil {
			return nil, err
		}
		p.MV.ReadsBy(c.readsVersions())
	}
	return &c, nil
}

// resolved has no phase that is auto. While rows have versions handlers claim and install them, also where no scheme stamps them any more:
// the room for an old version is reserved under the lock.
func (p *protocol) resolved(c Config) Config {
	c = c.Resolved()
	for _, x := range Phases {
		if f := x.Field(&c.Primitives); p.H.HasVersions() && !withVersions(x.ID, *f) {
			*f = TwoSided
		}
	}
	return c
}

// Session makes the session in which a coroutine runs its transactions.
func (p *protocol) Session(tx *txn.Tx) txn.Session {
	c := tx.Co()
	s := &session{Session: coordinator.OpenSession[access](&p.Protocol, tx), Stamped: coordinator.OpenStamped(&p.Host, tx), p: p, cache: p.DB.Cache(c.Machine())}
	r2.AheadWith(c, s)
	return s
}

// auditConflict notes at which row a handler has met another transaction: the simulator knows, and the reply does not say.
func auditConflict(c *r2.Co, row r2.Addr) { c.Annotate(uint64(row)) }

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
