package xstore

import (
	"fmt"
	"strconv"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/knob"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/xstore/choose"
	"drtmx/xstore/hashed"
	"drtmx/xstore/model"
	"drtmx/xstore/published"
	"drtmx/xstore/tree"
)

type reply = r2.Reply

// Store is an ordered key-value store whose clients look keys up by a learned cache.
type Store struct {
	cl      *r2.Cluster
	spec    store.KVSpec
	opt     Options
	hash    hashed.Hash // of keys with lengths of their own
	reals   *hashed.Set // the initial ones of them; nil: keys are numbers
	real    []byte      // owner: oracles, which look while no machine runs
	ranges  *store.Ranges
	parts   []*part // by server
	index   *index  // that clients use
	users   []int   // by machine: the number of its first thread
	threads int     // of all machines
	rpc     rpcs
	group   *Indexes // that it belongs to, if it is an index of transactions
	number  uint8    // in it
}

// rpcs are the handlers.
type rpcs struct{ get, update, insert, remove, scan uint8 }

// part is a server's: its tree, and its models.
type part struct {
	s          *Store
	server     int
	low, high  uint64
	tree       *tree.Tree
	layout     *tree.Layout
	first      *published.Version // others follow, see published.Version.Next
	current    *published.Version // the last one; clients look at the number in memory instead
	head       r2.Addr            // the number of the current version, registered
	rkey       uint32
	keys       uint64            // now
	stats      owned.Each[Stats] // by the machine at which it happened
	trainers   trainers
	logs       []*r2.LogFile // by worker; nil: nothing is logged
	durable    []r2.Time     // by log: what was appended before is on the SSD
	separators []uint64      // of splits that the trainers are to be told of at once
	untold     int           // splits that the trainers were not told of
	wanted     uint32        // sub-models that were asked for while a model was trained; 0: none
	asked      uint64        // keys when a person last asked for a number of sub-models; 0: none has since the last expansion
	top        string        // kind of the top model
	choice     choose.Choice // of sub-models and top model, where they were left to package choose
}

// Stats counts what happened to a server's keys since the start, on the server and at all clients.
type Stats struct {
	Lookups     uint64 // by a model, or through the tree's nodes
	Hits        uint64 // of them, that READ nothing of the index: the client's cache named the leaves
	Misses      uint64 // that did, or that the cache had no answer for
	Leaves      uint64 // READ by them
	More        uint64 // of these, beyond the first of a lookup by a model
	Mismatches  uint64 // leaves whose incarnation was another than expected
	Speculative uint64 // lookups that found their key in a leaf all the same
	Siblings    uint64 // and in the leaf at its right
	Fallbacks   uint64 // GETs that the server had to answer
	Blind       uint64 // lookups whose sub-model cannot predict: its errors do not fit their 8 bits
	Refreshes   uint64 // sub-models that came with its answer
	Fetches     uint64 // sub-models and nodes that were READ into a cache
	Torn        uint64 // leaves and values that were caught in a change, and read again
	Hinted      uint64 // UPDATEs that the server did without its tree
	Collisions  uint64 // records that GETs READ of other keys with the hash
	Updates     uint64
	Splits      uint64
	Retrained   uint64 // sub-models
	Trained     uint64 // whole models
	Unpredicted uint64 // sub-models that training gave up: clients ask the server
}

// Open makes the trees and their models on the servers.
func Open(cl *r2.Cluster, spec store.KVSpec, o Options) (*Store, error) {
	if err := spec.Check(cl); err != nil {
		return nil, err
	}
	o = o.withDefaults(&spec)
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &Store{cl: cl, spec: spec, opt: o}
	s.handle()
	return s, s.make()
}

// make makes what a store consists of.
func (s *Store) make() error {
	cl := s.cl
	if err := s.sortReal(); err != nil {
		return err
	}
	for m, n := 0, 0; m < cl.Machines(); m++ {
		s.users = append(s.users, n)
		n += cl.Threads(m)
		s.threads = n
	}
	for m := range s.spec.Servers {
		p, err := s.open(m)
		if err != nil {
			return fmt.Errorf("store %s: %w", s.spec.Name, err)
		}
		s.parts = append(s.parts, p)
	}
	s.index = s.newIndex(s.opt.Cache)
	return nil
}

// open makes the part of a server.
func (s *Store) open(m int) (*part, error) {
	p := &part{s: s, server: m, stats: owned.New[Stats](s.cl.Machines(), nil)}
	p.low, p.high = s.ranges.Range(m)
	keys := s.ranges.Keys(m)
	p.keys = keys.Len()
	var err error
	o := tree.Options{Name: s.spec.Name, Keys: keys, ValueBytes: s.spec.ValueBytes, Value: s.spec.Value, Slots: s.opt.Slots, Spare: s.spec.Spare, OnSplit: p.split}
	if s.reals != nil {
		o.Real, o.Heap = p.reals(), tree.HeapBytes(s.spec.Spare+1, s.spec.Real.Most, s.spec.ValueBytes)
		p.keys = p.records()
	}
	if p.tree, err = tree.New(s.cl, m, o); err != nil {
		return nil, err
	}
	p.layout = p.tree.Layout()
	mem := s.cl.Mem(m)
	if p.head, err = mem.Alloc(host.Alloc{Name: "xstore.head", Bytes: space.LineBytes}); err != nil {
		return nil, err
	}
	p.rkey = mem.Register(p.head, space.LineBytes, host.RemoteRead).RKey
	if err := p.learn(keys); err != nil {
		return nil, err
	}
	p.startTrainers()
	return p, p.startLogs()
}

// learn makes the first version: a top model trained on the initial keys, and sub-models that are trained when a lookup
// looks.
func (p *part) learn(keys store.Keys) error {
	n, err := p.subModels(p.s.opt.SubModels)
	if err != nil {
		return err
	}
	top, err := p.trainTop(keys)
	if err != nil {
		return err
	}
	leaves, fill, inca := p.tree.Initial()
	x := model.NewModel(top, uint32(n), keys, p.low, p.high)
	in := &model.Initial{Keys: keys, Fill: fill, Low: p.low, High: p.high, INCA: inca}
	im := published.NewImage(x, in, p.s.newTrainer())
	v, err := published.New(p.s.cl, p.server, 0, x, im, uint64(leaves), p.s.spec.Spare/uint64(p.layout.Slots/2))
	if err != nil {
		return err
	}
	p.first, p.current = v, v
	return nil
}

// subModels is their number where n was asked for. It leaves what is auto, number or top model, to package choose, for the initial keys.
func (p *part) subModels(n int) (int, error) {
	o := p.s.opt
	p.choice = choose.Choice{}
	if p.top == "" {
		p.top = o.TopModel
	}
	if n != AutoSubModels && o.TopModel != choose.AnyTop {
		return n, nil
	}
	var err error
	reads := map[Mode]int{Model: 1, Top: 2}[o.Cache]
	if p.choice, err = choose.Choose(p.s.ranges.Keys(p.server), p.low, p.high, choose.Options{SubModels: n, TopModel: o.TopModel, Fields: o.Fields,
		Slots: o.Slots, KeyErrors: o.KeyErrors, CacheBytes: o.CacheBytes, Most: MaxSubModels, IndexReads: reads, Seed: p.s.spec.Seed}, p.prices()); err != nil {
		return 0, err
	}
	p.top = p.choice.Top
	return p.choice.SubModels, nil
}

// prices are those of lookups in the part.
func (p *part) prices() choose.Prices {
	s := p.s
	clients, all := 0, 0
	for m := range s.cl.Machines() {
		if m >= s.spec.Servers {
			clients += s.cl.Threads(m)
		}
		all += s.cl.Threads(m)
	}
	if clients == 0 { // servers are each other's clients
		clients = all
	}
	f := s.cl.Fabric()
	return choose.PricesOf(f.Profile(), f.Machine(p.server).Type, choose.Site{LeafBytes: s.opt.readBytes(), ValueBytes: s.spec.ValueBytes, Levels: p.tree.Stats().Levels,
		Threads: s.cl.Threads(p.server), Clients: float64(clients) / float64(s.spec.Servers), SearchCycles: searchCycles})
}

// trainTop trains the top model on some keys.
func (p *part) trainTop(keys model.Keys) (model.Top, error) {
	return model.TrainTop(model.TopSpec{Kind: p.top, Seed: p.s.spec.Seed, Fields: p.s.opt.Fields}, keys)
}

func (s *Store) newTrainer() *model.Trainer {
	return model.NewTrainer(model.Config{Slots: s.opt.Slots, LeafErrors: !s.opt.KeyErrors})
}

// part is the server's of a key.
func (s *Store) part(key uint64) *part { return s.parts[s.ranges.Server(key)] }

// leafLoc is where bytes of a leaf are.
func (p *part) leafLoc(aln uint32, off int) r2.Loc {
	return r2.Loc{Machine: p.server, RKey: p.tree.RKey(), Addr: p.tree.LeafAddr(aln) + r2.Addr(off)}
}

func (p *part) headLoc() r2.Loc { return r2.Loc{Machine: p.server, RKey: p.rkey, Addr: p.head} }

// Warm does nothing: caches begin with the models of the initial keys.
func (s *Store) Warm() error { return nil }

// Find copies the value of a key as it is now: an oracle.
func (s *Store) Find(key uint64, value []byte) bool {
	if s.reals != nil {
		return s.find(key, value)
	}
	_, ok := s.part(key).tree.Find(key, value)
	return ok
}

// Stats are those of all servers.
func (s *Store) Stats() (sum Stats) {
	for _, p := range s.parts {
		for _, at := range p.stats.All() {
			sum.Add(at)
		}
	}
	return sum
}

// counts is where a coroutine counts.
func (p *part) counts(c *r2.Co) *Stats { return p.stats.Of(c.Machine()) }

// hit counts whether a lookup was a hit, when that is known.
func (s *Stats) hit(it bool) {
	if it {
		s.Hits++
	} else {
		s.Misses++
	}
}

// Add adds what happened elsewhere.
func (s *Stats) Add(o *Stats) {
	s.Lookups += o.Lookups
	s.Hits += o.Hits
	s.Misses += o.Misses
	s.Leaves += o.Leaves
	s.More += o.More
	s.Mismatches += o.Mismatches
	s.Speculative += o.Speculative
	s.Siblings += o.Siblings
	s.Fallbacks += o.Fallbacks
	s.Blind += o.Blind
	s.Refreshes += o.Refreshes
	s.Fetches += o.Fetches
	s.Torn += o.Torn
	s.Hinted += o.Hinted
	s.Collisions += o.Collisions
	s.Updates += o.Updates
	s.Splits += o.Splits
	s.Retrained += o.Retrained
	s.Trained += o.Trained
	s.Unpredicted += o.Unpredicted
}

// Chosen is what Auto chose for the first server, and why.
func (s *Store) Chosen() map[string]knob.Auto {
	c := s.parts[0].choice
	chosen := map[string]knob.Auto{}
	if c.SubModels != 0 && s.opt.SubModels == AutoSubModels {
		chosen["xstore.submodels"] = knob.Auto{Primitive: strconv.Itoa(c.SubModels), Because: c.Because}
	}
	if c.SubModels != 0 && s.opt.TopModel == choose.AnyTop {
		because := c.Because
		if s.opt.SubModels == AutoSubModels {
			because = "of all top models it has the cheapest number of sub-models"
		}
		chosen["xstore.top"] = knob.Auto{Primitive: c.Top, Because: because}
	}
	return chosen
}
