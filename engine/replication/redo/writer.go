package redo

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/wire"
)

// Writer sends the log entries of one coroutine, one after the other.
type Writer struct {
	l       *Logs
	c       *r2.Co
	src     *source
	updates []record.Update
	bytes   int // of the updates
	at      []placed
	few     [4]placed // that at begins with: mostly all of it
	number  uint32
	stamp   uint64 // of the versions, where they have one
	reclaim replication.Reclaiming
	own     []byte // a copy of the entry, for a store waits for the core's local time
}

// placed is the entry at one backup.
type placed struct {
	machine int
	pos     uint64
}

// Writer writes the log entries of one coroutine's transactions.
func (l *Logs) Writer(c *r2.Co) replication.Writer {
	w := &Writer{l: l, c: c, src: &l.sources[c.Machine()][c.Thread()]}
	w.at = w.few[:0]
	return w
}

// Begin forgets the entry of before.
func (w *Writer) Begin(how replication.Reclaiming) {
	w.updates, w.at, w.bytes, w.reclaim = w.updates[:0], w.at[:0], 0, how
}

// Add adds a record that changes, and returns its number in the entry. Its value has to stay until Reclaim.
func (w *Writer) Add(primary int, u record.Update) (n int) {
	w.updates = append(w.updates, u)
	w.bytes += record.UpdateBytes(len(u.Value))
	for _, b := range w.l.Backups(primary) {
		w.to(b)
	}
	return len(w.updates) - 1
}

// SetRow says, before Append, which row a record has got that is inserted, and its stamp.
func (w *Writer) SetRow(n int, row uint32, stamp uint64) {
	w.updates[n].Row, w.updates[n].New = row, stamp
}

// Stamp says, before Append, which stamp the versions get.
func (w *Writer) Stamp(s uint64) { w.stamp = s }

// to adds a backup, once.
func (w *Writer) to(m int) {
	for i := range w.at {
		if w.at[i].machine == m {
			return
		}
	}
	w.at = append(w.at, placed{machine: m})
}

// Plan numbers the entry and refuses what does not fit into a ring, or into a
// message if it is to go by RPC, as such or with a reclaim.
func (w *Writer) Plan(byRPC bool) error {
	if w.l.opt.Replicas == 1 {
		return nil
	}
	w.src.number++
	w.number = w.src.number
	most := w.l.cl.MaxWrite()
	if byRPC || w.reclaim >= replication.Resent {
		most = w.l.cl.MaxPayload() - logHead
	}
	most = min(record.MaxEntryBytes, most)
	if n := w.entryBytes(); n > most {
		return fmt.Errorf("write set takes a log entry of %d bytes, at most %d can be sent: split the transaction", n, most)
	}
	return nil
}

// Needed says that there is a backup to send the entry to.
func (w *Writer) Needed() bool { return len(w.at) > 0 }

// entryBytes is the size of the log entry.
func (w *Writer) entryBytes() int {
	n := record.EntryBytes(w.bytes)
	if w.l.stamped {
		n += record.StampedBytes
	}
	return max(n, wire.Padded(w.l.opt.Costs.EntryBytes))
}

func (w *Writer) id() record.TxnID {
	return record.TxnID{Owner: replication.OwnerOf(w.c), Number: w.number}
}

// encoded is the log entry that a coroutine of a machine has encoded last: scratch memory, see r2.Co.Request.
type encoded struct {
	of         record.TxnID
	bytes      []byte
	row, image []byte // see Logs.applyImage
}

// spoil overwrites it.
func (x *encoded) spoil() {
	b := x.bytes[:cap(x.bytes)]
	for i := range b {
		b[i] = 0xa5
	}
	x.bytes = x.bytes[:0]
}

// entry is the log entry, valid until the next wait: all coroutines of a machine encode theirs
// in one place, again if another one came between.
func (w *Writer) entry() []byte {
	l, id := w.l, w.id()
	x := &l.entries[w.c.Machine()]
	if x.of == id && len(x.bytes) > 0 {
		return x.bytes
	}
	if x.bytes == nil {
		x.bytes = make([]byte, 0, record.MaxEntryBytes)
	}
	e := record.BeginEntry(x.bytes[:record.MaxEntryBytes], id)
	if l.stamped {
		e = record.BeginStamped(x.bytes[:record.MaxEntryBytes], id, w.stamp)
	}
	for i := range w.updates {
		if err := e.Add(w.updates[i]); err != nil {
			panic(fmt.Sprintf("replication: planned log entry: %v", err))
		}
	}
	e.Pad(l.opt.Costs.EntryBytes)
	x.bytes, x.of = e.End(), id
	return x.bytes
}

// Append writes the entry to the backups, by WRITE or by RPC, and waits for all of
// them.
func (w *Writer) Append(byRPC bool) error {
	w.reserveAll()
	for i := range w.at {
		g, entry := &w.at[i], w.entry()
		switch {
		case g.machine == w.c.Machine():
			w.own = append(w.own[:0], entry...)
			w.c.Store(w.l.ringLoc(g.machine, w.c, g.pos).Addr, w.own)
		case byRPC:
			w.c.Call(g.machine, w.l.rpcLog, append(binary.LittleEndian.AppendUint64(w.c.Request(), g.pos), entry...))
		default:
			w.c.Write(w.l.ringLoc(g.machine, w.c, g.pos), entry)
		}
	}
	return w.c.Wait()
}

// reserveAll finds room at all backups, in the order of their numbers: a transaction that waits
// for one ring holds room only in rings before it, so coroutines of a thread
// cannot wait for each other in a circle.
func (w *Writer) reserveAll() {
	for done := -1; ; {
		var next *placed
		for i := range w.at {
			if g := &w.at[i]; g.machine > done && (next == nil || g.machine < next.machine) {
				next = g
			}
		}
		if next == nil {
			return
		}
		w.reserve(next)
		done = next.machine
	}
}

// reserve finds room in the ring at a backup. A full ring waits for reclaims;
// the backup's worker applies entries whatever this coroutine holds, so the
// wait ends.
func (w *Writer) reserve(g *placed) {
	ring := &w.src.rings[g.machine]
	for {
		pos, ok := ring.Reserve(w.entryBytes())
		if ok {
			g.pos = pos
			*w.l.open.Of(w.c.Machine())++
			return
		}
		*w.l.full.Of(w.c.Machine())++
		w.c.Sleep(r2.Time(w.l.opt.FullNS) * r2.Nanosecond)
	}
}

// Decide looks, where it is asked to, whether the backups really have the entry of a transaction that commits.
func (w *Writer) Decide(commit bool) error {
	if commit && w.l.opt.Check {
		w.check()
	}
	return nil
}

// Awaited says that Reclaim waits for the backups.
func (w *Writer) Awaited() bool { return w.reclaim == replication.Awaited && w.Needed() }

// Reclaim tells the backups to apply the entry: one message each, which carries it once more or does not. Receipts release its room,
// or, where it waits for them, the answers.
func (w *Writer) Reclaim() error {
	for i := range w.at {
		g := &w.at[i]
		req := w.where(g)
		if w.reclaim >= replication.Resent {
			req = append(req, w.entry()...)
		}
		w.c.Call(g.machine, w.l.rpcReclaim, req)
	}
	if !w.Awaited() {
		return nil
	}
	if err := w.c.Wait(); err != nil {
		return err
	}
	for i := range w.at {
		g := &w.at[i]
		w.l.reclaimed(w.c.Machine(), w.c.Thread(), g.machine, w.where(g))
	}
	return nil
}

// where says which entry of a ring a backup is to apply.
func (w *Writer) where(g *placed) []byte {
	return binary.LittleEndian.AppendUint64(w.c.Request(), g.pos<<16|uint64(w.entryBytes()))
}

// check looks whether the backups really have the entry, free of time.
func (w *Writer) check() {
	for i := range w.at {
		g := &w.at[i]
		b := w.l.cl.Mem(g.machine).Bytes(w.l.ringLoc(g.machine, w.c, g.pos).Addr, w.entryBytes())
		if e, err := record.OpenEntry(b); err != nil || e.ID != w.id() {
			w.l.opt.Missing(w.c, "transaction %d of machine %d thread %d was decided before machine %d had its log", w.number, w.c.Machine(), w.c.Thread(), g.machine)
		}
	}
}

// Ahead asks the host for the queue pairs that Append and Reclaim post to.
func (w *Writer) Ahead() {
	for i := range w.at {
		w.c.AheadPost(w.at[i].machine)
	}
}
