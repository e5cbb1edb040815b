package xstore

import (
	"fmt"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/wire"
	"drtmx/xstore/hashed"
	"drtmx/xstore/kvtest"
)

// names are keys of 9 to 40 bytes. Those of a number and of the next ones begin alike, and have other lengths.
var names = &store.RealKeys{Most: 40, Append: func(dst []byte, number uint64) []byte {
	for range number * 7 % 32 {
		dst = append(dst, 'k')
	}
	dst = append(dst, '.')
	return wire.Add64(dst, number)
}}

// noScans is the mixture without them.
func noScans() plan {
	p := mixture
	p.weights[4] = 0
	return p
}

// No key of its own length is lost, nor answered with another one's value, whatever the cache keeps, with splits, retraining and
// expansion under way, torn reads, and hashes that keys have for themselves, that a few share, and that a hundred share.
func TestNoLostRealKeys(t *testing.T) {
	for _, mode := range []Mode{Full, Model, Top, Tree, Tree4, None} {
		for _, hashBits := range []int{hashed.Bits, 9, 5} {
			t.Run(fmt.Sprintf("%v/bits=%d", mode, hashBits), func(t *testing.T) {
				var sum Stats
				for seed := uint64(1); seed <= 3; seed++ {
					servers := 1 + int(seed)%2
					b := newBed(t, seed, servers, 2, 2)
					b.real = names
					b.open(mixture.keys, 8*int(seed), Options{SubModels: 12, Slots: 8, Cache: mode, Trainers: 2, Speculative: seed < 3, PositionHint: true, HashBits: hashBits})
					p := noScans()
					p.resize, p.everywhere = mode.learned(), seed == 2
					b.play(p)
					b.settle()
					if keys := b.lost(); len(keys) > 0 {
						t.Errorf("seed %d: keys %v", seed, keys)
					}
					b.audit()
					s := b.x.Stats()
					sum.Add(&s)
					b.close()
				}
				if (sum.Collisions == 0) != (hashBits == hashed.Bits) {
					t.Errorf("%d records of other keys", sum.Collisions)
				}
				t.Logf("%+v", sum)
			})
		}
	}
}

// The fault that the check is there for is found: a GET that takes the first record of a hash.
func TestPlantedRealKey(t *testing.T) {
	for seed := uint64(1); seed <= 5; seed++ {
		b := newBed(t, seed, 1, 2, 2)
		b.real = names
		o := Options{SubModels: 12, Slots: 8, Trainers: 2, Speculative: true, HashBits: 9}
		o.planted.anyReal = true
		b.open(mixture.keys, 8, o)
		b.play(noScans())
		b.settle()
		if len(b.lost()) > 0 {
			return
		}
		b.close()
	}
	t.Error("not found")
}

// Recovery of keys with lengths of their own.
func TestRecoveryOfRealKeys(t *testing.T) {
	for _, hashBits := range []int{hashed.Bits, 7} {
		b := newBed(t, 1, 1, 2, 2)
		b.real = names
		b.open(mixture.keys, 24, Options{SubModels: 12, Slots: 8, Trainers: 1, Speculative: true, PositionHint: true, Log: true, HashBits: hashBits})
		b.recover(noScans())
		reads := noScans()
		reads.ops = 200
		b.base, b.log.ops = b.states(4000), nil
		b.play(reads)
		if keys := b.lost(); len(keys) > 0 {
			t.Errorf("%d bits: clients with old models: keys %v", hashBits, keys)
		}
		b.close()
	}
}

// What a store of such keys does not have is refused.
func TestRealKeysRefused(t *testing.T) {
	b := newBed(t, 1, 1, 1, 1)
	b.real = names
	b.open(100, 8, Options{})
	b.run(b.spawn(1, 0, func(c *r2.Co) {
		if _, err := b.x.Client(c).Scan(1, 10, nil); err == nil {
			t.Error("a scan is served")
		}
	}))
	long := &store.RealKeys{Most: 8, Append: names.Append}
	for i, x := range []struct {
		spec store.KVSpec
		o    Options
	}{
		{store.KVSpec{Real: long}, Options{}},
		{store.KVSpec{Real: names, Bounds: []uint64{}}, Options{}},
		{store.KVSpec{Real: names}, Options{HashBits: 65}},
	} {
		x.spec.Name, x.spec.Servers, x.spec.Keys, x.spec.ValueBytes = fmt.Sprint("bad", i), 1, steps{100, 10}, 8
		if _, err := Open(b.cl, x.spec, x.o); err == nil {
			t.Errorf("%+v, %+v are accepted", x.spec.Real, x.o)
		}
	}
}

// realStore makes stores of keys with lengths of their own that share hashes.
func realStore(o Options) kvtest.Make {
	return func(cl *r2.Cluster, s store.KVSpec) (store.KV, error) {
		s.Real = names
		return Open(cl, s, o)
	}
}

// Clients and servers at the same time find a map, while messages are lost.
func TestRealKeysAreAMap(t *testing.T) {
	kvtest.Map(t, realStore(Options{SubModels: 4, Slots: 8, Trainers: 1, Speculative: true, PositionHint: true, HashBits: 12}), true)
}

// Operations on a few keys are linearizable key by key, while messages are lost: of keys that all have one hash or two, where each
// deletes and inserts what the others' READs come past, and of those that other keys move about.
func TestRealKeysAreLinearizable(t *testing.T) {
	for _, mode := range []Mode{Full, Model, None} {
		for _, hashBits := range []int{1, 4, hashed.Bits} {
			for _, h := range []kvtest.History{{Keys: 5, Operations: 60, Bytes: 8, NoScan: true}, {Keys: 4, Operations: 60, Bytes: 100, NoScan: true, Wide: 30}} {
				for seed := uint64(1); seed <= 2; seed++ {
					mk := realStore(Options{SubModels: 2, Slots: 4, Cache: mode, Trainers: 1, Speculative: true, PositionHint: true, HashBits: hashBits})
					if wrong := h.Linear(t, mk, 2*seed); wrong != "" {
						t.Errorf("%v, %d bits, %+v, seed %d: %s", mode, hashBits, h, seed, wrong)
					}
				}
			}
		}
	}
}

// A client whose pointer leads to a record that was deleted, or to what is in its memory by now, looks the key up again.
func TestOldPointers(t *testing.T) {
	b := newBed(t, 1, 1, 1, 1)
	b.real = names
	b.open(100, 8, Options{SubModels: 1})
	b.run(b.spawn(1, 0, func(c *r2.Co) {
		x, other, value := b.x.Client(c).(*client), b.x.Client(c), make([]byte, 8)
		look := func(number uint64, at location) outcome {
			key := x.known(number)
			o, err := x.record(b.x.parts[0], at, key, value)
			if err != nil {
				t.Error(err)
			}
			return o
		}
		const number, another = 320, 352 + 1<<32 // of one length
		key := x.known(number)
		p := x.begin(key)
		at, o, err := x.lookup(p, key)
		if o != found || err != nil || look(number, at) != found {
			t.Fatalf("lookup: %v, %v", o, err)
		}
		if o := look(number, location{aln: at.aln, slot: at.slot}); o != again {
			t.Errorf("a slot of another key: %v", o)
		}
		if of := p.locate(at.aln, at.slot, key+1, x.leaves[0].buf.B); of.pointer != 0 {
			t.Error("a slot of another key has a pointer")
		}
		if to, err := x.slot(p, at, key); to != at.pointer || err != nil {
			t.Errorf("its slot: %v, %v", to, err)
		}
		if to, err := x.slot(p, at, key+1); to != 0 || err != nil {
			t.Errorf("a slot of another key: %v, %v", to, err)
		}
		if of := p.locate(at.aln, at.slot, key, x.leaves[0].buf.B[:200]); !of.unread || look(number, of) != found {
			t.Error("a slot that was not READ")
		}
		if ok, err := other.Delete(number); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if o := look(number, at); o != again {
			t.Errorf("a free record: %v", o)
		}
		if ok, err := other.Insert(another, value); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if o := look(another, at); o != again && o != found {
			t.Error(o)
		}
		if found, _ := other.Get(another, value); !found {
			t.Error("the other key is not there")
		}
		if o := look(number, at); o != again {
			t.Errorf("a record of another hash: %v", o)
		}
	}))
}
