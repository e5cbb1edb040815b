package fabric

import (
	"encoding/binary"
	"runtime"
	"testing"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// mixedRun is some of everything on a few machines with tearing and loss; it
// returns what identifies the run.
func mixedRun(t *testing.T, queue sim.QueueKind, slices int) (hash, digest uint64, counts VerbCounts) {
	b := newBed(t, bedOptions{machines: 4, threads: 4, span: 1 << 20, trace: true, queue: queue,
		config: Config{TornReads: true, LossPPM: 20000, CacheNum: 1, CacheDen: 64}})
	b.f.SetRCLoss(1000)
	for m := range b.f.Machines() {
		a, err := b.f.Machine(m).Mem.Alloc(host.Alloc{Name: "lazy", Bytes: 1 << 20, Fill: func(block uint64, dst []byte) {
			if block%8 == 0 {
				binary.LittleEndian.PutUint64(dst, block/8)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		b.data[m], b.keys[m] = a, b.f.Machine(m).Mem.Register(a, 1<<20, host.RemoteRead|host.RemoteWrite|host.RemoteAtomic).RKey
	}
	for _, w := range b.workers {
		for id := range uint64(256) {
			w.postRecv(w.ud, 1<<32+id, 256)
		}
	}
	post := func(w *bedWorker, id uint64) {
		m, a, key := w.target(8)
		if w.rand.Intn(4) == 0 {
			w.post(w.ud, SendWR{ID: id, Op: Send, Signaled: true, Local: w.scratch, LKey: w.key, Len: 100,
				Dest: b.workers[w.rand.Intn(len(b.workers))].ud.Address()})
			return
		}
		r := SendWR{ID: id, Op: Opcode(1 + w.rand.Intn(4)), Signaled: true, Local: w.scratch + space.Addr(id)*4096, LKey: w.key,
			Len: uint32(8 << w.rand.Intn(7)), Remote: a &^ 1023, RKey: key, Swap: 1}
		w.postAll(w.rc[m], r)
	}
	b.start(8, post, func(w *bedWorker, e *CQE) {
		if e.Op == Recv {
			w.postRecv(w.ud, e.ID, 256)
			return
		}
		post(w, e.ID)
	})
	for range slices {
		b.run(400 * sim.Microsecond / sim.Time(slices))
	}
	for m := range b.f.Machines() {
		digest = b.f.Machine(m).Mem.Digest(digest)
	}
	return b.sim.TraceHash(), digest, b.f.Counts()
}

// One seed, one run: whatever the queue, the slices, the threads and the
// collector do. The hash is golden so that other architectures are held to it.
func TestDeterminism(t *testing.T) {
	hash, digest, counts := mixedRun(t, sim.Wheel, 1)
	if counts.Split == 0 || counts.Lost == 0 || counts.Retries == 0 || counts.Errors != 0 {
		t.Errorf("the run misses something: %+v", counts)
	}
	for name, again := range map[string]func() (uint64, uint64, VerbCounts){
		"heap":   func() (uint64, uint64, VerbCounts) { return mixedRun(t, sim.Heap, 1) },
		"slices": func() (uint64, uint64, VerbCounts) { return mixedRun(t, sim.Wheel, 100) },
		"1 thread": func() (uint64, uint64, VerbCounts) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			return mixedRun(t, sim.Wheel, 1)
		},
	} {
		h, d, c := again()
		if h != hash || d != digest || c != counts {
			t.Errorf("%s: trace %#x, bytes %#x; before %#x, %#x", name, h, d, hash, digest)
		}
	}
	const goldenHash, goldenDigest = 0x7b52061d4f32ff35, 0x7e43d7b1b7d4f5f
	if hash != goldenHash || digest != goldenDigest {
		t.Errorf("trace %#x, bytes %#x; golden are %#x and %#x", hash, digest, uint64(goldenHash), uint64(goldenDigest))
	}
}

// Nothing is allocated per verb once the pools have grown.
func TestNoAllocation(t *testing.T) {
	for op, next := range map[Opcode]func(w *bedWorker, id uint64){
		Read: oneSided(Read, 64, 64), Write: oneSided(Write, 200, 256), CompareSwap: oneSided(CompareSwap, 8, 64),
	} {
		b := newBed(t, bedOptions{machines: 4, threads: 4, span: 1 << 20, config: Config{TornReads: true}})
		b.start(8, next, nil)
		checkAllocations(t, b, op.String())
	}
	b := newBed(t, bedOptions{machines: 4, threads: 4, span: 1 << 20, config: Config{TornReads: true, LossPPM: 0}})
	startRPC(b, 8, 16, 100)
	checkAllocations(t, b, "RPC")
}

func checkAllocations(t *testing.T, b *bed, what string) {
	t.Helper()
	b.run(300 * sim.Microsecond)
	var before, after runtime.MemStats
	from := b.done
	runtime.ReadMemStats(&before)
	b.run(1 * sim.Millisecond)
	runtime.ReadMemStats(&after)
	verbs := b.done - from
	if n := after.Mallocs - before.Mallocs; n > verbs/1000+20 || verbs < 10000 {
		t.Errorf("%s: %d allocations for %d verbs", what, n, verbs)
	}
}
