package masstree

import (
	"fmt"

	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/xstore/rivals/service"
)

const name = "masstree"

// Kind is the store as the list of parts has it.
var Kind = store.KVKind{
	Name:     name,
	Doc:      "a Masstree at the server, all operations by RPC, one instance per socket (as eRPC+Masstree)",
	Rows:     rowsOfKnobs,
	Messages: service.Messages,
	Open: func(cl *r2.Cluster, s store.KVSpec, v knob.Values) (store.KV, error) {
		return New(cl, s, Options{Fill: v.Int("masstree.fill"), Split: splits[v.Text("masstree.split")]})
	},
	Footprint: func(v knob.Values, keys uint64, valueBytes int) int64 {
		per := nodeBytes / uint64(v.Int("masstree.fill")) * 9 / 8
		if valueBytes > 8 {
			per += uint64(valueBytes)
		}
		return int64(keys * per)
	},
}

var splits = map[string]service.Split{"range": service.ByRange, "hash": service.ByHash}

func rowsOfKnobs() []knob.Row {
	return []knob.Row{
		{Knob: knob.Knob{Name: "masstree.split", Kind: knob.Choice, Default: "hash", Choices: []string{"hash", "range"}, Label: "Masstree: keys of an instance", Section: "3.7.1", Group: knob.Store,
			Doc: "How a server's keys are divided among its instances, one per socket: hash balances skewed keys, but a scan asks every instance; range keeps a scan, and keys that are close to each other, within one."}},
		{Knob: knob.Knob{Name: "masstree.fill", Kind: knob.Int, Default: 10, Min: 8, Max: width, Unit: "keys", Label: "Masstree: keys of a node at the start", Group: knob.Store,
			Doc: "Keys of each border node and interior node at the start, of 15. Keys that were loaded in random order leave 69 %, in rising order all of a border node."}},
	}
}

// Options are what can be chosen.
type Options struct {
	Fill  int // keys of a node at the start; default 10: what keys leave that come in random order, ln 2 of all slots
	Split service.Split
}

// Store is a Masstree on each socket of each server.
type Store struct {
	*service.Service
	trees []*tree
}

// New makes the instances and their service.
func New(cl *r2.Cluster, s store.KVSpec, o Options) (*Store, error) {
	if o.Fill == 0 {
		o.Fill = 10
	}
	if o.Fill < 8 || o.Fill > width {
		return nil, fmt.Errorf("masstree %s: %d keys in a node at the start, 8 to %d", s.Name, o.Fill, width)
	}
	places, err := service.NewPlaces(cl, &s, 0, o.Split)
	if err != nil {
		return nil, err
	}
	x := &Store{}
	var instances []service.Instance
	for in := range places.Len() {
		t, err := newTree(cl, places.Machine(in), places.Socket(in), places.Keys(in), &s, o.Fill)
		if err != nil {
			return nil, err
		}
		x.trees, instances = append(x.trees, t), append(instances, t)
	}
	x.Service, err = service.New(&s, places, instances)
	return x, err
}

// Client is what a coroutine calls the store with.
func (x *Store) Client(c *r2.Co) store.KVClient { return x.Service.Client(c) }

// Warm brings what is near the roots into the servers' caches. Clients have none.
func (x *Store) Warm() error {
	for _, t := range x.trees {
		t.warm()
	}
	return nil
}

// Find copies the value of a key as it is now.
func (x *Store) Find(key uint64, value []byte) bool { return x.trees[x.Of(key)].findNow(key, value) }

// Audit looks at the trees.
func (x *Store) Audit(bad func(string)) {
	for _, t := range x.trees {
		t.audit(bad)
	}
}
