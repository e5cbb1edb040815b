package replication

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
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
	own     []byte // a copy of the entry, for a store waits for the core's local time
}

// placed is the entry at one backup.
type placed struct {
	machine int
	pos     uint64
}

// Writer writes the log entries of one coroutine's transactions. It is not to be copied once Begin was called.
func (l *Logs) Writer(c *r2.Co) Writer {
	return Writer{l: l, c: c, src: &l.sources[c.Machine()][c.Thread()]}
}

// Begin forgets the entry of before.
func (w *Writer) Begin() {
	if w.at == nil {
		w.at = w.few[:]
	}
	w.updates, w.at, w.bytes = w.updates[:0], w.at[:0], 0
}

// Add adds a record that changes, and returns its number in the entry. Its value has to stay until Reclaim.
func (w *Writer) Add(primary int, u record.Update) (n int) {
	w.updates = append(w.updates, u)
	w.bytes += record.UpdateBytes(len(u.Value))
	for _, b := range w.l.backups[primary] {
		w.to(b)
	}
	return len(w.updates) - 1
}

// SetRow says, before Send, which row a record has got that is inserted, and its stamp.
func (w *Writer) SetRow(n int, row uint32, stamp uint64) {
	w.updates[n].Row, w.updates[n].New = row, stamp
}

// Stamp says, before Send, which stamp the versions get.
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
	if byRPC {
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
	if w.l.opt.Stamped {
		n += record.StampedBytes
	}
	return max(n, wire.Padded(w.l.opt.EntryBytes))
}

func (w *Writer) id() record.TxnID { return record.TxnID{Owner: OwnerOf(w.c), Number: w.number} }

// OwnerOf names a coroutine in lock words and log entries.
func OwnerOf(c *r2.Co) record.Owner {
	return record.OwnerOf(c.Machine(), c.Thread(), c.Index())
}

// encoded is the log entry that a coroutine of a machine has encoded last: scratch memory, see r2.Co.Request.
type encoded struct {
	of    record.TxnID
	bytes []byte
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
	if l.opt.Stamped {
		e = record.BeginStamped(x.bytes[:record.MaxEntryBytes], id, w.stamp)
	}
	for i := range w.updates {
		if err := e.Add(w.updates[i]); err != nil {
			panic(fmt.Sprintf("replication: planned log entry: %v", err))
		}
	}
	e.Pad(l.opt.EntryBytes)
	x.bytes, x.of = e.End(), id
	return x.bytes
}

// Send writes the entry to the backups, by WRITE or by RPC, and waits for all of
// them.
func (w *Writer) Send(byRPC bool) error {
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
			w.l.open++
			return
		}
		w.l.full++
		w.c.Sleep(r2.Time(w.l.opt.FullNS) * r2.Nanosecond)
	}
}

// Reclaim tells the backups to apply the entry: one message each, which carries it once more or does not; it is not waited for.
func (w *Writer) Reclaim(resend bool) {
	for i := range w.at {
		g := &w.at[i]
		req := w.reclaim(g)
		if resend {
			req = append(req, w.entry()...)
		}
		w.c.Call(g.machine, w.l.rpcReclaim, req)
	}
}

// ReclaimAndWait is Reclaim by requests that carry the entry, whose room their answers release.
func (w *Writer) ReclaimAndWait() error {
	w.Reclaim(true)
	if err := w.c.Wait(); err != nil {
		return err
	}
	for i := range w.at {
		g := &w.at[i]
		w.l.reclaimed(w.c.Machine(), w.c.Thread(), g.machine, w.reclaim(g))
	}
	return nil
}

// reclaim says which entry of a ring a backup is to apply.
func (w *Writer) reclaim(g *placed) []byte {
	return binary.LittleEndian.AppendUint64(w.c.Request(), g.pos<<16|uint64(w.entryBytes()))
}

// Check looks whether the backups really have the entry, free of time.
func (w *Writer) Check() {
	for i := range w.at {
		g := &w.at[i]
		b := w.l.cl.Mem(g.machine).Bytes(w.l.ringLoc(g.machine, w.c, g.pos).Addr, w.entryBytes())
		if e, err := record.OpenEntry(b); err != nil || e.ID != w.id() {
			w.l.note("transaction %d of machine %d thread %d was decided before machine %d had its log", w.number, w.c.Machine(), w.c.Thread(), g.machine)
		}
	}
}

// Ahead asks the host for the queue pairs that Send and Reclaim post to.
func (w *Writer) Ahead() {
	for i := range w.at {
		w.c.AheadPost(w.at[i].machine)
	}
}
