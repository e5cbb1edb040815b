package store

import (
	"fmt"
	"slices"

	"drtmx/engine/knob"
	"drtmx/engine/r2"
)

// Keys is a sorted set of keys: those that an ordered store holds from the start. It has no duplicates. Its methods are pure
// functions and cost little, so that hundreds of millions of keys take no memory: what a store makes of them is made when it
// is first touched.
type Keys interface {
	Len() uint64
	// Key is the i-th lowest.
	Key(i uint64) uint64
	// Rank is the number of keys below key, and whether key is one of them.
	Rank(key uint64) (i uint64, ok bool)
}

// Pair is a key and its value.
type Pair struct {
	Key   uint64
	Value []byte
}

// KV is an ordered key-value store of a cluster that clients reach over the network (thesis §3.1).
type KV interface {
	// Client is what a coroutine of any machine calls the store with.
	Client(c *r2.Co) KVClient
	// Warm fills the clients' caches as a long run would have, before time 0.
	Warm() error

	// What follows is for checks: it is free of time.

	// Find copies the value of a key as it is now.
	Find(key uint64, value []byte) (ok bool)
	// Audit looks at the store at rest and calls bad with a sentence for each fault.
	Audit(bad func(text string))
}

// Recovering stores have their keys again after a crash of a server and its restart: what KVSpec.Recovered is told of.
type Recovering interface {
	// Recovers says that it does so as it is set up: it logs.
	Recovers() bool
	// Home is the server of a key.
	Home(key uint64) int
	// Durable is a time: a write that a server has answered before it survives a crash of the server at this moment. Later ones
	// may be lost.
	Durable(server int) r2.Time
	// Crashed says that a machine has crashed: what its clients had cached is gone.
	Crashed(machine int)
}

// Chooser stores have chosen what knobs left to them, and say why, by knob; nil: nothing was left to them.
type Chooser interface{ Chosen() map[string]knob.Auto }

// Explainer stores add sentences to the section that their part has in a result, where its numbers need one.
type Explainer interface {
	Explain(part string, section map[string]any)
}

// KVClient is a coroutine's handle. Keys and values are of fixed length. An error is of the network or of the machine that
// holds the key; a key that is missing, or is there already, is none.
type KVClient interface {
	// Get copies the value of a key.
	Get(key uint64, value []byte) (found bool, err error)
	// Update overwrites the value of a key that is there.
	Update(key uint64, value []byte) (found bool, err error)
	// Insert adds a key that is not there.
	Insert(key uint64, value []byte) (inserted bool, err error)
	// Delete takes a key out.
	Delete(key uint64) (found bool, err error)
	// Scan appends the first n pairs, or as many as there are, with keys from key on, rising. Each pair was there at some
	// moment of the scan, all of them together perhaps never (thesis §3.4.2.2). Values are valid until the next call.
	Scan(key uint64, n int, dst []Pair) ([]Pair, error)
}

// KVSpec describes an ordered key-value store that is to be made, whatever makes it.
type KVSpec struct {
	Name       string   // for messages to people
	Servers    int      // machines 0 to Servers-1 have equal shares of the initial keys, in order,
	Bounds     []uint64 // or, if these are given, all keys from the bound of machine 1 to 2 to ... on; some may then have no key
	Keys       Keys
	ValueBytes int
	// Real is set if keys are byte strings of different lengths (thesis §3.6). Clients name them by numbers all the same: Keys are
	// numbers, too.
	Real *RealKeys
	// Value writes the value that a key has from the start. It must be a pure function of the key. Nil leaves zeros.
	Value func(key uint64, value []byte)
	// Spare is the number of keys that each server has room for beyond its initial ones. It costs address space, and memory
	// only when used.
	Spare uint64
	Seed  uint64
	// Recovered is told when a server has its keys again after a crash, before any client can reach it; nil: not called.
	Recovered func(server int)
}

// RealKeys are the keys that numbers stand for.
type RealKeys struct {
	Most int // bytes of the longest
	// Append appends the key of a number. Different numbers have different keys. It must be a pure function.
	Append func(dst []byte, number uint64) []byte
}

// Check reports a description that cannot be.
func (s *KVSpec) Check(cl *r2.Cluster) error {
	switch {
	case s.Keys == nil || s.Bounds == nil && s.Keys.Len() < uint64(s.Servers):
		return fmt.Errorf("store %s: at least one key on each of %d servers", s.Name, s.Servers)
	case s.Servers < 1 || s.Servers > cl.Machines():
		return fmt.Errorf("store %s: %d servers, the cluster has %d machines", s.Name, s.Servers, cl.Machines())
	case s.Bounds != nil && (len(s.Bounds) != s.Servers-1 || !slices.IsSorted(s.Bounds)):
		return fmt.Errorf("store %s: %d bounds of %d servers, or they do not rise", s.Name, len(s.Bounds), s.Servers)
	case s.ValueBytes < 1:
		return fmt.Errorf("store %s: values of %d bytes, at least 1", s.Name, s.ValueBytes)
	}
	return nil
}

// KVKind is an ordered key-value store as the list of parts has it.
type KVKind struct {
	Name string // value of the knob store.ordered
	Doc  string // a clause
	// NoScan says why it has no SCAN; "": it has.
	NoScan string
	// RealKeys says that it has keys of different lengths, too: KVSpec.Real. Scans of them there are none.
	RealKeys bool

	// Rows are its own knobs, Rules what may not be set together with it.
	Rows  func() []knob.Row
	Rules []func(v knob.Values) error

	// Open makes one of its own, Indexes the ordered tables of transactions; nil: it is not for that. One of the two is there.
	Open    func(cl *r2.Cluster, s KVSpec, v knob.Values) (KV, error)
	Indexes func(cl *r2.Cluster, v knob.Values) (Indexes, error)
	// Dated says that its indexes are DatedIndexes, so that snapshots can read them.
	Dated bool
	// OfIndexes are defaults of its knobs where it has indexes.
	OfIndexes map[string]any
	// Messages fits r2's messages to it, behind what the workload says of them; nil: it takes those.
	Messages func(c *r2.Config, v knob.Values)
	// Set puts its live knobs into effect; nil: it has none.
	Set func(kv KV, v knob.Values) error
	// Forgets says why a server that has crashed does not come back with its keys; "": it does, and the store is Recovering. nil:
	// servers have no logs.
	Forgets func(v knob.Values) string
	// Footprint is what servers and clients keep of so many keys, in bytes of the host, within a factor of about two. Keys that are
	// no words count among the bytes of values.
	Footprint func(v knob.Values, keys uint64, valueBytes int) int64
}

// Ranges divides sorted keys among servers in order (thesis §3.4.5): in shares of equal size, or at given bounds.
type Ranges struct {
	keys    Keys
	servers uint64
	bounds  []uint64 // the lowest key of each server but the first
	given   bool
}

// RangesOf is the division of a store's keys.
func RangesOf(s *KVSpec) *Ranges {
	r := &Ranges{keys: s.Keys, servers: uint64(s.Servers), bounds: s.Bounds, given: s.Bounds != nil}
	if r.given {
		return r
	}
	for m := uint64(1); m < r.servers; m++ {
		r.bounds = append(r.bounds, s.Keys.Key(r.first(m)))
	}
	return r
}

// first is the rank of the first initial key of a server, or of the first behind them.
func (r *Ranges) first(server uint64) uint64 {
	if r.given && server > 0 && server < r.servers {
		rank, _ := r.keys.Rank(r.bounds[server-1])
		return rank
	}
	return r.keys.Len() * server / r.servers
}

// Server is the machine of a key.
func (r *Ranges) Server(key uint64) int {
	m := 0
	for m < len(r.bounds) && key >= r.bounds[m] {
		m++
	}
	return m
}

// Range is the range of keys from low to high, both included, that belongs to a server.
func (r *Ranges) Range(server int) (low, high uint64) {
	high = ^uint64(0)
	if server > 0 {
		low = r.bounds[server-1]
	}
	if server < len(r.bounds) {
		high = r.bounds[server] - 1
	}
	return low, high
}

// Keys are the initial keys of a server.
func (r *Ranges) Keys(server int) Keys {
	from := r.first(uint64(server))
	return &share{r.keys, from, r.first(uint64(server)+1) - from}
}

// share is a range of the ranks of some keys.
type share struct {
	all     Keys
	from, n uint64
}

func (s *share) Len() uint64         { return s.n }
func (s *share) Key(i uint64) uint64 { return s.all.Key(s.from + i) }

func (s *share) Rank(key uint64) (uint64, bool) {
	i, ok := s.all.Rank(key)
	switch {
	case i < s.from:
		return 0, false
	case i >= s.from+s.n:
		return s.n, false
	}
	return i - s.from, ok
}
