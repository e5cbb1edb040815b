package kv

import (
	"fmt"

	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// Names of package store that this package uses all over.
type (
	Spec      = store.Spec
	Ref       = store.Ref
	Location  = store.Location
	Placement = store.Placement
)

// NewRef packs a row number and an incarnation.
func NewRef(row uint32, incarnation uint16) Ref { return store.NewRef(row, incarnation) }

// Kind is that of this package's tables, with the defaults of its knobs.
var Kind store.Kind = kind{}

// kind has what the knobs say.
type kind struct{ packed, array bool }

const (
	nodeKnob  = "kv.node"
	cacheKnob = "kv.cache"
)

// Rows are its knobs.
func (kind) Rows() []knob.Row {
	return []knob.Row{
		{Knob: knob.Knob{Name: nodeKnob, Kind: knob.Choice, Default: "wide", Choices: []string{"wide", "packed"}, Label: "Hash table node", Section: "4.3.1", Group: knob.Store,
			Doc: "What a look-up READs of a hash table. wide: 384 bytes with four slots, as in the released code, of which only the size is known; the thesis is silent. packed: 128 bytes with eight slots. Both are 75 % full: a look-up takes 1.10 or 1.05 READs on average. When all is touched, they take 246 or 43 bytes of host memory per record."}},
		{Knob: knob.Knob{Name: cacheKnob, Kind: knob.Choice, Default: "clock", Choices: []string{"clock", "array"}, Label: "Location cache, kind", Section: "4.3.1", Group: knob.Store,
			Doc: "clock: sets of four entries of 16 bytes with replacement, which execution fills within a budget, as the thesis says. array: as in the released code, a place of 8 bytes for each record of other machines that is there from the start, filled beforehand; cache.bytes has to hold them all."},
			Inactive: func(v knob.Values) string {
				if !v.Bool("cache.enabled") {
					return "cache.enabled is off"
				}
				return ""
			}},
	}
}

// With is the kind as resolved values have it.
func (kind) With(v knob.Values) store.Kind {
	return kind{packed: v.Text(nodeKnob) == "packed", array: v.Text(cacheKnob) == "array"}
}

// What hash tables take of the host's memory for each record when all is touched: a page often has few nodes of those that chains
// rarely need.
const (
	packedBytes = 43
	wideBytes   = 246
)

func (k kind) Needs() store.Memory {
	if k.packed {
		return store.Memory{Index: packedBytes, Entry: CacheEntryBytes}
	}
	return store.Memory{Index: wideBytes, Entry: CacheEntryBytes}
}

func (k kind) bucket() *bucket {
	if k.packed {
		return packed
	}
	return wide
}

func (kind) Name() string { return "drtm-kv" }
func (kind) Doc() string  { return "cluster-chained hash tables with location caches (DrTM-KV)" }

// Halves is the one of servers.
func (kind) Halves() store.Halves { return store.Served }

// Make is NewTable.
func (k kind) Make(cl *r2.Cluster, s Spec, l record.Layout, p Placement) (store.Table, error) {
	return k.newTable(cl, l, s, p)
}

// caches are the location caches of a cluster. They share the numbers of the records.
type caches struct {
	cl          *r2.Cluster
	numbers     *Numbers
	bytes, seed uint64
	array       bool
	made        []cache // owner: each machine makes its own
}

// cache is a location cache of either kind.
type cache interface {
	store.Cache
	Bytes() uint64
	Resize(bytes uint64) error
}

// Caches prepares location caches.
func (k kind) Caches(cl *r2.Cluster, tables []store.Table, bytes, seed uint64) (store.Caches, error) {
	numbers, err := numberRecords(tables)
	if err != nil {
		return nil, err
	}
	return &caches{cl: cl, numbers: numbers, bytes: bytes, seed: seed, array: k.array, made: make([]cache, cl.Machines())}, nil
}

func numberRecords(tables []store.Table) (*Numbers, error) {
	var list []*Table
	for _, t := range tables {
		list = append(list, t.(*Table))
	}
	return NumberRecords(list)
}

// Fits refuses a budget that does not hold an array for the tables.
func (k kind) Fits(cl *r2.Cluster, tables []store.Table, bytes uint64) error {
	if !k.array {
		return nil
	}
	all, err := numberRecords(tables)
	for m := 0; err == nil && m < cl.Machines(); m++ {
		err = (&Array{places: all.slotsOf(m)}).Resize(bytes)
	}
	return err
}

// Of makes the cache of a machine when it is first asked for. The budget was checked before.
func (x *caches) Of(machine int) store.Cache {
	if x.made[machine] == nil {
		made, err := x.make(machine)
		if err != nil {
			panic(fmt.Sprintf("kv: location cache with a budget that was checked: %v", err))
		}
		x.made[machine] = made
	}
	return x.made[machine]
}

func (x *caches) make(machine int) (cache, error) {
	if x.array {
		return NewArray(x.cl, machine, x.numbers, x.bytes)
	}
	return NewCache(x.cl, machine, x.numbers, x.bytes, x.seed)
}

// Each calls f with those that have been made.
func (x *caches) Each(f func(store.Cache)) {
	for _, c := range x.made {
		if c != nil {
			f(c)
		}
	}
}

// Resize changes the budget of all of them.
func (x *caches) Resize(bytes uint64) error {
	x.bytes = bytes
	for _, c := range x.made {
		if c != nil && c.Bytes() != bytes {
			if err := c.Resize(bytes); err != nil {
				return err
			}
		}
	}
	return nil
}
