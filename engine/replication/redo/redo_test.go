package redo

import (
	"encoding/binary"
	"fmt"
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
	machines   = 3
	keys       = 9 // record k is on machine k mod 3
	valueBytes = 16
	tableID    = 1
)

// bed is a table with two backups of each record, and their logs.
type bed struct {
	*testing.T
	s     *sim.Sim
	cl    *r2.Cluster
	table *kv.Table
	logs  *Logs
	notes []string
	left  int // coroutines that run
}

func newBed(t *testing.T, hw fabric.Config, r r2.Config, o replication.Options) *bed {
	t.Helper()
	b := &bed{T: t, s: sim.New(sim.Options{Seed: 1})}
	hw.Machines, hw.TornReads = machines, true
	f, err := fabric.New(b.s, hw)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.s.Close()
		f.Close()
	})
	if b.cl, err = r2.New(b.s, f, r); err != nil {
		t.Fatal(err)
	}
	b.cl.SpoilScratch()
	spec := kv.Spec{ID: tableID, Name: "copied", ValueBytes: valueBytes, Fixed: true, Init: func(uint64, []byte) {}}
	if o.Layout.Bytes == 0 {
		o.Layout = record.LockSeq
	}
	table, err := kv.Kind.Make(b.cl, spec, o.Layout, kv.Placement{Partition: store.Stripes(machines, keys), Replicas: o.Replicas})
	if err != nil {
		t.Fatal(err)
	}
	b.table = table.(*kv.Table)
	o.Members = membership.New(machines, membership.Symmetric)
	o.Store = func(uint8) store.Table { return b.table }
	o.Note = func(_ int, a history.Anomaly) { b.notes = append(b.notes, a.Text) }
	if b.logs, err = openLogs(b.cl, o); err != nil {
		t.Fatal(err)
	}
	return b
}

// spawn starts a coroutine with a writer.
func (b *bed) spawn(machine, thread int, body func(c *r2.Co, w *Writer)) {
	b.left++
	b.cl.Spawn(machine, thread, func(c *r2.Co) {
		c.Phase(metrics.PhaseOther, waits)
		w := b.logs.Writer(c).(*Writer)
		body(c, w)
		b.left--
	})
}

// run runs until all coroutines have ended and everything that they have sent is done.
func (b *bed) run() {
	b.Helper()
	for range 100 {
		if err := b.s.Run(b.s.Now() + 100*sim.Microsecond); err != nil {
			b.Fatal(err)
		}
		if b.left == 0 && b.logs.Unreclaimed() == 0 {
			return
		}
	}
	b.Fatalf("%d coroutines have not ended, %d entries are not reclaimed", b.left, b.logs.Unreclaimed())
}

// update is the change that gives a record a sequence and a value that shows it.
func update(key, seq uint64) record.Update {
	v := make([]byte, valueBytes)
	binary.LittleEndian.PutUint64(v, seq)
	binary.LittleEndian.PutUint64(v[8:], ^seq)
	return record.Update{Table: tableID, Key: key, New: seq, Value: v}
}

// copies are the sequences of a record on its backups, the next machine first.
func (b *bed) copies(key uint64) (seqs []uint64) {
	b.Helper()
	row := make([]byte, b.table.RowBytes())
	for i := range b.table.Backups() {
		m := b.table.Backup(b.table.Primary(key), i)
		if !b.table.Row(m, key, row) {
			b.Fatalf("machine %d has no copy of key %d", m, key)
		}
		seq, v := record.LockSeq.StampOf(row), record.LockSeq.Value(row)
		if x := binary.LittleEndian.Uint64(v); seq > 2 && (x != seq || binary.LittleEndian.Uint64(v[8:]) != ^seq) {
			b.Errorf("machine %d has key %d with sequence %d and the value %x", m, key, seq, v)
		}
		seqs = append(seqs, seq)
	}
	return seqs
}

// want says that all backups of a record have this sequence.
func (b *bed) want(key, seq uint64) {
	b.Helper()
	for i, got := range b.copies(key) {
		if got != seq {
			b.Errorf("backup %d of key %d has sequence %d, want %d", i, key, got, seq)
		}
	}
}

// send sends an entry.
func send(w *Writer, how replication.Reclaiming, byRPC bool, updates ...record.Update) error {
	w.Begin(how)
	for _, u := range updates {
		w.Add(int(u.Key%machines), u)
	}
	if err := w.Plan(byRPC); err != nil {
		return err
	}
	return w.Append(byRPC)
}

// Modes of a phase whose answers are waited for, and of one whose receipts come by themselves.
var (
	waits   = r2.Mode{Outstanding: true, Doorbell: true}
	passive = r2.Mode{Outstanding: true, Doorbell: true, Passive: true}
)

// reclaim has the backups apply an entry, as protocols do.
func (b *bed) reclaim(c *r2.Co, w *Writer) {
	if !w.Awaited() {
		c.Phase(replication.Reclaim, passive)
	}
	if err := w.Reclaim(); err != nil {
		b.Error(err)
	}
	c.Phase(metrics.PhaseOther, waits)
}

// ways are how entries are sent, and how backups are told to apply them.
var ways = []struct {
	byRPC bool
	how   replication.Reclaiming
}{{false, replication.Background}, {true, replication.Background}, {false, replication.Resent}, {true, replication.Awaited}}

// When Append returns, each backup of each record has the whole entry in its ring, and none has applied it. When it was told to, all have.
func TestBackupsHaveWhatIsSent(t *testing.T) {
	for _, x := range ways {
		t.Run(fmt.Sprintf("%+v", x), func(t *testing.T) {
			b := newBed(t, fabric.Config{}, r2.Config{Threads: 1}, replication.Options{Replicas: 3})
			b.spawn(0, 0, func(c *r2.Co, w *Writer) {
				if err := send(w, x.how, x.byRPC, update(0, 10), update(1, 10), update(3, 12)); err != nil {
					t.Error(err)
				}
				w.check()
				if n := b.logs.Unreclaimed(); n != 3 {
					t.Errorf("%d entries are open, want one on each machine, for each is a backup of one of the records", n)
				}
				for _, key := range []uint64{0, 1, 3} {
					b.want(key, 2)
				}
				b.reclaim(c, w)
			})
			b.run()
			b.want(0, 10)
			b.want(1, 10)
			b.want(3, 12)
			b.want(4, 2)
			if len(b.notes) > 0 {
				t.Error(b.notes)
			}
		})
	}
}

// Entries of two machines come to a backup in the other order: the older one changes nothing.
func TestOlderEntryComesLate(t *testing.T) {
	b := newBed(t, fabric.Config{}, r2.Config{Threads: 1}, replication.Options{Replicas: 3})
	for m, seq := range []uint64{10, 12} {
		b.spawn(m, 0, func(c *r2.Co, w *Writer) {
			if err := send(w, replication.Background, false, update(0, seq)); err != nil {
				t.Error(err)
			}
			if m == 0 {
				c.Sleep(50 * sim.Microsecond)
				b.want(0, 12)
			}
			b.reclaim(c, w)
		})
	}
	b.run()
	b.want(0, 12)
}

// Coroutines of all threads fill small rings many times over: they wait for room, nothing is overwritten that is not applied, and no two
// share a place.
func TestRingsWrap(t *testing.T) {
	for _, x := range ways {
		t.Run(fmt.Sprintf("%+v", x), func(t *testing.T) {
			const coroutines, rounds = 6, 30
			b := newBed(t, fabric.Config{}, r2.Config{Threads: 2, Coroutines: coroutines}, replication.Options{Replicas: 3, Choice: replication.Choice{Bytes: 2 * record.MaxEntryBytes}, Costs: replication.Costs{EntryBytes: 1500}})
			last := map[uint64]uint64{}
			next := uint64(10)
			for m := range machines {
				for th := range 2 {
					for range coroutines {
						b.spawn(m, th, func(c *r2.Co, w *Writer) {
							for range rounds {
								key := c.Rand().Uint64n(keys)
								next += 2
								last[key] = max(last[key], next)
								if err := send(w, x.how, x.byRPC, update(key, next)); err != nil {
									t.Error(err)
								}
								w.check()
								b.reclaim(c, w)
							}
						})
					}
				}
			}
			b.run()
			for key, seq := range last { // order-free: each is looked at alone
				b.want(key, seq)
			}
			if b.logs.Full() == 0 {
				t.Error("no ring was ever full: nothing was put to the test")
			}
			if len(b.notes) > 0 {
				t.Error(b.notes[:min(len(b.notes), 3)])
			}
		})
	}
}

// One datagram of ten is lost: reclaims are lost and come again, and so do their receipts. Each gives its room back once.
func TestReclaimsAreLostAndRepeated(t *testing.T) {
	b := newBed(t, fabric.Config{LossPPM: 100_000}, r2.Config{Threads: 1, Coroutines: 4}, replication.Options{Replicas: 3})
	last := map[uint64]uint64{}
	next := uint64(10)
	for m := range machines {
		for range 4 {
			b.spawn(m, 0, func(c *r2.Co, w *Writer) {
				for range 40 {
					key := c.Rand().Uint64n(keys)
					next += 2
					last[key] = max(last[key], next)
					if err := send(w, replication.Background, false, update(key, next)); err != nil {
						t.Error(err)
					}
					b.reclaim(c, w)
				}
			})
		}
	}
	b.run()
	for key, seq := range last { // order-free: each is looked at alone
		b.want(key, seq)
	}
	if len(b.notes) > 0 {
		t.Error(b.notes[:min(len(b.notes), 3)])
	}
}

// What does not fit into a ring or a message is refused before anything is sent, and a record without backups needs no entry.
func TestPlan(t *testing.T) {
	b := newBed(t, fabric.Config{}, r2.Config{Threads: 1}, replication.Options{Replicas: 3})
	b.spawn(0, 0, func(c *r2.Co, w *Writer) {
		for _, byRPC := range []bool{false, true} {
			w.Begin(replication.Background)
			u := update(0, 10)
			u.Value = make([]byte, record.MaxEntryBytes)
			w.Add(0, u)
			if err := w.Plan(byRPC); err == nil {
				t.Errorf("an entry of more than %d bytes is taken", record.MaxEntryBytes)
			}
		}
	})
	b.run()
	if got := b.logs.Backups(1); len(got) != 2 || got[0] != 2 || got[1] != 0 {
		t.Errorf("the backups of machine 1 are %v, want 2 and 0", got)
	}
	alone := newBed(t, fabric.Config{}, r2.Config{Threads: 1}, replication.Options{Replicas: 1})
	alone.spawn(0, 0, func(c *r2.Co, w *Writer) {
		w.Begin(replication.Background)
		w.Add(0, update(0, 10))
		if err := w.Plan(false); err != nil || w.Needed() {
			t.Errorf("without backups an entry is needed: %v, %v", w.Needed(), err)
		}
	})
	alone.run()
}
