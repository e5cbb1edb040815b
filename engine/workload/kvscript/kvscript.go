package kvscript

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"drtmx/engine/metrics"
	"drtmx/engine/owned"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// spare is how many keys each server has room for beyond the initial ones.
const spare = 64

// Options are the script and what it is about.
type Options struct {
	Script     string
	ValueBytes int // a multiple of 8
	Seed       uint64
}

// Script is the workload.
type Script struct {
	o        Options
	script   script
	kv       store.KV
	report   workload.Verbs
	own      owned.Each[answers]
	keys     []uint64 // that answers are about, rising
	requests int
	writes   state   // values that writes have
	verdict  answers // of the checks at the end
}

// answers are those that a machine's clients had.
type answers struct {
	inFlight int
	ended    int // requests
	list     []answer
	fault    string // of an answer by itself, the first
}

// answer is one about a key.
type answer struct {
	key uint64
	operation
}

// New checks the options.
func New(o Options) (*Script, error) {
	x, err := parse(o.Script)
	if err != nil {
		return nil, fmt.Errorf("kvscript: %w", err)
	}
	if o.ValueBytes < 8 || o.ValueBytes%8 != 0 {
		return nil, fmt.Errorf("kvscript with values of %d bytes: a multiple of 8, at least 8", o.ValueBytes)
	}
	w := &Script{o: o, script: x, keys: slices.Clone(x.keys), writes: initial}
	for _, list := range x.clients {
		for i := range list {
			r := &list[i]
			if w.keys = append(w.keys, r.key); r.kind == update || r.kind == insert {
				w.writes++
				r.value = w.writes
			}
		}
		w.requests += len(list)
	}
	slices.Sort(w.keys)
	w.keys = slices.Compact(w.keys)
	return w, nil
}

// initialKeys are those at the start.
type initialKeys []uint64

func (k initialKeys) Len() uint64         { return uint64(len(k)) }
func (k initialKeys) Key(i uint64) uint64 { return k[i] }

func (k initialKeys) Rank(key uint64) (uint64, bool) {
	i, ok := slices.BinarySearch(k, key)
	return uint64(i), ok
}

// Name is the value of the knob workload that chooses it.
func (w *Script) Name() string { return "kvscript" }

// Finished says that every client has sent its requests and has the answers.
func (w *Script) Finished() bool {
	ended := 0
	for _, a := range w.own.All() {
		ended += a.ended
	}
	return ended == w.requests
}

// Types are the kinds of requests.
func (w *Script) Types() []string { return kindNames }

// DB is nil: no transactions.
func (w *Script) DB() *txn.DB { return nil }

// KV is the store.
func (w *Script) KV() store.KV { return w.kv }

// InFlight is how many requests are under way.
func (w *Script) InFlight() (sum int) {
	for _, a := range w.own.All() {
		sum += a.inFlight
	}
	return sum
}

// Open makes the store.
func (w *Script) Open(env workload.Env) (err error) {
	w.report, w.own = workload.NewVerbs(env), owned.New[answers](env.Cluster.Machines(), nil)
	w.kv, err = env.OpenKV(store.KVSpec{Name: "kv", Servers: env.ServerCount(), Keys: initialKeys(w.script.keys), ValueBytes: w.o.ValueBytes, Spare: spare, Seed: w.o.Seed,
		Value: func(key uint64, value []byte) { fill(key, initial, value) }})
	return err
}

// Warm fills the clients' caches.
func (w *Script) Warm(workload.Between) error { return w.kv.Warm() }

// Set changes nothing: no parameter is live.
func (w *Script) Set(name string, _ any) error { return workload.UnknownParameter(w.Name(), name) }

// Gauges shows what the store does of itself.
func (w *Script) Gauges(r *metrics.Readings) {
	if kv, ok := w.kv.(metrics.Gauged); ok {
		kv.Gauges(r)
	}
}

// fill makes the value that a write gives a key.
func fill(key uint64, s state, value []byte) {
	for ; len(value) > 0; value = value[8:] {
		binary.LittleEndian.PutUint64(value, key<<16|uint64(s))
	}
}

// parseValue is the write that a value is of.
func (w *Script) parseValue(a *answers, key uint64, value []byte) state {
	word := binary.LittleEndian.Uint64(value)
	s := state(word)
	wrong := ""
	switch {
	case word>>16 != key:
		wrong = "which is another key's, or none"
	case s == absent || s > w.writes:
		wrong = "which no client has written"
	}
	for v := value; len(v) > 0; v = v[8:] {
		if binary.LittleEndian.Uint64(v) != word {
			wrong = "whose words are of several writes"
		}
	}
	if wrong != "" {
		a.refute("key %d has value %x, %s", key, value, wrong)
	}
	return s
}

func (a *answers) refute(format string, args ...any) {
	if a.fault == "" {
		a.fault = fmt.Sprintf(format, args...)
	}
}

// Check orders the answers about each key, and audits the store.
func (w *Script) Check() []workload.Invariant {
	all := workload.Invariant{Name: "kvscript.answers", Rule: "for each key there is an order of the requests, each between its begin and its end, that gives the answers and what the store holds at rest"}
	value, now := make([]byte, w.o.ValueBytes), w.report.Env.Cluster.Now()
	for _, key := range w.keys {
		look := operation{client: noClient, begin: now, end: now}
		if w.kv.Find(key, value) {
			look.value = w.parseValue(&w.verdict, key, value)
		}
		w.judge(key, look)
	}
	fault := ""
	for _, a := range w.own.All() {
		fault = cmp.Or(fault, a.fault)
	}
	fault = cmp.Or(fault, w.verdict.fault)
	all.OK, all.Text = fault == "", fault
	audit := workload.Invariant{Name: "kvscript.store", Rule: "the store's structures hold together at rest", OK: true}
	w.kv.Audit(func(text string) {
		if audit.OK {
			audit.OK, audit.Text = false, text
		}
	})
	return []workload.Invariant{all, audit}
}

// judge puts the answers about a key in order, the look at the contents behind them.
func (w *Script) judge(key uint64, look operation) {
	start := absent
	if _, there := initialKeys(w.script.keys).Rank(key); there {
		start = initial
	}
	var ops []operation
	for _, a := range w.own.All() {
		for _, x := range a.list {
			if x.key == key {
				ops = append(ops, x.operation)
			}
		}
	}
	if ops = append(ops, look); !ordered(ops, start) {
		w.verdict.refute("key %d: %s", key, story(ops))
	}
}

// story tells what happened to a key, in the order of begins.
func story(ops []operation) string {
	ops = slices.Clone(ops)
	slices.SortStableFunc(ops, func(a, b operation) int { return int(min(1, max(-1, a.begin-b.begin))) })
	texts := make([]string, len(ops))
	for i := range ops {
		texts[i] = ops[i].String()
	}
	return strings.Join(texts, "; ")
}
