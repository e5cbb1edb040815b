package registers

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/history"
	"drtmx/engine/owned"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload/workloadtest"
)

// bed opens the workload on three machines with one client each, for so many requests.
func bed(t *testing.T, o Options, requests int, setup func(*Registers)) (*workloadtest.Bed, *Registers) {
	t.Helper()
	w, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if setup != nil {
		setup(w)
	}
	cfg, _ := occ.Preset("drtm+h")
	b := workloadtest.New(t, workloadtest.Setup{Machines: 3, Threads: 1, Coroutines: 1, Txn: cfg, Mode: history.Full, Requests: requests}, w)
	return b, w
}

// TestCorrect: the presets keep every invariant under contention, with torn reads, whatever
// the shape of the transactions.
func TestCorrect(t *testing.T) {
	commits := uint64(4000)
	if testing.Short() {
		commits = 500
	}
	for i, o := range []Options{
		{Keys: 40}, {Keys: 16, ValueBytes: 104}, {Keys: 40, Reads: 1, Writes: 1}, {Keys: 100, Reads: 8}, {Keys: 60, Writes: 4}, {Keys: 1000, Theta: 1.2, Remote: 300},
	} {
		for _, preset := range occ.PresetNames() {
			cfg, _ := occ.Preset(preset)
			b, _ := workloadtest.Open(t, i, cfg, New, o)
			if bad := b.Stress(commits); len(bad) > 0 {
				t.Errorf("%+v, %s: %s", o, preset, strings.Join(bad, "\n"))
			}
			for typ, n := range b.ByType[:len(TypeNames)] {
				if n == 0 {
					t.Errorf("%+v, %s: no %s has committed", o, preset, TypeNames[typ])
				}
			}
			b.Close()
		}
	}
}

// committed has a coroutine say that it has committed a transaction which took a register, wrote it perhaps, and saw a value.
func committed(w *Registers, c *r2.Co, key, saw uint64, wrote bool) {
	w.fresh.Begin(c, []txn.Ref{{Table: Table, Key: key, Write: wrote}})
	w.fresh.Commit(c, []uint64{saw}, false)
}

// TestInvariants: what writes a register otherwise is noticed, each by its own name.
func TestInvariants(t *testing.T) {
	for _, x := range []struct {
		name string
		harm func(w *Registers, c *r2.Co)
		want string
	}{
		{"nothing", func(*Registers, *r2.Co) {}, ""},
		{"a lost update", func(w *Registers, c *r2.Co) { committed(w, c, 3, 1<<40, true) }, "registers.values: register 3 has the value"},
		{"a torn value", func(w *Registers, _ *r2.Co) { *w.torn.Of(1)++ }, "registers.whole: 1 committed transactions"},
		{"an old value", func(w *Registers, c *r2.Co) { committed(w, c, 7, 0, false) }, "registers.fresh: register 7 had the value 0"},
	} {
		b, w := bed(t, Options{Keys: 12, ValueBytes: 16}, 40, nil)
		if bad := b.Verdict(); len(bad) > 0 {
			t.Fatal(bad)
		}
		x.harm(w, b.Cluster.Spawn(1, 0, func(*r2.Co) {}))
		got := ""
		for _, inv := range w.Check() {
			if !inv.OK {
				got += inv.Name + ": " + inv.Text
			}
		}
		if (got == "") != (x.want == "") || !strings.HasPrefix(got, x.want) {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
		b.Close()
	}
}

// TestSees: a client sees a value that is torn or was overwritten before it began.
func TestSees(t *testing.T) {
	b, w := bed(t, Options{Keys: 12, ValueBytes: 16, Reads: 6, Writes: 6}, 1, nil)
	row := make([]byte, 16+16)
	c := b.Cluster.Spawn(1, 0, func(*r2.Co) {})
	for key := range uint64(12) {
		for range 5 { // that they did not write: the values are 0
			committed(w, c, key, 1<<40, true)
		}
	}
	if err := b.Run(sim.Millisecond); err != nil {
		t.Fatal(err)
	}
	w.Merge(math.MaxInt64)
	if stale := w.fresh.Stale(); !strings.Contains(stale, "had the value 0, which was 5 when the transaction began") {
		t.Errorf("stale: %q", stale)
	}
	if w.db.Row(Table, 3, row); owned.Sum(&w.torn) != 0 {
		t.Errorf("torn: %d, row %x", owned.Sum(&w.torn), row)
	}
	torn := 0
	b2, w2 := bed(t, Options{Keys: 12, ValueBytes: 16, Reads: 6, Writes: 6}, 6, func(w *Registers) {
		err := w.AddTransaction("tear", 100, func(tx *txn.Tx) error {
			v, err := tx.Update(Table, 0)
			if err == nil {
				binary.LittleEndian.PutUint64(v[8:], 1<<40)
				torn++
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	b2.Verdict()
	if saw := owned.Sum(&w2.torn); torn == 0 || saw == 0 {
		t.Errorf("%d transactions tore a value, %d saw one", torn, saw)
	}
	if list := w2.Check(); list != nil {
		t.Errorf("judged although a user's transactions write: %+v", list)
	}
}

// TestDraw: a transaction takes different registers, of its own machine or of others in the
// share that is asked for.
func TestDraw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{
			Keys:  rapid.Uint64Range(8, 300).Draw(t, "keys"),
			Reads: rapid.IntRange(0, 5).Draw(t, "reads"), Writes: rapid.IntRange(0, 3).Draw(t, "writes"),
			Theta:  rapid.SampledFrom([]float64{0, 0.5, 1.5}).Draw(t, "theta"),
			Remote: rapid.SampledFrom([]int{Anywhere, 0, 250, 1000}).Draw(t, "remote"),
		}
		w, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		servers := rapid.Uint64Range(1, 12).Draw(t, "servers")
		w.servers = servers
		r := &runner{w: w, machine: rapid.Uint64Range(0, 12).Draw(t, "machine")}
		rand := sim.New(sim.Options{Seed: rapid.Uint64().Draw(t, "seed")}).Stream("test", 0)
		n := w.opt.Reads + w.opt.Writes
		r.draw(rand, n)
		seen := map[uint64]bool{}
		for _, ref := range r.refs {
			if seen[ref.Key] || ref.Key >= o.Keys {
				t.Fatalf("%+v: registers %v", o, r.refs)
			}
			seen[ref.Key] = true
		}
		if len(seen) != n {
			t.Fatalf("%d registers, want %d", len(seen), n)
		}
		if own := r.machine < servers && r.machine < o.Keys; own && servers > 1 && servers <= o.Keys {
			for range 20 {
				key := w.draw(rand, r.machine)
				if at := key % servers; key >= o.Keys || o.Remote == 0 && at != r.machine || o.Remote == 1000 && at == r.machine {
					t.Fatalf("%+v: register %d for machine %d of %d", o, key, r.machine, servers)
				}
			}
		}
	})
}

// TestBadOptions names what is wrong with them.
func TestBadOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"12 bytes": {ValueBytes: 12}, "4 bytes": {ValueBytes: 4}, "-1 reads": {Reads: -1, Writes: 1}, "17 writes": {Writes: 17},
		"4 registers, of which a transaction takes 5": {Keys: 4}, "-2 per mille": {Remote: -2}, "1001 per mille": {Remote: 1001},
		"a message carries 4072": {ValueBytes: 1024, Writes: 4}, "workload.theta: zipf": {Theta: 2},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
	for bytes := 8; bytes <= 1024; bytes += 8 {
		n := MostWritesOf(bytes)
		if _, err := New(Options{ValueBytes: bytes, Writes: n}); err != nil || n < 1 {
			t.Fatal(bytes, n, err)
		}
		if _, err := New(Options{ValueBytes: bytes, Writes: n + 1}); err == nil {
			t.Fatalf("%d writes of %d bytes are not refused", n+1, bytes)
		}
	}
}
