package memcached

import (
	"errors"

	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/xstore/rivals/service"
)

const (
	name   = "memcached"
	noScan = "memcached is a hash table, which has no order (thesis §3.7.1)"
)

// Kind is the store as the list of parts has it.
var Kind = store.KVKind{
	Name:     name,
	Doc:      "memcached's hash table and LRU list at the server, all operations by RPC, one instance per socket, no scans (as RDMA-Memcached)",
	NoScan:   noScan,
	Rows:     rows,
	Messages: service.Messages,
	Open: func(cl *r2.Cluster, s store.KVSpec, v knob.Values) (store.KV, error) {
		return New(cl, s, v.Text("memcached.locks") == "one")
	},
	Footprint: func(_ knob.Values, keys uint64, valueBytes int) int64 {
		return int64(keys) * int64(chunk(valueBytes)+8)
	},
}

func rows() []knob.Row {
	return []knob.Row{{Knob: knob.Knob{Name: "memcached.locks", Kind: knob.Choice, Default: "buckets", Choices: []string{"buckets", "one"}, Label: "Memcached: locks", Section: "3.7.1", Group: knob.Store,
		Doc: "What an operation locks: buckets = its bucket, and the LRU list while it changes that (memcached 1.4); one = everything, from start to end."}}}
}

// Store is a memcached on each socket of each server.
type Store struct {
	*service.Service
	caches []*cache
}

// New makes the instances and their service. global has one lock for each instance.
func New(cl *r2.Cluster, s store.KVSpec, global bool) (*Store, error) {
	places, err := service.NewPlaces(cl, &s, 0, service.ByHash)
	if err != nil {
		return nil, err
	}
	x := &Store{}
	var list []service.Instance
	for in := range places.Len() {
		t, err := newCache(cl, places.Machine(in), places.Socket(in), places.Keys(in), &s, global)
		if err != nil {
			return nil, err
		}
		x.caches, list = append(x.caches, t), append(list, t)
	}
	x.Service, err = service.New(&s, places, list)
	return x, err
}

// client has no scans.
type client struct{ *service.Client }

func (client) Scan(_ uint64, _ int, dst []store.Pair) ([]store.Pair, error) {
	return dst, errors.New("no scan: " + noScan)
}

// Client is what a coroutine calls the store with.
func (x *Store) Client(c *r2.Co) store.KVClient { return client{x.Service.Client(c)} }

// Warm does nothing: clients have no caches.
func (x *Store) Warm() error { return nil }

// Find copies the value of a key as it is now.
func (x *Store) Find(key uint64, value []byte) bool { return x.caches[x.Of(key)].findNow(key, value) }

// Audit looks at the instances.
func (x *Store) Audit(bad func(string)) {
	for _, t := range x.caches {
		t.audit(bad)
	}
}
