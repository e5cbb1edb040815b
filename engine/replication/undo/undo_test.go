package undo

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/history"
	"drtmx/engine/kv"
	"drtmx/engine/membership"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/sim"
	"drtmx/engine/store"
)

const (
	servers = 3
	keys    = 9
	tableID = 1
)

// bed is a table with two copies of each record, and undo logs. The machines with records have no threads; the one behind them writes.
type bed struct {
	*testing.T
	s     *sim.Sim
	cl    *r2.Cluster
	table *kv.Table
	logs  *Logs
	notes []string
}

// Rows of each form of tearing are whole on all machines before the decision and after it, whatever that is.
func TestForms(t *testing.T) {
	for _, form := range []record.Tearing{record.AsPublished, record.HeaderLast, record.LineVersions} {
		t.Run(form.String(), func(t *testing.T) {
			layout := record.LockSeq
			layout.Tearing = form
			b := newBedOf(t, layout, 200)
			whole := func(key uint64) {
				t.Helper()
				rows := b.table.Rows()
				at, _ := b.table.Find(key)
				for i := range 2 {
					loc := at.Loc
					if m := (int(key) + i) % servers; i > 0 {
						loc, _ = b.table.CopyAt(m, key, at.Ref)
					}
					image := bytes.Clone(b.cl.Mem(loc.Machine).Bytes(loc.Addr, rows.ImageBytes()))
					if row, ok := rows.Whole(image); !ok || !bytes.Equal(row[layout.Own:], b.row(loc.Machine, key)[layout.Own:]) {
						t.Errorf("key %d on machine %d is torn, or another one: %x", key, loc.Machine, image)
					}
				}
			}
			b.run(func(_ *r2.Co, w *Writer) {
				for i, commit := range []bool{false, true} {
					b.write(w, 4, 100, 0, 1)
					whole(0)
					b.want("before the decision", 1, 4, 100)
					if err := w.Decide(commit); err != nil {
						t.Error(err)
					}
					whole(1)
					b.want("after it", 0, 2+2*uint64(i), 100*uint64(i))
				}
			})
		})
	}
}

func newBed(t *testing.T) *bed { return newBedOf(t, record.LockSeq, 16) }

func newBedOf(t *testing.T, layout record.Layout, valueBytes int) *bed {
	t.Helper()
	b := &bed{T: t, s: sim.New(sim.Options{Seed: 1})}
	f, err := fabric.New(b.s, fabric.Config{Machines: servers + 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.s.Close()
		f.Close()
	})
	members, threads := membership.New(servers, membership.Server|membership.Memory).Add(1, membership.Client), make([]int, servers+1)
	for _, m := range members.Of(membership.Client) {
		threads[m] = 1
	}
	if b.cl, err = r2.New(b.s, f, r2.Config{PerMachine: threads}); err != nil {
		t.Fatal(err)
	}
	table, err := kv.Kind.Make(b.cl, store.Spec{ID: tableID, Name: "copied", ValueBytes: valueBytes, Fixed: true}, layout, store.Placement{Partition: store.Stripes(servers, keys), Replicas: 2})
	if err != nil {
		t.Fatal(err)
	}
	b.table = table.(*kv.Table)
	logs, err := open(b.cl, replication.Options{
		Choice: replication.Choice{Check: true}, Members: members, Replicas: 2, Layout: layout,
		Store: func(uint8) store.Table { return table },
		Note:  func(_ int, a history.Anomaly) { b.notes = append(b.notes, a.Text) },
	})
	if err != nil {
		t.Fatal(err)
	}
	b.logs = logs.(*Logs)
	return b
}

// run runs body on the one coroutine.
func (b *bed) run(body func(c *r2.Co, w *Writer)) {
	b.Helper()
	done := false
	b.cl.Spawn(servers, 0, func(c *r2.Co) {
		body(c, b.logs.Writer(c).(*Writer))
		done = true
	})
	if err := b.s.Run(sim.Millisecond); err != nil {
		b.Fatal(err)
	}
	if !done || b.logs.Unreclaimed() != 0 || len(b.notes) > 0 {
		b.Errorf("ended: %v; %d entries are left; %v", done, b.logs.Unreclaimed(), b.notes)
	}
}

// row is the row of a key on a machine.
func (b *bed) row(machine int, key uint64) []byte {
	row := make([]byte, b.table.RowBytes())
	if !b.table.Row(machine, key, row) {
		b.Fatalf("machine %d has no copy of key %d", machine, key)
	}
	return row
}

// want says that primary and backup of a key have a sequence and a value.
func (b *bed) want(when string, key, seq, value uint64) {
	b.Helper()
	for i := range 2 {
		m := (int(key) + i) % servers
		row := b.row(m, key)
		if s, v := record.LockSeq.StampOf(row), binary.LittleEndian.Uint64(record.LockSeq.Value(row)); s != seq || v != value {
			b.Errorf("%s machine %d has key %d with sequence %d and value %d, want %d and %d", when, m, key, s, v, seq, value)
		}
	}
}

// write sends a write set that gives keys a sequence and a value.
func (b *bed) write(w *Writer, seq, value uint64, keys ...uint64) {
	b.Helper()
	w.Begin(replication.Background)
	for _, key := range keys {
		v := binary.LittleEndian.AppendUint64(nil, value)
		n := w.Add(b.table.Primary(key), record.Update{Table: tableID, Key: key, New: seq, Value: append(v, make([]byte, b.table.Rows().ValueBytes-8)...)})
		loc, ok := b.table.Find(key)
		if !ok {
			b.Fatalf("key %d is not there", key)
		}
		w.Replaces(n, loc, b.row(b.table.Primary(key), key)[record.LockSeq.Own:])
	}
	if err := w.Plan(false); err != nil {
		b.Fatal(err)
	}
	if err := w.Append(false); err != nil {
		b.Fatal(err)
	}
}

// entry is what a machine has in the coroutine's slot; nil: none.
func (b *bed) entry(machine int, c *r2.Co) *record.Entry {
	e, err := record.OpenEntry(b.cl.Mem(machine).Bytes(b.logs.slot(machine, c).Addr, record.MaxEntryBytes))
	if err != nil {
		return nil
	}
	return &e
}

// Between Append and Decide all copies have what is to be, and each machine with one an entry that says what was; Decide leaves the one or the
// other on all of them, and no entry. No thread of those machines takes part: they have none.
func TestRollback(t *testing.T) {
	b := newBed(t)
	b.run(func(c *r2.Co, w *Writer) {
		b.write(w, 4, 100, 0, 1) // copies on machines 0, 1 and 2
		b.want("before the decision", 0, 4, 100)
		for m := range servers {
			e := b.entry(m, c)
			if e == nil {
				t.Fatalf("machine %d has no entry before the decision", m)
			}
			u, ok := e.Next()
			if !ok || e.Updates != 2 || u.Key != 0 || u.New != 2 || !bytes.Equal(u.Value, make([]byte, 16)) {
				t.Errorf("the entry of machine %d says %+v, want that key 0 had sequence 2 and zeros", m, u)
			}
		}
		for i, commit := range []bool{false, true, false} {
			if i > 0 {
				b.write(w, 4+2*uint64(i), 100*uint64(i), 0, 1)
			}
			if err := w.Decide(commit); err != nil {
				t.Error(err)
			}
			seq, value := uint64(2), uint64(0)
			if i > 0 { // the second one commits
				seq, value = 6, 100
			}
			b.want("after decision", 0, seq, value)
			b.want("after decision", 1, seq, value)
			for m := range servers {
				if b.entry(m, c) != nil {
					t.Errorf("decision %d: machine %d has still an entry", i, m)
				}
			}
		}
		b.want("at the end", 2, 2, 0)
	})
}

// What undo logs cannot carry is refused before anything is written.
func TestPlan(t *testing.T) {
	b := newBed(t)
	b.run(func(c *r2.Co, w *Writer) {
		for _, x := range []struct {
			u     record.Update
			byRPC bool
			want  string
		}{
			{record.Update{Op: record.OpInsert}, false, "updates of records"},
			{record.Update{Op: record.OpDelete}, false, "updates of records"},
			{record.Update{}, true, "one-sided"},
			{record.Update{Value: make([]byte, record.MaxEntryBytes)}, false, "split the transaction"},
		} {
			w.Begin(replication.Background)
			w.Add(0, x.u)
			if err := w.Plan(x.byRPC); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%+v: %v, want %q", x.u.Op, err, x.want)
			}
		}
	})
}

// An entry that is not there is noticed when its transaction is decided.
func TestMissingEntryIsNoticed(t *testing.T) {
	b := newBed(t)
	b.run(func(c *r2.Co, w *Writer) {
		b.write(w, 4, 100, 0)
		clear(b.cl.Mem(1).Bytes(b.logs.slot(1, c).Addr, 8))
		if err := w.Decide(true); err != nil {
			t.Error(err)
		}
		if len(b.notes) != 1 || !strings.Contains(b.notes[0], "machine 1 did not have its log") {
			t.Errorf("noted: %q", b.notes)
		}
		b.notes = nil
	})
}

// No copy is written before the entries of all machines are there, and no entry is cleared before all copies are undone.
func TestEntriesComeFirst(t *testing.T) {
	b := newBed(t)
	for _, n := range b.cl.Fabric().Machine(2).NICs { // its entry is late
		n.SetSlowdown(5000)
	}
	var co *r2.Co
	done := false
	b.cl.Spawn(servers, 0, func(c *r2.Co) {
		co = c
		c.Phase(metrics.PhaseOther, r2.Mode{Outstanding: true, Doorbell: true})
		w := b.logs.Writer(c).(*Writer)
		b.write(w, 4, 100, 0, 1)
		if err := w.Decide(false); err != nil {
			t.Error(err)
		}
		done = true
	})
	written := 0 // times at which only a part of the copies was
	for i := 0; !done; i++ {
		if err := b.s.Run(b.s.Now() + 20*sim.Nanosecond); err != nil || i > 100_000 {
			t.Fatalf("does not end: %v", err)
		}
		copies, entries := 0, 0
		for _, key := range []uint64{0, 1} {
			for i := range 2 {
				if record.LockSeq.StampOf(b.row((int(key)+i)%servers, key)) == 4 {
					copies++
				}
			}
		}
		for m := range servers {
			if co != nil && b.entry(m, co) != nil {
				entries++
			}
		}
		if copies > 0 && entries < servers {
			t.Fatalf("at %d ps %d copies are written, and %d machines have an entry", b.s.Now(), copies, entries)
		}
		if copies > 0 && copies < 4 {
			written++
		}
	}
	if written == 0 {
		t.Error("copies are written all at once: nothing was put to the test")
	}
}
