package service

import (
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/store"
	"drtmx/xstore/kvtest"
)

// TestPlaces: each initial key is one of the keys of its instance, at its rank, and of no other; threads that serve an
// instance run on its socket.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := sim.New(sim.Options{Seed: 1})
		defer s.Close()
		f, err := fabric.New(s, fabric.Config{Machines: 3})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		threads := rapid.IntRange(1, 7).Draw(t, "threads")
		cl, err := r2.New(s, f, r2.Config{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		keys := kvtest.Even{N: rapid.Uint64Range(6, 90).Draw(t, "keys"), First: 5, Step: rapid.Uint64Range(1, 4).Draw(t, "step")}
		spec := store.KVSpec{Name: "places", Servers: rapid.IntRange(1, 3).Draw(t, "servers"), Keys: keys, ValueBytes: 8}
		split := Split(rapid.IntRange(0, 1).Draw(t, "split"))
		p, err := NewPlaces(cl, &spec, rapid.IntRange(0, 1).Draw(t, "instances"), split)
		if err != nil {
			t.Fatal(err)
		}
		all := uint64(0)
		for in := range p.Len() {
			own := p.Keys(in)
			all += own.Len()
			below := uint64(0)
			for key := range keys.Key(keys.N) + 10 {
				_, there := keys.Rank(key)
				there = there && p.Of(key) == in
				if i, ok := own.Rank(key); i != below || ok != there || ok && own.Key(i) != key {
					t.Fatalf("instance %d has key %d: %v at %d, want %v at %d", in, key, ok, i, there, below)
				}
				if there {
					below++
				}
			}
			for client := range threads {
				core, _ := f.Machine(p.Machine(in)).Assign(p.Thread(in, client))
				if of := f.Machine(p.Machine(in)).CoreSocket(core); p.instances > 1 && of != p.Socket(in) {
					t.Fatalf("thread %d of socket %d serves instance %d of socket %d", p.Thread(in, client), of, in, p.Socket(in))
				}
			}
		}
		if all != keys.N {
			t.Fatalf("%d keys in all instances, %d initial ones", all, keys.N)
		}
	})
}
