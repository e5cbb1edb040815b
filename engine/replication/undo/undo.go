package undo

import (
	"errors"
	"fmt"
	"slices"

	"drtmx/engine/fabric/host"
	"drtmx/engine/metrics"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/store"
)

// Kind is the scheme.
var Kind = replication.Kind{
	Name:      "undo",
	Doc:       "what records were, before they are written where they lie on all machines, by one-sided WRITEs alone",
	InPlace:   true,
	Footprint: footprint,
	Open:      open,
}

// footprint has a slot for each coroutine of the cluster on each server. Machines with fewer threads than others use fewer of them.
func footprint(w replication.Writers) int64 {
	return int64(w.Servers*len(w.Threads)*slices.Max(w.Threads)*w.Coroutines) * record.MaxEntryBytes
}

// Logs are the slots of a cluster.
type Logs struct {
	replication.Copies
	cl      *r2.Cluster
	opt     replication.Options
	memory  []host.MR // by machine
	slots   int       // of a thread
	threads int       // most of any machine

	open owned.Each[int] // entries that are not cleared
}

func open(cl *r2.Cluster, o replication.Options) (replication.Scheme, error) {
	if o.Bytes == 0 {
		o.Bytes = record.MaxEntryBytes
	}
	l := &Logs{Copies: replication.CopiesOf(o), cl: cl, opt: o, slots: cl.Coroutines(), open: owned.New[int](cl.Machines(), nil)}
	for m := range cl.Machines() {
		l.threads = max(l.threads, cl.Threads(m))
	}
	bytes := uint64(cl.Machines()*l.threads*l.slots) * o.Bytes
	for m := range o.Members.Servers() {
		a, err := cl.Mem(m).Alloc(host.Alloc{Name: "txn.undo", Bytes: bytes, NVM: cl.Fabric().Machine(m).Type.NVMGeneration.Int() > 0})
		if err != nil {
			return nil, fmt.Errorf("undo logs of machine %d: %w", m, err)
		}
		l.memory = append(l.memory, cl.Mem(m).Register(a, bytes, host.LocalWrite|host.RemoteWrite))
	}
	return l, nil
}

// slot is where the entry of a coroutine lies on a machine.
func (l *Logs) slot(machine int, c *r2.Co) r2.Loc {
	n := (c.Machine()*l.threads+c.Thread())*l.slots + c.Index()
	return r2.Loc{Machine: machine, RKey: l.memory[machine].RKey, Addr: l.memory[machine].Addr + r2.Addr(uint64(n)*l.opt.Bytes)}
}

// Unreclaimed counts entries that are not cleared.
func (l *Logs) Unreclaimed() int { return owned.Sum(&l.open) }

// Full is never: a coroutine has its slot for itself.
func (l *Logs) Full() uint64 { return 0 }

// Gauges has none.
func (l *Logs) Gauges(*metrics.Readings) {}

// Writer writes the entries of a coroutine's transactions.
func (l *Logs) Writer(c *r2.Co) replication.Writer { return &Writer{l: l, c: c} }

// Writer is that of one coroutine.
type Writer struct {
	l        *Logs
	c        *r2.Co
	changes  []change
	machines []int // with a copy of any of the records
	number   uint32
	bytes    int // of the entry
	appended bool
	entry    []byte
	after    []byte // what a record is to be
	row      []byte // that is written, and its bytes in memory where they are more
	image    []byte
	zero     [8]byte
}

// change is one record of the write set.
type change struct {
	record.Update
	primary int
	at      store.Location // of its row there
	before  []byte         // of what backups have too
}

var _ replication.InPlaceWriter = (*Writer)(nil)

// Begin forgets the write set of before.
func (w *Writer) Begin(replication.Reclaiming) {
	w.changes, w.machines, w.bytes, w.appended = w.changes[:0], w.machines[:0], 0, false
}

// Add adds a record that changes.
func (w *Writer) Add(primary int, u record.Update) int {
	w.changes = append(w.changes, change{Update: u, primary: primary})
	w.bytes += record.UpdateBytes(len(u.Value))
	w.to(primary)
	for _, m := range w.l.Backups(primary) {
		w.to(m)
	}
	return len(w.changes) - 1
}

func (w *Writer) to(machine int) {
	for _, m := range w.machines {
		if m == machine {
			return
		}
	}
	w.machines = append(w.machines, machine)
}

// Replaces says where a change's row is at the primary, and what was there before.
func (w *Writer) Replaces(n int, at store.Location, before []byte) {
	w.changes[n].at, w.changes[n].before = at, before
}

// SetRow is of inserts, which Plan refuses.
func (w *Writer) SetRow(int, uint32, uint64) {}

// Stamp is of versions, which no protocol has whose records are written in place.
func (w *Writer) Stamp(uint64) {}

var errComes = errors.New("undo logs carry updates of records that are there: neither insert nor delete, or use log.scheme=redo")

// Plan numbers the entry and refuses what does not fit.
func (w *Writer) Plan(byRPC bool) error {
	for i := range w.changes {
		if w.changes[i].Op != record.OpUpdate {
			return errComes
		}
	}
	if byRPC {
		return errors.New("undo logs are written by one-sided WRITEs: no CPU of their machines takes a request")
	}
	w.number++
	if n, most := record.EntryBytes(w.bytes), min(int(w.l.opt.Bytes), record.MaxEntryBytes, w.l.cl.MaxWrite()); n > most {
		return fmt.Errorf("write set takes a log entry of %d bytes, at most %d can be sent: split the transaction", n, most)
	}
	return nil
}

// Needed says that there is a change.
func (w *Writer) Needed() bool { return len(w.changes) > 0 }

// Append writes the entries, and when they are there the records.
func (w *Writer) Append(bool) error {
	w.encode()
	*w.l.open.Of(w.c.Machine()) += len(w.machines)
	w.appended = true
	for _, m := range w.machines {
		w.write(w.l.slot(m, w.c), w.entry)
	}
	if err := w.c.Wait(); err != nil {
		return err
	}
	for i := range w.changes {
		x := &w.changes[i]
		h := &w.l.opt.Layout
		w.after = append(append(w.after[:0], x.before[:h.Carried-h.Own]...), x.Value...)
		h.SetStamp(w.after[h.Stamp-h.Own:], x.New)
		if err := w.writeCopies(x, w.after); err != nil {
			return err
		}
	}
	return w.c.Wait()
}

// encode makes the entry: what each record was.
func (w *Writer) encode() {
	if w.entry == nil {
		w.entry = make([]byte, record.MaxEntryBytes)
	}
	h := &w.l.opt.Layout
	e := record.BeginEntry(w.entry[:record.MaxEntryBytes], w.id())
	for i := range w.changes {
		u := w.changes[i].Update
		before := w.changes[i].before
		u.New, u.Value = h.StampAt(before[h.Stamp-h.Own:]), before[h.Carried-h.Own:][:len(u.Value)]
		if err := e.Add(u); err != nil {
			panic(fmt.Sprintf("replication/undo: planned log entry: %v", err))
		}
	}
	w.entry = e.End()
}

func (w *Writer) id() record.TxnID {
	return record.TxnID{Owner: replication.OwnerOf(w.c), Number: w.number}
}

// writeCopies writes a record's bytes from Layout.Own on, wherever it lies, in the order in which readers can tell that a READ was torn.
func (w *Writer) writeCopies(x *change, b []byte) error {
	at, rows := x.at.Loc, w.l.opt.Store(x.Table).Rows()
	image, parts := b, []record.Span(nil)
	if rows.ImageBytes() > rows.Bytes() {
		image, parts = w.imageOf(rows, x, b), rows.Writes()
	}
	for i := range w.l.opt.Replicas {
		if i > 0 {
			m, backup, ok := store.Mirrored(nil), w.l.Backups(x.primary)[i-1], false
			if m, ok = w.l.opt.Store(x.Table).(store.Mirrored); ok {
				at, ok = m.CopyAt(backup, x.Key, x.at.Ref)
			}
			if !ok {
				return fmt.Errorf("undo logs: the store does not tell where machine %d has its copy of key %d", backup, x.Key)
			}
		}
		if parts == nil {
			w.write(behind(at, w.l.opt.Layout.Own), image)
		}
		for _, p := range parts {
			w.write(behind(at, p.From), image[p.From:p.To])
		}
	}
	return nil
}

// imageOf is what a row is in memory whose bytes from Layout.Own on begin with b.
func (w *Writer) imageOf(rows *record.Rows, x *change, b []byte) []byte {
	own := rows.Layout.Own
	w.row = append(slices.Grow(w.row[:0], rows.Bytes())[:own], x.before...)
	clear(w.row[:own])
	copy(w.row[own:], b)
	w.image = slices.Grow(w.image[:0], rows.ImageBytes())[:rows.ImageBytes()]
	rows.Image(w.image, w.row)
	return w.image
}

func behind(at r2.Loc, bytes int) r2.Loc {
	at.Addr += r2.Addr(bytes)
	return at
}

func (w *Writer) write(to r2.Loc, b []byte) {
	if to.Machine == w.c.Machine() {
		w.c.Store(to.Addr, b)
		return
	}
	w.c.Write(to, b)
}

// Decide clears the entries, of a transaction that does not commit when its records are again what they were.
func (w *Writer) Decide(commit bool) error {
	if !w.appended {
		return nil
	}
	if commit && w.l.opt.Check {
		w.check()
	}
	if !commit {
		for i := range w.changes {
			x := &w.changes[i]
			h := &w.l.opt.Layout
			if err := w.writeCopies(x, x.before[:h.Carried-h.Own+len(x.Value)]); err != nil {
				return err
			}
		}
		if err := w.c.Wait(); err != nil {
			return err
		}
	}
	for _, m := range w.machines {
		w.write(w.l.slot(m, w.c), w.zero[:])
	}
	err := w.c.Wait()
	if err == nil {
		*w.l.open.Of(w.c.Machine()) -= len(w.machines)
		w.appended = false
	}
	return err
}

// check looks whether the machines really have the entry, free of time.
func (w *Writer) check() {
	for _, m := range w.machines {
		e, err := record.OpenEntry(w.l.cl.Mem(m).Bytes(w.l.slot(m, w.c).Addr, len(w.entry)))
		if err != nil || e.ID != w.id() {
			w.l.opt.Missing(w.c, "transaction %d of machine %d thread %d was decided while machine %d did not have its log", w.number, w.c.Machine(), w.c.Thread(), m)
		}
	}
}

// Awaited is never: nothing is left to reclaim.
func (w *Writer) Awaited() bool { return false }

// Reclaim has nothing to do: Decide has cleared the entries.
func (w *Writer) Reclaim() error { return nil }

// Ahead asks the host for the queue pairs that Append posts to.
func (w *Writer) Ahead() {
	for _, m := range w.machines {
		w.c.AheadPost(m)
	}
}
