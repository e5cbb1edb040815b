package versions

import (
	"drtmx/dst"
	"encoding/binary"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/history"
	"drtmx/engine/kv"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/sim"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// still is a concurrency control that does nothing by itself: a test does what it would do.
type still struct {
	txn.Settings
	txn.Protocol // of which nobody asks more than what follows
}

func (x still) Common() txn.Settings               { return x.Settings }
func (x still) Open(*txn.DB) (txn.Protocol, error) { return x, nil }
func (x still) Config() txn.Config                 { return x }
func (still) Layout() record.Layout                { return record.Versioned }
func (still) Backups(int) []int                    { return nil }

func (still) Busy(lock uint64) bool { return lock != 0 }
func (still) TryLockRow(c *r2.Co, row r2.Addr) (word uint64, won bool) {
	return 1, c.LocalCAS(row, 0, 1) == 0
}
func (still) RowRemoved(*r2.Co, r2.Addr) {}

const (
	bedTable = 1
	bedKeys  = 8 // that are there from the start, on machines in turn
)

// bed is a store of versions over one table with two servers.
type bed struct {
	t   problems
	sim *sim.Sim
	cl  *r2.Cluster
	rec *history.Recorder
	mv  *Store
	of  *txn.Table
	opt timestamp.Options
}

// problems are where a test, or one draw of it, says what is wrong.
type problems interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// newBed has room for so many old versions on each server.
func newBed(t problems, places int) *bed {
	t.Helper()
	return newBedUnder(t, places, timestamp.Kinds{dst.DST})
}

// newBedUnder has the first scheme of a list in force.
func newBedUnder(t problems, places int, schemes timestamp.Kinds) *bed {
	t.Helper()
	b := &bed{t: t, sim: sim.New(sim.Options{Seed: 3}), rec: history.New(history.Options{Mode: history.Full, Initial: 2, Claim: history.Serializable})}
	b.opt = timestamp.Options{Scheme: schemes[0].Name, VersionBytes: uint64(places) * (nodeHead + 8), GCNS: 1_000_000_000}
	val, err := profile.Load("val")
	b.must(err)
	f, err := fabric.New(b.sim, fabric.Config{Profile: val, Machines: 2})
	b.must(err)
	b.cl, err = r2.New(b.sim, f, r2.Config{Threads: 1, Coroutines: 4})
	b.must(err)
	host := still{Settings: txn.Settings{Replicas: 1, Timestamps: b.opt}.WithDefaults()}
	db, err := txn.Open(b.cl, txn.Options{Config: host, Store: kv.Kind, Schemes: schemes, Recorder: b.rec})
	b.must(err)
	_, err = db.AddTable(store.Spec{ID: bedTable, Name: "record", ValueBytes: 8, Spare: 16}, store.Stripes(2, bedKeys))
	b.must(err)
	b.of = db.TableOf(bedTable)
	b.mv, err = Open(db, host, b.opt, Costs{})
	b.must(err)
	b.mv.Prepare()
	return b
}

func (b *bed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) close() { b.sim.Close() }

// on runs something on a machine, to its end.
func (b *bed) on(machine int, f func(c *r2.Co)) {
	b.t.Helper()
	done := false
	b.cl.SpawnBackground(machine, 0, "on", func(c *r2.Co) {
		f(c)
		done = true
	})
	for range 1000 {
		b.must(b.sim.Run(b.sim.Now() + 10*sim.Microsecond))
		if done {
			return
		}
	}
	b.t.Fatalf("not done: %v", b.cl.Waiting(10))
}

// row is where a record of machine 0 is.
func (b *bed) row(c *r2.Co, key uint64) r2.Addr {
	loc, ok := b.mv.look(c, b.of, key)
	if !ok {
		b.t.Fatalf("key %d is missing", key)
	}
	return loc.Addr
}

// install makes a version with a stamp the present one of a record of c's machine, which gets a row if it has none; a value of 0
// deletes it. It is false if there is no room.
func (b *bed) install(c *r2.Co, key, stamp, value uint64) bool {
	loc, ok := b.mv.look(c, b.of, key)
	if !ok {
		b.place(c, key, stamp, value)
		return true
	}
	if !b.mv.Reserve(c, b.of) {
		return false
	}
	seq := c.Load64(loc.Addr + b.mv.at.seq)
	v := Version{TS: stamp, Seq: record.Entomb(seq)}
	if value != 0 {
		v.Seq, v.Value = record.NextVersion(seq), binary.LittleEndian.AppendUint64(nil, value)
	}
	b.of.Audit.Touch(0, key)
	b.mv.Install(c, b.of, key, loc.Addr, v)
	return true
}

// place inserts a record.
func (b *bed) place(c *r2.Co, key, stamp, value uint64) {
	x, err := b.of.Store.Insert(c, key, make([]byte, record.Versioned.Own), store.AnyVersion)
	if err != nil {
		b.t.Error(err)
		return
	}
	b.of.Audit.NoteInsert(c.Machine(), key, x.Ref)
	b.mv.Install(c, b.of, key, b.of.Store.Location(key, x.Ref).Addr, Version{
		TS: stamp, Seq: record.Versioned.FirstStamp(x.Ref.Incarnation()), Value: binary.LittleEndian.AppendUint64(nil, value),
	})
}

// read is what a snapshot at a point finds: 0 is nothing.
func (b *bed) read(c *r2.Co, key, point uint64) uint64 {
	loc, ok := b.mv.look(c, b.of, key)
	if !ok {
		return 0
	}
	value := make([]byte, 8)
	if x := b.mv.read(c, b.of, key, loc, []uint64{point}, value); !x.ok {
		return 0
	}
	return wire.Get64(value)
}

// hear has machine 0 hear that no snapshot of any machine begins below a stamp.
func (b *bed) hear(stamp uint64) {
	for m := range b.cl.Machines() {
		b.mv.hear(b.mv.machines[0], m, []uint64{stamp})
	}
}

// lost are the versions that snapshots have not found.
func (b *bed) lost() (texts []string) {
	for _, a := range b.rec.Finish().Anomalies {
		if a.Kind == VersionLost {
			texts = append(texts, a.Text)
		}
	}
	return texts
}

// audit is what is wrong at rest.
func (b *bed) audit() (bad []string) {
	b.mv.Audit(func(text string) { bad = append(bad, text) })
	return bad
}
