package kvscript

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"drtmx/engine/metrics"
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
	inFlight int
	left     int                    // requests that have not ended
	keys     []uint64               // that answers are about, rising
	ops      map[uint64][]operation // by key
	writes   state                  // values that were given out
	fault    string                 // of an answer by itself, the first
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
	w := &Script{o: o, script: x, keys: slices.Clone(x.keys), ops: map[uint64][]operation{}, writes: initial}
	for _, list := range x.clients {
		for _, r := range list {
			w.keys = append(w.keys, r.key)
		}
		w.left += len(list)
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
func (w *Script) Finished() bool { return w.left == 0 }

// Types are the kinds of requests.
func (w *Script) Types() []string { return kindNames }

// DB is nil: no transactions.
func (w *Script) DB() *txn.DB { return nil }

// KV is the store.
func (w *Script) KV() store.KV { return w.kv }

// InFlight is how many requests are under way.
func (w *Script) InFlight() int { return w.inFlight }

// Open makes the store.
func (w *Script) Open(env workload.Env) (err error) {
	w.report = workload.NewVerbs(env)
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
func (w *Script) parseValue(key uint64, value []byte) state {
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
		w.refute("key %d has value %x, %s", key, value, wrong)
	}
	return s
}

func (w *Script) refute(format string, args ...any) {
	if w.fault == "" {
		w.fault = fmt.Sprintf(format, args...)
	}
}

// Check orders the answers about each key, and audits the store.
func (w *Script) Check() []workload.Invariant {
	answers := workload.Invariant{Name: "kvscript.answers", Rule: "for each key there is an order of the requests, each between its begin and its end, that gives the answers and what the store holds at rest"}
	value, now := make([]byte, w.o.ValueBytes), w.report.Env.Cluster.Now()
	for _, key := range w.keys {
		look := operation{client: noClient, begin: now, end: now}
		if w.kv.Find(key, value) {
			look.value = w.parseValue(key, value)
		}
		w.judge(key, look)
	}
	answers.OK, answers.Text = w.fault == "", w.fault
	audit := workload.Invariant{Name: "kvscript.store", Rule: "the store's structures hold together at rest", OK: true}
	w.kv.Audit(func(text string) {
		if audit.OK {
			audit.OK, audit.Text = false, text
		}
	})
	return []workload.Invariant{answers, audit}
}

// judge puts the answers about a key in order, the look at the contents behind them.
func (w *Script) judge(key uint64, look operation) {
	start := absent
	if _, there := initialKeys(w.script.keys).Rank(key); there {
		start = initial
	}
	if ops := append(slices.Clone(w.ops[key]), look); !ordered(ops, start) {
		w.refute("key %d: %s", key, story(ops))
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
