package rococo

import (
	"fmt"
	"slices"

	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// server is what a machine with data knows of transactions. Its threads share it.
type server struct {
	p       *protocol
	machine int16
	graph   *graph
	claimed claimed
	lists   [][]*node // memory of plans that run
	edges   [][]edge  // by thread, of a start
	lines   r2.Addr   // what its threads contend for when they look at claims and transactions
	rows    [][]byte  // by coroutine, of the piece that runs
	images  [][]byte  // by coroutine, of what it stores
	output  []byte    // of an immediate piece that runs
}

// list is memory for a plan.
func (s *server) list() []*node {
	if last := len(s.lists) - 1; last >= 0 {
		l := s.lists[last]
		s.lists = s.lists[:last]
		return l[:0]
	}
	return nil
}

// The claims of a record, and what is known of a transaction, are in the program's own memory: of that, lines are modelled,
// which go from core to core. Records and transactions share them.
const (
	stateLines = 1 << 10
	lineBytes  = 64
)

// touchRecord charges a look at the claims of a record, touchTxn one at a transaction.
func (s *server) touchRecord(c *r2.Co, table uint8, key uint64) { s.touch(c, item(table, key)) }
func (s *server) touchTxn(c *r2.Co, id txnID)                   { s.touch(c, uint64(id)) }

func (s *server) touch(c *r2.Co, name uint64) {
	const prime = 0x9e3779b97f4a7c15
	c.Touch(s.lines+r2.Addr(name*prime>>32%stateLines*lineBytes), word)
}

// buffer is memory for a row, of the running coroutine; image is for what it stores.
func (s *server) buffer(c *r2.Co, n int) []byte { return perCoroutine(&s.rows, c, n) }
func (s *server) image(c *r2.Co, n int) []byte  { return perCoroutine(&s.images, c, n) }

func perCoroutine(list *[][]byte, c *r2.Co, n int) []byte {
	for int(c.ID()) >= len(*list) {
		*list = append(*list, nil)
	}
	b := (*list)[c.ID()]
	if len(b) < n {
		b = make([]byte, n)
		(*list)[c.ID()] = b
	}
	return b[:n]
}

// request begins to serve a request about a transaction, and says which.
func (s *server) request(c *r2.Co, req []byte) txnID {
	c.Compute(s.p.cost.request)
	id := txnID(wire.Get64(req))
	s.touchTxn(c, id)
	return id
}

// serveStart starts pieces of a transaction: it says which transactions they come after, and what immediate ones return.
func (s *server) serveStart(c *r2.Co, req, rep []byte) int {
	id := s.request(c, req)
	n := s.graph.node(id, s.machine)
	if n.status == heard {
		n.status = started
	}
	edges, err := s.edges[c.Thread()][:0], error(nil)
	at, least := s.p.headBytes(), uint64(0)
	for req = req[word:]; len(req) >= pieceBytes; {
		x := piece{op: txn.OpOf(uint16(wire.Get64(req[word:])))}
		x.table, x.key = s.p.Named(wire.Get64(req))
		input := int(wire.Get64(req[word:]) >> 16)
		x.input, x.output = n.alloc(input), n.alloc(x.op.Output)
		copy(x.input, req[pieceBytes:])
		req = req[pieceBytes+wire.Padded(input):]
		c.Compute(s.p.cost.node)
		s.touchRecord(c, x.table.ID, x.key)
		if x.op.Immediate {
			edges, err = s.immediately(c, n, &x, edges)
			copy(rep[at:], x.output)
			at += wire.Padded(x.op.Output)
		} else {
			edges, err = s.claim(n, &x, edges)
		}
		if err == nil && s.p.MV != nil {
			found := uint64(0)
			found, err = s.least(c, &x)
			least = max(least, found)
		}
		if err != nil {
			c.Fail(fmt.Errorf("rococo: %w", err))
		}
		n.pieces = append(n.pieces, x)
	}
	edges = distinct(edges)
	wire.Put64(rep, uint64(len(edges)))
	if s.p.MV != nil {
		wire.Put64(rep[word:], least)
	}
	s.edges[c.Thread()] = edges
	bytes, told := putEdges(rep[at:], edges)
	n.edges = append(n.edges[:0], edges[told:]...)
	return at + bytes
}

// serveMore says what else a transaction comes after whose start has found more than its reply has room for.
func (s *server) serveMore(c *r2.Co, req, rep []byte) int {
	n := s.graph.nodes[s.request(c, req)]
	bytes, told := putEdges(rep, n.edges)
	n.edges = slices.Delete(n.edges, 0, told)
	return bytes
}

// serveBefore takes edges of a transaction for which its commit has no room.
func (s *server) serveBefore(c *r2.Co, req, _ []byte) int {
	s.graph.nodes[s.request(c, req)].comesAfter(edgesOf(req[word:], nil))
	return 0
}

// serveCommit takes the edges of a transaction, and executes it when all that comes before it commits.
func (s *server) serveCommit(c *r2.Co, req, rep []byte) int {
	id := s.request(c, req)
	n := s.graph.nodes[id]
	if n == nil || n.status == heard {
		c.Fail(fmt.Errorf("rococo: machine %d is to commit transaction %d, which has not started there", s.machine, id))
		return 0
	}
	if s.p.MV != nil && n.status < committing {
		n.least = wire.Get64(req[word:])
	}
	n.complete(edgesOf(req[s.p.headBytes():], nil))
	s.wake(c, n)
	s.execute(c, n)
	n.effects.annotate(c)
	at := 0
	if s.p.MV != nil {
		wire.Put64(rep, n.stamp)
		at = word
	}
	for i := range n.pieces {
		if x := &n.pieces[i]; !x.op.Immediate {
			copy(rep[at:], x.output)
			at += wire.Padded(len(x.output))
		}
	}
	return at
}

// execute has a transaction's pieces run, by this coroutine or by another one's.
func (s *server) execute(c *r2.Co, n *node) {
	for n.status != executed {
		if n.status == executing {
			s.await(c, n)
			continue
		}
		list, blocking, err := s.graph.order(n)
		if err != nil {
			c.Fail(fmt.Errorf("rococo: %w", err))
			return
		}
		visited := s.graph.plan.visited
		if blocking == nil {
			s.run(c, list, visited)
			continue
		}
		c.Compute(visited * s.p.cost.node)
		s.touchTxn(c, blocking.id)
		s.inform(c, blocking)
	}
}

// run executes a plan.
func (s *server) run(c *r2.Co, order []*node, visited int) {
	list := append(s.list(), order...) // the next plan is made while this one runs
	if s.p.stamps() {
		s.graph.stampAll(list)
	}
	for _, n := range list {
		n.status = executing
	}
	c.Compute(visited * s.p.cost.node)
	if s.p.MV != nil {
		s.reserveAll(c, list)
	}
	for _, n := range list {
		for i := range n.pieces {
			if err := s.perform(c, n, &n.pieces[i]); err != nil {
				c.Fail(fmt.Errorf("rococo: %w", err))
			}
		}
	}
	for _, n := range list {
		s.touchTxn(c, n.id)
		for i := range n.pieces {
			s.touchRecord(c, n.pieces[i].table.ID, n.pieces[i].key)
		}
	}
	// Together: what others see of a cycle is all of it.
	for _, n := range list {
		for i := range n.pieces {
			s.claimed.drop(n.pieces[i].table, n.pieces[i].key, n)
		}
		s.graph.retire(n)
	}
	for _, n := range list {
		s.wake(c, n)
	}
	s.lists = append(s.lists, list)
}

// inform waits until more is known of a transaction that others come after. If this server has only heard of it, it asks
// one where it has pieces.
func (s *server) inform(c *r2.Co, n *node) {
	if n.status != heard || n.asked {
		s.await(c, n)
		return
	}
	n.asked = true
	var edges []edge
	for more := true; more; {
		req := wire.Add64(c.Request(), uint64(n.id))
		if len(edges) > 0 {
			req = wire.Add64(req, edges[len(edges)-1].word())
		}
		rep := c.Call(int(n.server), s.p.rpc.ask, req)
		if err := c.Wait(); err != nil {
			c.Fail(fmt.Errorf("rococo: machine %d asks machine %d for what comes before transaction %d: %w", s.machine, n.server, n.id, err))
			return
		}
		if n.status != heard { // it has started here meanwhile, so its commit comes
			break
		}
		b := rep.B
		if more = len(b)+word > s.p.Cl.MaxReply(); s.p.MV != nil {
			b = n.decodeStamp(b)
		}
		edges = edgesOf(b, edges)
	}
	if n.status == heard {
		n.complete(edges)
	}
	s.wake(c, n)
}

// serveAsk tells another server what a transaction comes after, when it commits.
func (s *server) serveAsk(c *r2.Co, req, rep []byte) int {
	id := s.request(c, req)
	n := s.graph.nodes[id]
	if n == nil {
		c.Fail(fmt.Errorf("rococo: machine %d is asked for transaction %d, which it has forgotten: it remembers the last %d", s.machine, id, cap(s.graph.old)))
		return 0
	}
	for n.status < committing || n.status == executing && s.p.stamps() && !n.stamped {
		s.await(c, n)
	}
	at := 0
	if s.p.MV != nil {
		at = n.encodeStamp(rep)
	}
	// The rest of what was told before the transaction was executed is not needed any more, but for its cycle: see retire.
	list := n.edges
	if len(req) > word {
		list = behind(list, edgeOf(wire.Get64(req[word:])))
	}
	bytes, _ := putEdges(rep[at:s.p.Cl.MaxReply()], list)
	return at + bytes
}

// await suspends a coroutine until the status of a transaction changes.
func (s *server) await(c *r2.Co, n *node) {
	n.waiters = append(n.waiters, c)
	c.Suspend()
	if i := slices.Index(n.waiters, c); i >= 0 { // it was woken for something else
		n.waiters = slices.Delete(n.waiters, i, i+1)
	}
}

// wake resumes the coroutines that wait for a transaction. While it wakes one that runs on another core, others come and go.
func (s *server) wake(c *r2.Co, n *node) {
	for left := len(n.waiters); left > 0 && len(n.waiters) > 0; left-- {
		w := n.waiters[0]
		n.waiters = slices.Delete(n.waiters, 0, 1)
		c.Wake(w)
	}
}

// heardOf counts the transactions that others came after, and that have no pieces here. It is for checks.
func (s *server) heardOf() (n int) {
	for _, x := range s.graph.nodes { // order-free: a count
		if x.status != executed && len(x.pieces) == 0 {
			n++
		}
	}
	return n
}
