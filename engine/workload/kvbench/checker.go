package kvbench

import (
	"fmt"
	"slices"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

const (
	mostRegisters = 2_000_000 // keys that are watched at most
	sampledOf     = 64        // of so many keys, one is watched where check is sampled
	manyVersions  = 8         // of a key, from which on those are dropped that no answer can have any more
)

// checker judges answers while they come in (§3.4.3, no lost keys), key by key and exactly: what it reports cannot have
// happened in any order of the requests, and what it does not report can.
type checker struct {
	keys        store.Keys
	every       uint64 // a key in so many is watched; 0: none
	registers   map[uint64]*register
	inserted    map[uint64][]uint64 // watched keys that are not there from the start, by the number of initial keys below them
	began       []r2.Time           // by client: its request, or never
	machines    []int               // by client
	now         func() r2.Time      // nothing begins earlier from now on: cores may be ahead of it
	scratch     []byte
	home        func(key uint64) int     // server of a key; nil: servers do not recover
	durable     func(key uint64) r2.Time // answers about a key of before survive a crash of its server
	outages     map[int]outage           // by server
	recoveredAt map[int]r2.Time          // by server: the end of the last one
	fault       string                   // the first
	checked     uint64
}

func newChecker(keys store.Keys, mode string, valueBytes int) *checker {
	k := &checker{keys: keys, now: func() r2.Time { return 0 }, registers: map[uint64]*register{}, inserted: map[uint64][]uint64{}, scratch: make([]byte, valueBytes),
		durable: func(uint64) r2.Time { return never }, outages: map[int]outage{}, recoveredAt: map[int]r2.Time{}}
	switch mode {
	case "full":
		k.every = 1
	case "sampled":
		k.every = sampledOf
	}
	return k
}

// watches says whether a key's answers are judged.
func (k *checker) watches(key uint64) bool { return k.every > 0 && hash(key)%k.every == 0 }

func (k *checker) report(format string, args ...any) {
	if k.fault == "" {
		k.fault = fmt.Sprintf(format, args...)
	}
}

// client makes a client of a machine known. Its number is that of its coroutine.
func (k *checker) client(number, machine int) int {
	for len(k.began) <= number {
		k.began, k.machines = append(k.began, never), append(k.machines, machine)
	}
	k.machines[number] = machine
	return number
}

// register is that of a key, made when something has to be remembered of it.
func (k *checker) register(key uint64) *register {
	if r := k.registers[key]; r != nil {
		return r
	}
	if len(k.registers) >= mostRegisters {
		k.thin()
	}
	below, there := k.keys.Rank(key)
	r := newRegister(there)
	if !there {
		k.inserted[below] = append(k.inserted[below], key)
	}
	k.registers[key] = r
	return r
}

// written are the keys of registers, rising.
func (k *checker) written() []uint64 {
	keys := make([]uint64, 0, len(k.registers))
	for key := range k.registers { // order-free: sorted below
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// thin gives every second key up.
func (k *checker) thin() {
	k.every *= 2
	for key := range k.registers { // order-free: what goes depends on the key alone
		if !k.watches(key) {
			delete(k.registers, key)
		}
	}
	for below, list := range k.inserted { // order-free: likewise
		if list = slices.DeleteFunc(list, func(key uint64) bool { return !k.watches(key) }); len(list) == 0 {
			delete(k.inserted, below)
		} else {
			k.inserted[below] = list
		}
	}
}

// begin notes a write that begins.
func (k *checker) begin(key uint64, x id, at r2.Time, inserts bool) {
	if !k.watches(key) {
		return
	}
	r := k.register(key)
	if len(r.versions) >= r.many {
		r.prune(k.earliest(), k.durable(key))
		r.many = max(manyVersions, 2*len(r.versions))
	}
	r.write(x, at, inserts)
}

// end notes that a write has ended, or has been refused: an INSERT because the key was there, an UPDATE because it was not.
func (k *checker) end(key uint64, x id, begin, end r2.Time, done bool) {
	r := k.registers[key]
	if r == nil || r.find(x) == nil { // not watched, or no longer
		return
	}
	if k.out(key, begin) {
		k.failed(key, x)
		return
	}
	k.checked++
	if done {
		k.judge(key, r.wrote(x, begin, end))
	} else {
		k.judge(key, r.refused(x, begin, end))
	}
}

// earliest is when what is under way, or is to come, began at the earliest.
func (k *checker) earliest() r2.Time {
	horizon := k.now()
	for _, b := range k.began {
		horizon = min(horizon, b)
	}
	return horizon
}

func (k *checker) judge(key uint64, wrong string) {
	if wrong != "" {
		k.report("key %d: %s", key, wrong)
	}
}

// read judges a value that a request from begin to end had for a key.
func (k *checker) read(key uint64, value []byte, begin, end r2.Time) {
	if !k.watches(key) {
		return
	}
	k.checked++
	x, wrong := parse(key, value, k.scratch)
	if wrong != "" {
		k.report("key %d has value %x, %s", key, value, wrong)
		return
	}
	if k.out(key, begin) { // the value was one, of whatever time
		return
	}
	r := k.registers[key]
	if r == nil && (x != initial || begin > k.now()) {
		r = k.register(key)
	}
	if r != nil { // of the others all is known: they have the initial value
		k.judge(key, r.read(x, begin, end))
	}
}

// missing judges that a key was not found: it is lost if it had been there when the request began, for there are no deletes.
func (k *checker) missing(key uint64, begin, end r2.Time) {
	if !k.watches(key) || k.out(key, begin) {
		return
	}
	k.checked++
	k.judge(key, k.register(key).miss(begin, end))
}

// scan judges the pairs that a request for n from a key on had: their order, their values, and that no key is left out.
func (k *checker) scan(from uint64, n int, pairs []store.Pair, begin, end r2.Time) {
	if k.every == 0 {
		return
	}
	rank, _ := k.keys.Rank(from)
	next := from
	gap := func(to uint64, last bool) { // nothing was found from next to before to
		for ; rank < k.keys.Len() && (last || k.keys.Key(rank) < to); rank++ {
			k.gap(rank, next, to, last, begin, end)
			k.missing(k.keys.Key(rank), begin, end)
		}
		k.gap(rank, next, to, last, begin, end)
	}
	for i := range pairs {
		p := &pairs[i]
		if p.Key < next {
			k.report("a scan of %d from key %d has key %d behind key %d", n, from, p.Key, next-1)
			return
		}
		gap(p.Key, false)
		k.read(p.Key, p.Value, begin, end)
		if rank < k.keys.Len() && k.keys.Key(rank) == p.Key {
			rank++
		} else if k.watches(p.Key) && k.registers[p.Key] == nil {
			k.report("a scan from key %d has key %d, which no client inserted", from, p.Key)
		}
		next = p.Key + 1
	}
	if len(pairs) < n {
		gap(0, true)
	}
}

// gap judges that inserted keys below the initial one of a rank were not found, those from next on and, but for the last gap, before
// to.
func (k *checker) gap(rank, next, to uint64, last bool, begin, end r2.Time) {
	for _, key := range k.inserted[rank] {
		if key >= next && (last || key < to) {
			k.missing(key, begin, end)
		}
	}
}
