// Package drtmtree is a server-centric ordered store in the manner of DrTM-Tree, one of XStore's rivals (thesis §3.7.1): the
// HTM-based B+tree that XStore has too (package tree), of which every operation, reads included, is an RPC (package service).
// The transport is XStore's own, and so are the costs; the difference is that the server walks through the tree.
//
// A server has one instance in the memory of both sockets, and all its threads serve it.
package drtmtree

import (
	"errors"
	"fmt"

	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/xstore/rivals/service"
	"drtmx/xstore/tree"
)

// Kind is the store as the list of parts has it.
var Kind = store.KVKind{
	Name: "drtm-tree",
	Doc:  "B+tree at the server, all operations by RPC (DrTM-Tree)",
	Open: func(cl *r2.Cluster, s store.KVSpec, _ knob.Values) (store.KV, error) { return New(cl, s) },
	Footprint: func(_ knob.Values, keys uint64, valueBytes int) int64 {
		const leafBytes, slots, fill = 192, 16, 8
		return int64(keys / fill * (leafBytes + slots*uint64(8+valueBytes)))
	},
}

// Store is a tree on each server.
type Store struct {
	*service.Service
	instances []*instance
}

// instance is a server's.
type instance struct {
	cl   *r2.Cluster
	name string
	t    *tree.Tree
	pair int
}

// New makes the trees and their service.
func New(cl *r2.Cluster, s store.KVSpec) (*Store, error) {
	places, err := service.NewPlaces(cl, &s, 1, service.ByRange)
	if err != nil {
		return nil, err
	}
	x := &Store{}
	var list []service.Instance
	for in := range places.Len() {
		t, err := tree.New(cl, places.Machine(in), tree.Options{Name: s.Name, Keys: places.Keys(in), ValueBytes: s.ValueBytes, Value: s.Value, Spare: s.Spare})
		if err != nil {
			return nil, err
		}
		i := &instance{cl, s.Name, t, 8 + s.ValueBytes}
		x.instances, list = append(x.instances, i), append(list, i)
	}
	x.Service, err = service.New(&s, places, list)
	return x, err
}

// Client is what a coroutine calls the store with.
func (x *Store) Client(c *r2.Co) store.KVClient { return x.Service.Client(c) }

// Warm does nothing: clients have no caches.
func (x *Store) Warm() error { return nil }

// Find copies the value of a key as it is now.
func (x *Store) Find(key uint64, value []byte) bool {
	_, ok := x.instances[x.Of(key)].t.Find(key, value)
	return ok
}

// Audit looks at the trees.
func (x *Store) Audit(bad func(string)) {
	for _, i := range x.instances {
		i.t.Audit(bad)
	}
}

func (i *instance) Get(c *r2.Co, key uint64, value []byte) bool {
	_, ok := i.t.Get(c, key, value)
	return ok
}

// Update overwrites a value in place, so it cannot lack room.
func (i *instance) Update(c *r2.Co, key uint64, value []byte) bool {
	ok, err := i.t.Update(c, key, value)
	if err != nil {
		c.Fail(fmt.Errorf("store %s: update of key %d: %w", i.name, key, err))
	}
	return ok
}

func (i *instance) Insert(c *r2.Co, key uint64, value []byte) (bool, error) {
	ok, err := i.t.Insert(c, key, value)
	if errors.Is(err, tree.ErrFull) {
		err = service.ErrFull
	}
	return ok, err
}

func (i *instance) Delete(c *r2.Co, key uint64) bool { return i.t.Delete(c, key) }

func (i *instance) Scan(c *r2.Co, key uint64, n int, dst []byte) int {
	return len(i.t.Scan(c, key, n, dst[:0])) / i.pair
}
