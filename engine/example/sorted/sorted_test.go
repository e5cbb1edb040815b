package sorted

import (
	"errors"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/xstore/kvtest"
)

func open(cl *r2.Cluster, s store.KVSpec) (store.KV, error) { return Open(cl, s) }

// The store is a sorted map, and every key's history can be put in order.
func TestStore(t *testing.T) {
	kvtest.Map(t, open, false)
	for seed, h := range []kvtest.History{{Keys: 6, Operations: 60, Bytes: 8}, {Keys: 5, Operations: 60, Bytes: 70}} {
		if wrong := h.Linear(t, open, uint64(seed)); wrong != "" {
			t.Errorf("%+v: %s", h, wrong)
		}
	}
}

// An INSERT without room says so.
func TestFull(t *testing.T) {
	b := kvtest.NewBed(t, open, 1, kvtest.Size{Machines: 2, Threads: 1, Coroutines: 1, Servers: 1}, kvtest.Hardware(2),
		store.KVSpec{Name: "full", Keys: kvtest.Even{N: 3, First: 10, Step: 10}, ValueBytes: 8, Spare: 1})
	defer b.Close()
	b.Spawn(1, 0, func(_ *r2.Co, kv store.KVClient) {
		if ok, err := kv.Insert(15, make([]byte, 8)); !ok || err != nil {
			t.Errorf("the first: %v, %v", ok, err)
		}
		if ok, err := kv.Insert(25, make([]byte, 8)); ok || !errors.Is(err, store.ErrFull) {
			t.Errorf("the second: %v, %v", ok, err)
		}
	})
	b.Run()
	b.Audit()
}
