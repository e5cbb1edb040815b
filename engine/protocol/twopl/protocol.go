package twopl

import (
	"drtmx/engine/coordinator"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// protocol is the protocol on one database.
type protocol struct {
	coordinator.Protocol
	coordinator.Host
	coordinator.Configured[Config, running]
	rpc    rpcs
	tables []*table // by server
	gaps   *coordinator.Gaps

	seqAt, valueAt r2.Addr // in them
	stampsBack     int     // what a lock says of timestamps
}

// counts are of what became of lock requests that could not be granted at once.
type counts struct {
	waits, timeouts, deadlocks, refused uint64
}

// Open prepares the cluster's machines: log rings, lock tables and handlers.
func (c Config) Open(db *txn.DB) (txn.Protocol, error) {
	cl, header, back := db.Cluster(), record.LockSeq, 0
	if c.Timestamps.Versions() {
		header, back = record.Versioned, stampsBack
	}
	p := &protocol{Protocol: coordinator.Open(db, header), seqAt: r2.Addr(header.Stamp), valueAt: r2.Addr(header.Bytes), stampsBack: back}
	var err error
	if p.Configured, err = coordinator.Configure(c, p.fill); err != nil {
		return nil, err
	}
	if err := p.OpenLog(p.Cfg.Replicas); err != nil {
		return nil, err
	}
	if err := p.openTables(); err != nil {
		return nil, err
	}
	p.rpc.lock = cl.HandleDeferring("twopl.lock", p.serveLock)
	p.rpc.insert = cl.HandleDeferring("twopl.insert", p.serveInsert)
	p.rpc.commit = cl.Handle("twopl.commit", p.serveCommit)
	if p.H.HasVersions() {
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

// fill checks a configuration and fills it in.
func (p *protocol) fill(c Config) (*running, error) {
	if err := p.KeepReplicas(&c.Settings); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	r := &running{Config: c, waits: alwaysWaits, longest: r2.Time(c.TimeoutNS) * r2.Nanosecond}
	if c.Deadlock == WaitDie {
		r.waits, r.longest = mayWait, MaxTimeoutNS*r2.Nanosecond
	}
	mhz := p.Cl.Fabric().Machine(0).CPU.MHz
	cycles := func(ns int64) int { return int(max(ns, 0) * mhz * int64(c.HostScale) / 1_000_000) }
	r.read, r.write = cycles(c.ReadNS), cycles(c.WriteNS)
	return r, p.MV.Follow(c.Timestamps)
}

// cycles are what a request takes of a server's core.
func (p *protocol) cycles(r *request) (n int) {
	for b := r.items; len(b) >= coordinator.LockItem; b = b[coordinator.LockItem:] {
		if r.inserts || wire.Get64(b)&coordinator.WantsWrite != 0 {
			n += p.Cfg.write
		} else {
			n += p.Cfg.read
		}
	}
	return n
}

func (p *protocol) Config() txn.Config { return p.Cfg.Config }

// NeedsDrain is that of the configuration and another one.
func (p *protocol) NeedsDrain(to txn.Config) bool {
	c, ok := to.(Config)
	return ok && (NeedsDrain(p.Cfg.Config, c) || p.ChangesScheme(&c.Settings))
}

// Session makes the session in which a coroutine runs its transactions.
func (p *protocol) Session(tx *txn.Tx) txn.Session {
	c := tx.Co()
	s := &session{Session: coordinator.OpenSession[access](&p.Protocol, tx), Stamped: coordinator.OpenStamped(&p.Host, tx), p: p}
	r2.AheadWith(c, s)
	return s
}

// Locked says who holds a row.
func (p *protocol) Locked(row []byte) (who string, held bool) {
	who = holders(p.H.LockOf(row))
	return who, who != ""
}

// What the locks show of themselves.
var (
	lockWaits     = metrics.NewGauge(metrics.Gauge{Part: "locks", Name: "waits", Label: "lock requests that wait", Unit: "/s", Kind: metrics.Rate})
	lockTimeouts  = metrics.NewGauge(metrics.Gauge{Part: "locks", Name: "timeouts", Label: "lock waits timed out", Unit: "/s", Kind: metrics.Rate})
	lockDeadlocks = metrics.NewGauge(metrics.Gauge{Part: "locks", Name: "deadlocks", Label: "upgrades in deadlock", Unit: "/s", Kind: metrics.Rate})
	lockRefused   = metrics.NewGauge(metrics.Gauge{Part: "locks", Name: "refused", Label: "lock requests refused at once", Unit: "/s", Kind: metrics.Rate})
)

// Gauges reads them.
func (p *protocol) Gauges(r *metrics.Readings) {
	var n counts
	for _, t := range p.tables {
		c := &t.counts
		n = counts{n.waits + c.waits, n.timeouts + c.timeouts, n.deadlocks + c.deadlocks, n.refused + c.refused}
	}
	r.Add(lockWaits, float64(n.waits), 0)
	r.Add(lockTimeouts, float64(n.timeouts), 0)
	r.Add(lockDeadlocks, float64(n.deadlocks), 0)
	r.Add(lockRefused, float64(n.refused), 0)
	p.MV.Gauges(r)
}
