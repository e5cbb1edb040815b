package xstore

import (
	"slices"
	"strconv"

	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/testbed"
	"drtmx/xstore/choose"
	"drtmx/xstore/dataset"
	"drtmx/xstore/hashed"
)

// Kind is the store in the list of parts.
var Kind = store.KVKind{
	Name: "xstore",
	Doc:  "B+tree at the server, learned cache at the clients (XStore)",
	Rows: rows,

	RealKeys: true,
	Rules: []func(knob.Values) error{
		validTrainers,
		validExpand,
		validNIC,
	},
	Open: func(cl *r2.Cluster, s store.KVSpec, v knob.Values) (store.KV, error) {
		return Open(cl, s, optionsOf(v, &s))
	},
	Indexes: func(cl *r2.Cluster, v knob.Values) (store.Indexes, error) {
		return NewIndexes(cl, func(s *store.KVSpec) Options { return optionsOf(v, s) }), nil
	},
	// Servers of transactions run them: one trainer keeps up with the indexes of TPC-C, and two cost it throughput.
	OfIndexes: map[string]any{"xstore.trainers": 1},
	Set: func(kv store.KV, v knob.Values) error {
		s := kv.(*Store)
		return s.set(optionsOf(v, &s.spec))
	},
	Messages: func(c *r2.Config, v knob.Values) {
		c.MaxReply = maxReply
		c.RecvDepth = c.RecvDepths(c.PerMachine, v.Int("coroutines"), v.Int("coroutines"))
	},
	Forgets:   forgets,
	Footprint: footprint,
}

// forgets says why a server does not recover.
func forgets(v knob.Values) string {
	switch {
	case !v.Bool("xstore.log"):
		return "a server of xstore loses its keys in a crash unless it logs: reset with xstore.log=true"
	case v.Int("xstore.trainers") == 0:
		return "no thread would train the models of a server that recovers: reset with xstore.trainers=1"
	}
	return ""
}

// maxReply is what a SCAN of 100 pairs, or a large table of a sub-model, fits into.
const maxReply = 16 << 10

func optionsOf(v knob.Values, s *store.KVSpec) Options {
	o := Options{
		SubModels: v.Int("xstore.submodels"), TopModel: v.Text("xstore.top"), Slots: v.Int("xstore.leaf_slots"), Cache: Mode(slices.Index(Modes, v.Text("xstore.cache"))),
		PerThread: v.Text("xstore.cache_scope") == "thread", Trainers: v.Int("xstore.trainers"), Speculative: v.Bool("xstore.speculative"),
		PositionHint: v.Bool("xstore.position_hint"), Merge: v.Bool("xstore.retrain_merge"), Log: v.Bool("xstore.log"), LogBehind: v.Int("xstore.log_behind"), ExpandAt: v.Int("xstore.expand_at"),
		KeyErrors: v.Text("xstore.errors") == "key", Fields: dataset.Predictors(s.Keys), HashBits: v.Int("xstore.hash_bits"),
	}
	return o.withDefaults(s)
}

func rows() []knob.Row {
	row := func(k knob.Knob) knob.Row {
		k.Group = knob.Store
		return knob.Row{Knob: k}
	}
	learned := func(r knob.Row) knob.Row {
		r.Inactive = func(v knob.Values) string {
			if m := v.Text("xstore.cache"); slices.Index(Modes, m) > int(Top) {
				return "xstore.cache " + m + " has no models"
			}
			return ""
		}
		return r
	}
	byHash := func(r knob.Row) knob.Row {
		r.Inactive = func(v knob.Values) string {
			if n, _ := v.Value("workload.key_bytes").(int); n == 0 {
				return "workload.key_bytes is 0: keys have 8 bytes, and no hash"
			}
			return ""
		}
		return r
	}
	logs := row(knob.Knob{Name: "xstore.log_behind", Kind: knob.Bytes, Default: DefaultLogBehind, Min: 4096, Max: 1 << 30, Unit: "bytes", Label: "Log in memory", Section: "3.4.4",
		Doc: "Largest part of a worker's log that is buffered in memory; when it is full, the worker waits for the SSD. A smaller one shows the cost of a slow SSD sooner. Assumed: the thesis does not state it."})
	logs.Inactive = func(v knob.Values) string {
		if v.Bool("xstore.log") {
			return ""
		}
		return "xstore.log is off"
	}
	subModels := learned(row(knob.Knob{Name: "xstore.submodels", Kind: knob.Int, Default: 0, Min: AutoSubModels, Max: MaxSubModels, Label: "Sub-models", Section: "3.4.1", Live: true,
		Doc: "Of each server. More of them predict better and take more memory, 14 bytes each. A change trains a new model in the background while requests go on. 0: one for 200 of the initial keys, as in the thesis. auto, or -1: chosen for the initial keys, from what READs, RPCs and predictions of a lookup take of the server's RNIC, its cores and the clients'; tells when another top model would take less."}))
	subModels.Together = knob.Always
	subModels.Words = map[int]string{AutoSubModels: "auto"}
	subModels.Own = func(r *knob.Row, v any) (any, error) {
		if v == "auto" {
			return AutoSubModels, nil
		}
		return r.Knob.Parse(v)
	}
	cache := row(knob.Knob{Name: "xstore.cache", Kind: knob.Choice, Default: "full", Choices: Modes, Label: "Cache", Section: "3.4.1", Live: true,
		Doc: "What clients keep of the index: full = sub-models and translation tables; model = sub-models only, a READ more for each lookup; top = the top model only, two READs more; tree = every inner node of the tree; tree4 = the nodes four levels above the leaves, as Cell; none = nothing, a READ for each level."})
	cache.Together = knob.Always
	return []knob.Row{
		subModels,
		cache,
		learned(row(knob.Knob{Name: "xstore.top", Kind: knob.Choice, Default: "lr", Choices: []string{"lr", "mlr", "nn", "pieces", choose.AnyTop}, Label: "Top model", Section: "3.5.2",
			Doc: "Sends a key to its sub-model: lr = linear regression; mlr = of the fields of a composite key; nn = a neural network with 8 neurons; pieces = piecewise linear with a bounded error, which the thesis does not have; auto = the one with which lookups take least."})),
		row(knob.Knob{Name: "xstore.leaf_slots", Kind: knob.Int, Default: DefaultSlots, Min: 4, Max: 64, Label: "Slots of a leaf", Section: "3.4.1",
			Doc: "Pairs that a leaf has room for. A lookup READs the keys of a whole leaf."}),
		learned(row(knob.Knob{Name: "xstore.errors", Kind: knob.Choice, Default: "leaf", Choices: []string{"leaf", "key"}, Label: "Errors of", Section: "3.4.1",
			Doc: "What the errors of a sub-model are measured by: leaf = how far a prediction is from the key's leaf, so that one leaf is READ where one is enough (section 3.7.2); key = from the key's position, as Figure 3-7 prints it."})),
		learned(row(knob.Knob{Name: "xstore.trainers", Kind: knob.Int, Default: 2, Min: 0, Max: 8, Label: "Trainers", Section: "3.7.1",
			Doc: "Threads of a server that retrain models, on cores that they share with workers. 0: models get stale, and clients ask the server."})),
		learned(row(knob.Knob{Name: "xstore.speculative", Kind: knob.Bool, Default: true, Label: "Speculative lookup", Section: "3.4.3.2", Live: true,
			Doc: "A lookup that finds a split leaf continues in it and in its right neighbour before it asks the server."})),
		learned(row(knob.Knob{Name: "xstore.position_hint", Kind: knob.Bool, Default: true, Label: "Position hint", Section: "3.4.3.1", Live: true,
			Doc: "An UPDATE tells the server in which leaves the key may be, so that it need not search its tree."})),
		row(knob.Knob{Name: "xstore.log", Kind: knob.Bool, Default: false, Label: "Durability", Section: "3.4.4",
			Doc: "Workers of the server log what they write, and a thread on each of their cores writes the logs to the SSD, once in a millisecond. A server that crashes (fault.crash) comes back with what was written by then."}),
		logs,
		byHash(row(knob.Knob{Name: "xstore.hash_bits", Kind: knob.Int, Default: hashed.Bits, Min: 4, Max: hashed.Bits, Label: "Hash of keys", Unit: "bits", Section: "3.6",
			Doc: "Length of the hash that keys of different lengths are kept by. With fewer bits keys share one, and lookups READ other keys' records: an experiment on collisions."})),
		row(knob.Knob{Name: "xstore.cache_scope", Kind: knob.Choice, Default: "machine", Choices: []string{"machine", "thread"}, Label: "Cache shared by",
			Doc: "Whether the threads of a client machine share a cache, or each has its own."}),
		learned(row(knob.Knob{Name: "xstore.expand_at", Kind: knob.Int, Default: 2 * keysPerModel, Min: 0, Max: 1 << 30, Label: "Expansion", Unit: "keys", Section: "3.4.3.2",
			Doc: "Mean keys of a sub-model at which the server trains a model with twice as many; at an eighth of it, with half as many. 0: never."})),
		learned(row(knob.Knob{Name: "xstore.retrain_merge", Kind: knob.Bool, Default: false, Label: "Merge retraining", Section: "3.4.3.2",
			Doc: "One training for several splits of a sub-model that wait. The thesis does not merge: it happens rarely."})),
	}
}

// validTrainers refuses what no thread would train.
func validTrainers(v knob.Values) error {
	if testbed.ThreadsOf(v, 0) < 1 || v.Int("xstore.trainers") <= testbed.ThreadsOf(v, 0) {
		return nil
	}
	n := testbed.ThreadsOf(v, 0)
	return knob.Invalid("xstore.trainers", v.Int("xstore.trainers"), "set xstore.trainers="+strconv.Itoa(n), "each shares a core with another of the server's %d workers", n)
}

// validNIC refuses NICs that clients cannot READ with.
func validNIC(v knob.Values) error {
	if testbed.HasRDMA(v) {
		return nil
	}
	return knob.Invalid("store.ordered", "xstore", "use another store, or a profile with RDMA", "its clients READ leaves, and %s", testbed.NoRDMA(v))
}

// validExpand refuses a threshold that is met from the start.
func validExpand(v knob.Values) error {
	if n := v.Int("xstore.expand_at"); n > 0 && n < keysPerModel {
		return knob.Invalid("xstore.expand_at", n, "use 0, or 200 and more", "a model has %d keys for each sub-model at the start", keysPerModel)
	}
	return nil
}

// set puts live options into effect.
func (s *Store) set(o Options) error {
	s.opt.Speculative, s.opt.PositionHint = o.Speculative, o.PositionHint
	if o.Cache != s.opt.Cache {
		s.setCache(o.Cache)
	}
	if o.SubModels != s.opt.SubModels && s.opt.Cache.learned() {
		return s.SetSubModels(o.SubModels)
	}
	return nil
}

// footprint is what the host keeps: leaves as far as they are touched, which an even load soon has all of; models.
func footprint(v knob.Values, keys uint64, valueBytes int) int64 {
	const leafHeader, perKey = 64, 2 * 8
	slots := uint64(max(v.Int("xstore.leaf_slots"), 1))
	leaves := keys/(slots/2) + 1
	return int64(leaves*(leafHeader+slots*uint64(perKey+valueBytes)) + keys/keysPerModel*(20+64))
}
