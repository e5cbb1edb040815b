package xstore

import (
	"fmt"

	"drtmx/engine/store"
	"drtmx/xstore/choose"
	"drtmx/xstore/hashed"
	"drtmx/xstore/model"
)

// Mode is what clients keep of the index (thesis §3.4.1, §3.7.7, and the caches that the learned one is compared with).
type Mode uint8

const (
	Full  Mode = iota // sub-models and translation tables
	Model             // sub-models; entries of tables are READ for each lookup
	Top               // the top model; the sub-model is READ first
	Tree              // every inner node of the tree: the optimum of a tree-based cache
	Tree4             // the inner nodes at least four levels above the leaves, least recently used first out: Cell
	None              // nothing: every lookup begins at the root
)

// Modes are their names, as the knob xstore.cache has them.
var Modes = []string{"full", "model", "top", "tree", "tree4", "none"}

func (m Mode) String() string { return Modes[m] }

// learned says that lookups go by a model.
func (m Mode) learned() bool { return m <= Top }

// Options are how a store and its clients work. The zero value of a field means its default, if it has one.
type Options struct {
	SubModels int           // of each server; default one for 200 initial keys, as the thesis has
	TopModel  string        // lr, mlr, nn, pieces or auto; default lr
	Fields    []model.Field // of a key, for mlr
	Slots     int           // of a leaf; default 16
	// KeyErrors has the errors of sub-models be those of keys' positions, as Figure 3-7 prints it. Where leaves are half full
	// positions are a staircase, and about half of the lookups READ a second leaf; §3.7.2 says that one is enough. So errors are
	// those of leaves unless told.
	KeyErrors    bool
	Cache        Mode
	CacheBytes   uint64 // of a client's cache of nodes; 0: all nodes have room
	PerThread    bool   // each thread has a cache of its own, instead of one for its machine
	Trainers     int    // threads that retrain, on each server; 0: none
	Speculative  bool   // §3.4.3.2
	PositionHint bool   // §3.4.3.1
	Merge        bool   // one task for several splits of a sub-model that wait
	Log          bool   // §3.4.4
	LogBehind    int    // bytes of a worker's log that wait in memory at most: then it waits for the logger; default DefaultLogBehind
	// ExpandAt is the mean number of keys of a sub-model at which their number is doubled, 0: never.
	ExpandAt int
	// HashBits is the length of the hash of keys with lengths of their own (§3.6); default 64. Fewer have keys share a hash.
	HashBits int

	wide    bool    // a lookup READs the slots, too: keys have lengths of their own
	planted planted // faults that tests plant
}

const (
	// keysPerModel is the thesis's: 500 K sub-models for 100 M keys (§3.7.1).
	keysPerModel = 200
	// DefaultSlots is N (§3.4.1).
	DefaultSlots = 16
)

func (o Options) withDefaults(s *store.KVSpec) Options {
	if o.SubModels == 0 {
		o.SubModels = int(max(1, s.Keys.Len()/uint64(s.Servers)/keysPerModel))
	}
	if o.TopModel == "" {
		o.TopModel = "lr"
	}
	if o.HashBits == 0 {
		o.HashBits = hashed.Bits
	}
	if o.Slots == 0 {
		o.Slots = DefaultSlots
	}
	if o.LogBehind == 0 {
		o.LogBehind = DefaultLogBehind
	}
	return o
}

// AutoSubModels leaves their number to package choose.
const AutoSubModels = choose.AnyNumber

// MaxSubModels bounds them: their numbers and those of their lines have 32 bits.
const MaxSubModels = 8_000_000

// readBytes is the length of a lookup READ, but for versions.
func (o Options) readBytes() int {
	if o.wide { // of leaves that are half full
		return 8 * (2*o.Slots + 1)
	}
	return 8 * (o.Slots + 1)
}

func (o Options) check() error {
	switch {
	case o.SubModels != AutoSubModels && (o.SubModels < 1 || o.SubModels > MaxSubModels):
		return fmt.Errorf("xstore.submodels %d: from 1 to %d", o.SubModels, MaxSubModels)
	case o.HashBits < 1 || o.HashBits > hashed.Bits:
		return fmt.Errorf("xstore.hash_bits %d: from 1 to %d", o.HashBits, hashed.Bits)
	case int(o.Cache) >= len(Modes):
		return fmt.Errorf("xstore.cache %d: one of %v", o.Cache, Modes)
	}
	return nil
}
