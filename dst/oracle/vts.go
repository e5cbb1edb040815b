package oracle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
)

// vts is the scheme of Figure 5-4.
type vts struct {
	client
	install, point    uint8
	installs, reading *service
	workers, machines layout // slots as they are, and compressed
	known             []timestamp.Point
}

// layout is a way to deal slots out, with its oracle.
type layout struct {
	*vector
	slots []slot
	first []int // slot of each machine's thread 0
	each  int   // slots from one thread to the next: 0 where they share one
}

// slot is a local counter and what became of its numbers.
type slot struct {
	drawn       uint64  // LocalTS
	at          r2.Addr // its memory, that of a worker's own reserved
	installedTo uint64  // all numbers up to it are installed
	done        map[uint64]bool
}

func openVTS(e timestamp.Env) (timestamp.Scheme, error) {
	of, err := clientOf(e, "vts")
	if err != nil {
		return nil, err
	}
	s := &vts{client: of, known: make([]timestamp.Point, e.Cluster.Machines())}
	if err := errors.Join(s.workers.open(&of, "oracle.vts", 1), s.machines.open(&of, "oracle.vts.machines", 0)); err != nil {
		return nil, err
	}
	if err := s.client.open(len(s.workers.slots), s.fetch); err != nil {
		return nil, err
	}
	s.install = e.Cluster.Handle("vts.install", s.serveInstall)
	s.point = e.Cluster.Handle("vts.point", s.servePoint)
	s.installs = newService(e.Cluster, &s.opt.batching, s.sendInstall)
	s.reading = newService(e.Cluster, &s.opt.batching, s.sendPoint)
	return s, nil
}

// open deals slots to the workers of the machines that run transactions, each their own or one for all of a machine.
func (l *layout) open(o *client, name string, each int) (err error) {
	cl := o.env.Cluster
	l.each, l.first = each, make([]int, cl.Machines())
	for _, m := range o.clients {
		l.first[m] = len(l.slots)
		n := 1 + each*(cl.Threads(m)-1)
		at, err := cl.Mem(m).Alloc(counterMemory(name, n))
		if err != nil {
			return err
		}
		for t := range n {
			l.slots = append(l.slots, slot{at: at + r2.Addr(t*lineBytes), done: map[uint64]bool{}})
		}
	}
	l.vector, err = newVector(cl, o.oracle, name, len(l.slots))
	return err
}

// of is the slot of a coroutine.
func (l *layout) of(c *r2.Co) int { return l.first[c.Machine()] + l.each*c.Thread() }

func (s *vts) layout() *layout {
	if s.opt.compression {
		return &s.machines
	}
	return &s.workers
}

func (s *vts) Traits() timestamp.Traits {
	return vtsTraits(len(s.layout().slots), s.opt.readers)
}

// vtsTraits: readers enter with their numbers, before they check what they have read.
func vtsTraits(slots int, readers bool) timestamp.Traits {
	return timestamp.Traits{Acked: true, Oracle: true, Words: slots, Early: readers, Readers: readers}
}

// Switch reads the knobs. At rest all numbers that were drawn are installed. Points of another layout mean nothing.
func (s *vts) Switch(on bool) {
	compressed := s.opt.compression
	if s.reset(on); s.opt.compression != compressed {
		s.forget()
		clear(s.known)
	}
	for i := range s.layout().slots {
		t := &s.layout().slots[i]
		t.installedTo = t.drawn
	}
}

func (s *vts) Begin(c *r2.Co, x *timestamp.Txn) { x.TS, x.Deps, x.Drawn = 0, x.Deps[:0], false }

// Saw adds to tx.deps, and so does Over: READ line 3, WRITE line 3. Tuple timestamps are never raised.
func (s *vts) Saw(x *timestamp.Txn, version timestamp.Stamp) { depend(x, version) }

func (s *vts) Over(x *timestamp.Txn, tuple, version timestamp.Stamp) { depend(x, version) }

// depend keeps the largest number of each slot: those below it are stable before it is.
func depend(x *timestamp.Txn, version timestamp.Stamp) {
	if version == 0 {
		return
	}
	for i, d := range x.Deps {
		if d.Slot() == version.Slot() {
			x.Deps[i] = max(d, version)
			return
		}
	}
	x.Deps = append(x.Deps, version)
}

// Draw is tx.TS <- LocalTS: no message. A slot for all workers of a machine takes an atomic operation. Without the stability
// protocol all dependencies have to be in the vector already.
func (s *vts) Draw(c *r2.Co, x *timestamp.Txn) error {
	if !s.opt.stable {
		if err := s.knows(c, x.Deps); err != nil {
			return err
		}
	}
	l := s.layout()
	i := l.of(c)
	from := &l.slots[i]
	if l.each == 0 {
		from.drawn = c.LocalFAA(from.at, 1) + 1
	} else {
		c.Touch(from.at, 8)
		from.drawn++
	}
	x.TS, x.Drawn = timestamp.Slotted(uint16(i), from.drawn), true
	return nil
}

// knows aborts the attempt if a dependency is not in the vector that the machine has, nor in the oracle's.
func (s *vts) knows(c *r2.Co, deps []timestamp.Stamp) error {
	p := &s.known[c.Machine()]
	if !allVisible(deps, p) {
		r := s.request(c)
		r.point = p
		if err := s.reading.ask(c, r); err != nil {
			return err
		}
	}
	if !allVisible(deps, p) {
		return timestamp.ErrRetry
	}
	return nil
}

func allVisible(deps []timestamp.Stamp, p *timestamp.Point) bool {
	for _, d := range deps {
		if !timestamp.Visible(d, p.Words) {
			return false
		}
	}
	return true
}

// Done is Oracle.INSTALL(i:tx.TS, tx.deps): one round trip.
func (s *vts) Done(c *r2.Co, x *timestamp.Txn, session *timestamp.Session) {
	session.Seen = x.TS
	s.installNumber(c, x)
}

// Void installs the number of a transaction that has failed: those behind it would never be stable.
func (s *vts) Void(c *r2.Co, x *timestamp.Txn) { s.installNumber(c, x) }

func (s *vts) installNumber(c *r2.Co, x *timestamp.Txn) {
	r := s.request(c)
	r.stamp, r.deps = x.TS, x.Deps
	if !s.opt.stable {
		from := &s.layout().slots[x.TS.Slot()]
		c.Touch(from.at, 8)
		before := from.installedTo
		if from.noteInstalled(x.TS.Counter()); from.installedTo == before {
			return // the transaction with the missing number installs this one too
		}
		r.stamp, r.deps = timestamp.Slotted(uint16(x.TS.Slot()), from.installedTo), nil
	}
	s.report(c, s.installs.ask(c, r))
}

// noteInstalled notes that a number is installed.
func (t *slot) noteInstalled(number uint64) {
	t.done[number] = true
	for t.done[t.installedTo+1] {
		t.installedTo++
		delete(t.done, t.installedTo)
	}
}

// Point is StableVTS, all of it. There is no strict one: no machine knows all numbers that were drawn.
func (s *vts) Point(c *r2.Co, session *timestamp.Session, f timestamp.Freshness, p *timestamp.Point) error {
	if f == timestamp.Strict {
		return errors.New("vector timestamps have no strict snapshots: no machine knows all numbers that were drawn; set ts.freshness=session")
	}
	return s.begin(c, session, f, p)
}

func (s *vts) fetch(c *r2.Co, p *timestamp.Point) (newest uint64, err error) {
	r := s.request(c)
	r.point = p
	return 0, s.reading.ask(c, r)
}

// sendInstall is, of each transaction, its number, how many dependencies it has, and these.
func (s *vts) sendInstall(c *r2.Co, batch []*request) error {
	most := s.env.Cluster.MaxPayload()
	for len(batch) > 0 {
		m := c.Mark()
		n, size := 0, 0
		for ; n < len(batch) && (n == 0 || size+installBytes(batch[n]) <= most); n++ {
			size += installBytes(batch[n])
		}
		req := c.Buf(size).B[:0]
		for _, r := range batch[:n] {
			req = s.encode(req, r)
		}
		rep, err := call(c, s.oracle, s.install, req)
		if err != nil {
			return err
		}
		taken := int(binary.LittleEndian.Uint32(rep))
		c.Release(m)
		if batch = batch[taken:]; taken < n {
			calm(c)
		}
	}
	return nil
}

func installBytes(r *request) int { return 8 + 2 + 8*len(r.deps) }

func (s *vts) encode(b []byte, r *request) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(r.stamp))
	at := len(b)
	b = append(b, 0, 0)
	n := 0
	for _, d := range r.deps {
		if d.Slot() != r.stamp.Slot() { // its own slot's were drawn before
			b = binary.LittleEndian.AppendUint64(b, uint64(d))
			n++
		}
	}
	binary.LittleEndian.PutUint16(b[at:], uint16(n))
	return b
}

func (s *vts) serveInstall(c *r2.Co, from r2.Peer, req, rep []byte) int {
	l := s.layout()
	l.counts.messages++
	taken := uint32(0)
	for len(req) > 0 {
		ts, n := timestamp.Stamp(binary.LittleEndian.Uint64(req)), int(binary.LittleEndian.Uint16(req[8:]))
		if !s.opt.stable {
			l.raise(c, ts)
		} else if !l.install(c, ts, req[10:10+8*n]) {
			break
		}
		req = req[10+8*n:]
		taken++
	}
	binary.LittleEndian.PutUint32(rep, taken)
	return 4
}

func (s *vts) sendPoint(c *r2.Co, batch []*request) error {
	m := c.Mark()
	defer c.Release(m)
	rep, err := call(c, s.oracle, s.point, nil)
	if err != nil {
		return err
	}
	for _, r := range batch {
		r.point.Words = r.point.Words[:0]
		for b := rep; len(b) > 0; b = b[8:] {
			r.point.Words = append(r.point.Words, binary.LittleEndian.Uint64(b))
		}
	}
	return nil
}

func (s *vts) servePoint(c *r2.Co, from r2.Peer, req, rep []byte) int {
	l := s.layout()
	l.counts.messages++
	l.vector.point(c, rep[:8*len(l.slots)])
	return 8 * len(l.slots)
}

// Stuck says what the stable timestamp waits for.
func (s *vts) Stuck() string { return s.layout().stuck() }

// State is what a script shows of the oracle.
func (s *vts) State() string {
	var b strings.Builder
	for i := range s.layout().queues {
		fmt.Fprintf(&b, "%s%d", map[bool]string{true: ",", false: "StableVTS=("}[i > 0], s.layout().queues[i].stable)
	}
	return b.String() + ")"
}
