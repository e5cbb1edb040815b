package redo

import (
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/metrics"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/wire"
)

// DefaultRingBytes is the size of one log ring: 42 entries of SmallBank. A
// thread has one at each backup, and few entries are under way in each.
const DefaultRingBytes = 8 << 10

const (
	logHead  = 8 // of a log request: the position in the ring; of a reclaim: and the size; the entry follows, or does not
	replyYes = 1
)

// Kind is the scheme of the thesis.
var Kind = replication.Kind{
	Name:      "redo",
	Doc:       "the write set, before the decision, in a ring at each backup, which applies it later (thesis §4.3.4)",
	Applies:   true,
	Footprint: footprint,
	Open:      open,
}

// footprint has a ring for each thread of the cluster on each server, if there are backups.
func footprint(w replication.Writers) (sum int64) {
	if w.Replicas == 1 {
		return 0
	}
	for _, n := range w.Threads {
		sum += int64(w.Servers*n) * ringFootprint
	}
	return sum
}

// ringFootprint is what a ring takes of the host's memory, with what it begins and ends in.
const ringFootprint = 32 << 10

// Logs are the rings of a cluster.
type Logs struct {
	replication.Copies
	cl      *r2.Cluster
	opt     replication.Options
	rings   record.Rings
	memory  [][]host.MR // by backup machine, by source thread
	sources [][]source  // by machine and thread

	stamped bool      // entries carry the stamp of the versions
	entries []encoded // by machine, see Writer.entry

	rpcLog, rpcReclaim uint8 // ids of the requests that carry entries and that have them applied

	open owned.Each[int]    // entries that are not reclaimed, by the machine that wrote them
	full owned.Each[uint64] // times that a transaction of it found a ring full
}

// source is the sending end of a thread.
type source struct {
	rings  []record.Ring // by backup machine
	number uint32        // of its last entry
}

// open allocates the rings, on the socket of the worker that applies their
// entries, and installs the handlers.
func open(cl *r2.Cluster, o replication.Options) (replication.Scheme, error) { return openLogs(cl, o) }

func openLogs(cl *r2.Cluster, o replication.Options) (*Logs, error) {
	if o.Bytes == 0 {
		o.Bytes = DefaultRingBytes
	}
	if o.FullNS == 0 {
		o.FullNS = replication.DefaultFullNS
	}
	l := &Logs{Copies: replication.CopiesOf(o), cl: cl, opt: o, stamped: o.Layout.HasVersions(), entries: make([]encoded, cl.Machines()), open: owned.New[int](cl.Machines(), nil), full: owned.New[uint64](cl.Machines(), nil)}
	cl.OnSpoil(func(m int) { l.entries[m].spoil() })
	if err := l.openRings(); err != nil {
		return nil, err
	}
	l.rpcLog = cl.Handle("replication.log", l.serveLog)
	l.rpcReclaim = cl.HandleAtOnce("replication.reclaim", l.serveReclaim)
	cl.OnReceipt(l.rpcReclaim, l.reclaimed)
	cl.AheadOf(l.rpcReclaim, l.aheadReclaim)
	return l, nil
}

func (l *Logs) openRings() error {
	cl := l.cl
	l.rings = record.Rings{Machines: cl.Machines(), Threads: 1, Bytes: l.opt.Bytes}
	if err := l.rings.Check(); err != nil {
		return err
	}
	threads := 0 // most of any machine
	for m := range cl.Machines() {
		list := make([]source, cl.Threads(m))
		for t := range list {
			for range l.opt.Members.Servers() {
				list[t].rings = append(list[t].rings, l.rings.NewRing())
			}
		}
		l.sources = append(l.sources, list)
		threads = max(threads, len(list))
	}
	if l.opt.Replicas == 1 {
		return nil
	}
	for m := range l.opt.Members.Servers() {
		if cl.Threads(m) == 0 {
			return fmt.Errorf("machine %d has no threads, which would apply redo logs: use undo logs, or replicas=1", m)
		}
		var mrs []host.MR
		for t := range threads {
			_, home := cl.Fabric().Machine(m).Assign(t % cl.Threads(m))
			a, err := cl.Mem(m).Alloc(host.Alloc{Name: "txn.log", Bytes: l.rings.Total(), Socket: home})
			if err != nil {
				return fmt.Errorf("log rings of machine %d: %w", m, err)
			}
			mrs = append(mrs, cl.Mem(m).Register(a, l.rings.Total(), host.RemoteWrite))
		}
		l.memory = append(l.memory, mrs)
	}
	return nil
}

// Unreclaimed counts log entries that are not reclaimed.
func (l *Logs) Unreclaimed() int { return owned.Sum(&l.open) }

// Full counts how often a transaction found a ring full.
func (l *Logs) Full() uint64 { return owned.Sum(&l.full) }

// Gauges reads that.
func (l *Logs) Gauges(r *metrics.Readings) {
	if l.opt.Replicas > 1 {
		r.Add(full, float64(l.Full()), 0)
	}
}

var full = metrics.NewGauge(metrics.Gauge{Part: "log", Name: "full", Label: "full log rings", Unit: "/s", Kind: metrics.Rate})

// ringAddr is where an entry of a source thread lies in a backup's memory.
func (l *Logs) ringAddr(backup, machine, thread int, pos uint64) r2.Addr {
	return l.memory[backup][thread].Addr + r2.Addr(l.rings.Offset(machine, 0)+pos%l.rings.Bytes)
}

func (l *Logs) ringLoc(backup int, c *r2.Co, pos uint64) r2.Loc {
	return r2.Loc{Machine: backup, RKey: l.memory[backup][c.Thread()].RKey, Addr: l.ringAddr(backup, c.Machine(), c.Thread(), pos)}
}

// serveLog copies an entry into the ring, as a WRITE would have.
func (l *Logs) serveLog(c *r2.Co, from r2.Peer, req, rep []byte) int {
	if n := l.opt.Costs.Serve; n > 0 {
		c.ChargeHandler(n)
	}
	c.Store(l.ringAddr(c.Machine(), from.Machine, from.Thread, wire.Get64(req)), req[logHead:])
	rep[0] = replyYes
	return 1
}

// serveReclaim applies an entry to the replica. Reclaims of one row may come
// from several machines in any order: an older version never overwrites a newer, and
// stamps of a row grow over the records that it holds one after the other.
// Nothing else touches the entry or these rows but the machine's own handlers,
// and among them order makes no difference, so nothing here waits for the core's
// local time.
func (l *Logs) serveReclaim(c *r2.Co, from r2.Peer, req, rep []byte) int {
	word, entry := wire.Get64(req), req[logHead:]
	if len(entry) == 0 {
		entry = c.Peek(l.ringAddr(c.Machine(), from.Machine, from.Thread, word>>16), int(word&0xffff))
	}
	e, err := record.OpenEntry(entry)
	if err != nil {
		l.opt.Missing(c, "machine %d is to apply a log entry of machine %d thread %d: %v", c.Machine(), from.Machine, from.Thread, err)
		return 0
	}
	c.Compute(l.opt.Costs.Apply)
	l.aheadRows(c.Machine(), e)
	for u, ok := e.Next(); ok; u, ok = e.Next() {
		c.Compute(l.opt.Costs.ApplyRecord)
		t := l.opt.Store(u.Table)
		row, ok := t.BackupAddr(c, c.Machine(), u.Key, u.Row)
		rows := t.Rows()
		if rows.Bytes() < rows.ImageBytes() {
			if ok {
				l.applyImage(c, rows, row, e.Stamp, u)
			}
			continue
		}
		h := &rows.Layout
		stamp := row + r2.Addr(h.Stamp)
		if !ok || wire.Get64(c.Peek(stamp, 8)) > u.New {
			continue
		}
		if u.Op != record.OpDelete || h.Carried < h.Bytes {
			c.Poke(row+r2.Addr(h.Carried), u.Value)
		}
		if h.HasVersions() {
			c.Poke(row+r2.Addr(h.Version), c.Word(e.Stamp))
		}
		c.Poke(stamp, c.Word(u.New))
	}
	return 0
}

// applyImage applies an update to a row whose form of tearing adds to its bytes.
func (l *Logs) applyImage(c *r2.Co, rows *record.Rows, at r2.Addr, version uint64, u record.Update) {
	x, h := &l.entries[c.Machine()], &rows.Layout
	x.image = append(x.image[:0], c.Peek(at, rows.ImageBytes())...)
	whole, _ := rows.Whole(x.image)
	x.row = append(x.row[:0], whole...)
	row := x.row
	if h.StampOf(row) > u.New {
		return
	}
	if u.Op != record.OpDelete || h.Carried < h.Bytes {
		copy(row[h.Carried:], u.Value)
	}
	if h.HasVersions() {
		h.SetStamp(row[h.Version:], version)
	}
	h.SetStamp(row[h.Stamp:], u.New)
	rows.Image(x.image, row)
	c.Poke(at, x.image)
}

// reclaimed is the receipt of a reclaim.
func (l *Logs) reclaimed(m, thread, to int, req []byte) {
	if !l.sources[m][thread].rings[to].Release(wire.Get64(req) >> 16) {
		l.cl.Fail(m, fmt.Errorf("replication: machine %d thread %d got the receipt of a log entry at machine %d that is not open", m, thread, to))
	}
	*l.open.Of(m)--
}

// aheadReclaim asks for the log entry that a reclaim is about.
func (l *Logs) aheadReclaim(machine int, from r2.Peer, req []byte) {
	if len(req) < 8 || machine >= len(l.memory) || from.Thread >= len(l.memory[machine]) {
		return
	}
	word := wire.Get64(req)
	at, n := l.ringAddr(machine, from.Machine, from.Thread, word>>16), int(word&0xffff)
	l.cl.AheadBytes(machine, at, n)
	if n > 8 {
		l.cl.AheadBytes(machine, at+r2.Addr(n-8), 8)
	}
}

// aheadRows asks for the backup's rows that an entry changes.
func (l *Logs) aheadRows(machine int, e record.Entry) {
	for u, ok := e.Next(); ok; u, ok = e.Next() {
		l.opt.Store(u.Table).AheadBackup(machine, u.Key, u.Row)
	}
}
