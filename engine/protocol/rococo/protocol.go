package rococo

import (
	"fmt"

	"drtmx/engine/coordinator"
	"drtmx/engine/history"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/txn"
)

// protocol is the protocol on one database.
type protocol struct {
	coordinator.Protocol
	coordinator.Host
	coordinator.Configured[Config, Config]
	cost    costs // owner: changes of knobs
	servers []*server
	rpc     rpcs

	// Of each machine, by thread and coroutine: sessions that have a server run a whole body. The session is the server's from the request
	// to the reply, in between its own machine does not look at it.
	whole owned.Each[[][]*session]
}

// rpcs are the numbers of the requests.
type rpcs struct{ start, more, before, commit, ask, read, whole uint8 }

// Open prepares the cluster's machines.
func (c Config) Open(db *txn.DB) (txn.Protocol, error) {
	if db.Servers() > mostServers {
		return nil, fmt.Errorf("%d servers: numbers of edges name %d", db.Servers(), mostServers)
	}
	cl, header := db.Cluster(), record.LockSeq
	if c.Timestamps.Versions() {
		header = record.Versioned
	}
	p := &protocol{Protocol: coordinator.Open(db, header)}
	p.whole = owned.New(cl.Machines(), func(m int) [][]*session { return make([][]*session, cl.Threads(m)) })
	var err error
	if p.Configured, err = coordinator.Configure(c, p.fill); err != nil {
		return nil, err
	}
	for m := range db.Servers() {
		lines, err := cl.Mem(m).Reserve("rococo.state", stateLines*lineBytes, 0)
		if err != nil {
			return nil, fmt.Errorf("rococo: memory of machine %d: %w", m, err)
		}
		p.servers = append(p.servers, &server{
			p: p, machine: int16(m), graph: newGraph(keptNodes),
			claimed: claimed{of: map[recordOf]*claims{}}, edges: make([][]edge, cl.Threads(m)), lines: lines,
		})
	}
	if c.Timestamps.Versions() {
		if err := p.openVersions(); err != nil {
			return nil, err
		}
	}
	p.rpc.start = cl.Handle("rococo.start", p.handler((*server).serveStart))
	p.rpc.more = cl.Handle("rococo.more", p.handler((*server).serveMore))
	p.rpc.before = cl.Handle("rococo.before", p.handler((*server).serveBefore))
	p.rpc.commit = cl.HandleWaiting("rococo.commit", p.handler((*server).serveCommit))
	p.rpc.ask = cl.HandleWaiting("rococo.ask", p.handler((*server).serveAsk))
	p.rpc.read = cl.HandleWaiting("rococo.read", p.handler((*server).serveRead))
	p.rpc.whole = cl.HandleWaiting("rococo.whole", func(c *r2.Co, from r2.Peer, _, rep []byte) int {
		x := (*p.whole.Of(from.Machine))[from.Thread][from.Coroutine] // handed over: see whole
		return p.servers[c.Machine()].serveWhole(c, x, rep)
	})
	return p, nil
}

// handler is r2's form of a server's.
func (p *protocol) handler(f func(s *server, c *r2.Co, req, rep []byte) int) r2.Handler {
	return func(c *r2.Co, _ r2.Peer, req, rep []byte) int { return f(p.servers[c.Machine()], c, req, rep) }
}

// headBytes are those of a start's reply and of a commit, before edges and outputs.
func (p *protocol) headBytes() int {
	if p.MV != nil {
		return 2 * word
	}
	return word
}

// anomaly is one that the protocol sees by itself.
func anomaly(kind, text string) history.Anomaly { return history.Anomaly{Kind: kind, Text: text} }

// fill checks a configuration and fills it in.
func (p *protocol) fill(c Config) (*Config, error) {
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := p.MV.Follow(c.Timestamps); err != nil {
		return nil, err
	}
	p.cost = scaled(p.DB.Options().Scale, assumed).times(c.HostScale)
	return &c, nil
}

// NeedsDrain says that another scheme gives the stamps: what else may change is how long an aborted transaction waits.
func (p *protocol) NeedsDrain(to txn.Config) bool {
	c, ok := to.(Config)
	return ok && p.ChangesScheme(&c.Settings)
}

// Session makes the session in which a coroutine runs its transactions.
func (p *protocol) Session(tx *txn.Tx) txn.Session {
	c := tx.Co()
	if c.ID() >= mostCoroutines {
		c.Fail(fmt.Errorf("rococo: coroutine %d of the cluster: transactions' numbers name %d", c.ID(), mostCoroutines))
	}
	s := &session{Session: coordinator.OpenSession[access](&p.Protocol, tx), Stamped: coordinator.OpenStamped(&p.Host, tx), p: p}
	of := &(*p.whole.Of(c.Machine()))[c.Thread()]
	for len(*of) <= c.Index() {
		*of = append(*of, nil)
	}
	(*of)[c.Index()] = s
	return s
}

// Locked is never: records have no locks.
func (p *protocol) Locked([]byte) (who string, held bool) { return "", false }

// Held says that a transaction has started to write a record.
func (p *protocol) Held(t *txn.Table, key uint64) bool {
	return p.servers[t.Store.Primary(key)].claimed.look(t, key).against(false) != nil
}

// Audit looks for what servers still wait for when nothing runs.
func (p *protocol) Audit(bad func(text string)) {
	p.MV.Audit(bad)
	for _, s := range p.servers {
		if n := len(s.claimed.of); n > 0 {
			bad(fmt.Sprintf("machine %d has claims on %d records of transactions that are over", s.machine, n))
		}
		if n := len(s.graph.nodes) - len(s.graph.old); n > s.heardOf() {
			bad(fmt.Sprintf("machine %d has %d transactions that it has not executed", s.machine, n-s.heardOf()))
		}
	}
}
