package rolex

import (
	"fmt"

	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/testbed"
)

const name = "rolex"

// Kind is the store as the list of parts has it.
var Kind = store.KVKind{
	Name:  name,
	Doc:   "leaves in memory nodes, models that clients train, all operations one-sided (in the manner of ROLEX)",
	Rows:  rows,
	Rules: []func(knob.Values) error{validFill, validNIC, validLeaf},
	Open: func(cl *r2.Cluster, s store.KVSpec, v knob.Values) (store.KV, error) {
		return New(cl, s, Options{
			Slots: v.Int("rolex.slots"), Fill: v.Int("rolex.fill"), Error: v.Int("rolex.error"),
			SegmentLeaves: v.Int("rolex.segment"), RetrainAt: v.Int("rolex.retrain_at"),
		})
	},
	Footprint: func(v knob.Values, keys uint64, valueBytes int) int64 {
		leaf := headerBytes + lockBytes + v.Int("rolex.slots")*(keyBytes+valueBytes)
		return int64(keys) / int64(max(v.Int("rolex.fill"), 1)) * int64(leaf*17/16)
	},
}

func rows() []knob.Row {
	row := func(k knob.Knob) knob.Row {
		k.Group = knob.Store
		return knob.Row{Knob: k}
	}
	return []knob.Row{
		row(knob.Knob{Name: "rolex.slots", Kind: knob.Int, Default: 16, Min: leastSlots, Max: 64, Label: "ROLEX: slots of a leaf",
			Doc: "Pairs that a leaf has room for. A lookup READs leaves whole, with their values."}),
		row(knob.Knob{Name: "rolex.fill", Kind: knob.Int, Default: 8, Min: 1, Max: 64, Unit: "keys", Label: "ROLEX: keys of a leaf at the start",
			Doc: "Half of the slots by default, as the leaves of xstore begin, so that neither store has room for inserts that the other lacks."}),
		row(knob.Knob{Name: "rolex.error", Kind: knob.Int, Default: 2, Min: 1, Max: 256, Label: "ROLEX: error of a model",
			Doc: "Largest prediction error of a model, in sixteenths of a leaf. A larger error makes fewer pieces, and a lookup READs more leaves. With 2 the models of keys that are hard to learn take two thirds of a byte a key, somewhat less than the cache of xstore."}),
		row(knob.Knob{Name: "rolex.segment", Kind: knob.Int, Default: 256, Min: 1, Max: 4096, Unit: "leaves", Label: "ROLEX: leaves of a segment",
			Doc: "Leaves, at the start, whose models are trained together, by one client at a time."}),
		row(knob.Knob{Name: "rolex.retrain_at", Kind: knob.Int, Default: 16, Min: 0, Max: 1 << 20, Unit: "splits", Label: "ROLEX: retraining",
			Doc: "A segment is retrained each time this many of its leaves have got a synonym. 0: never, and lookups follow chains of synonyms."}),
	}
}

// validFill refuses more keys than there are slots.
func validFill(v knob.Values) error {
	slots, fill := v.Int("rolex.slots"), v.Int("rolex.fill")
	if v.Text("store.ordered") != name || fill <= slots {
		return nil
	}
	return knob.Invalid("rolex.fill", fill, fmt.Sprintf("set rolex.fill=%d or less", slots), "a leaf has %d slots", slots)
}

// validNIC refuses NICs that clients cannot READ with.
func validNIC(v knob.Values) error {
	if v.Text("store.ordered") != name || testbed.HasRDMA(v) {
		return nil
	}
	return knob.Invalid("store.ordered", name, "use another store, or a profile with RDMA", "its clients READ and WRITE leaves, and %s", testbed.NoRDMA(v))
}

// validLeaf refuses leaves that a WRITE does not hold.
func validLeaf(v knob.Values) error {
	if v.Text("store.ordered") != name {
		return nil
	}
	bytes, slots := v.Int("workload.value_bytes"), v.Int("rolex.slots")
	l, err := newLayout(slots, bytes, r2.DefaultMaxWrite)
	if err == nil {
		return nil
	}
	for next := slots; next > leastSlots; {
		next--
		if _, err := newLayout(next, bytes, r2.DefaultMaxWrite); err == nil {
			return knob.Invalid("rolex.slots", slots, fmt.Sprintf("set rolex.slots=%d and no larger rolex.fill, or a smaller workload.value_bytes", next),
				"a leaf with values of %d bytes takes %d bytes, and a WRITE %d at most", bytes, l.bytes(), r2.DefaultMaxWrite)
		}
	}
	return knob.Invalid("workload.value_bytes", bytes, "use smaller values", "a leaf of %d slots takes %d bytes, and a WRITE %d at most", slots, l.bytes(), r2.DefaultMaxWrite)
}

// leastSlots is what a leaf has at least.
const leastSlots = 4

// Options are what can be chosen. Zero fields are defaults, but for RetrainAt.
type Options struct {
	Slots         int // of a leaf; 16
	Fill          int // of them at the start; half
	Error         int // of a model, in sixteenths of a leaf; 2
	SegmentLeaves int // at the start; 256
	RetrainAt     int // splits of a segment after which it is trained again, and again; 0: never

	planted planted
}

// planted are faults for tests of the checks.
type planted struct {
	noSynonyms  bool // a key that has gone to a synonym is taken for missing
	noSecond    bool // after the lock it is not checked whether the key still belongs to the leaf
	unlockFirst bool // the lock is released before the leaf is written
	linkFirst   bool // a leaf is linked to its synonym before that is written
	noBounds    bool // one leaf is READ, whatever the model's error
}

func (o Options) withDefaults() Options {
	if o.Slots == 0 {
		o.Slots = 16
	}
	if o.Fill == 0 {
		o.Fill = o.Slots / 2
	}
	if o.Error == 0 {
		o.Error = 2
	}
	if o.SegmentLeaves == 0 {
		o.SegmentLeaves = 256
	}
	return o
}

func (o *Options) check() error {
	switch {
	case o.Slots < leastSlots || o.Slots > 64:
		return fmt.Errorf("slots %d: a leaf has %d to 64", o.Slots, leastSlots)
	case o.Fill < 1 || o.Fill > o.Slots:
		return fmt.Errorf("fill %d: 1 to %d, the slots of a leaf", o.Fill, o.Slots)
	case o.Error < 1:
		return fmt.Errorf("error %d: at least 1", o.Error)
	case o.SegmentLeaves < 1 || o.SegmentLeaves > mostLeaves:
		return fmt.Errorf("segment of %d leaves: 1 to %d", o.SegmentLeaves, mostLeaves)
	case o.RetrainAt < 0:
		return fmt.Errorf("retrain at %d splits: 0 or more", o.RetrainAt)
	}
	return nil
}
