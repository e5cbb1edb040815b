package kvbench

import (
	"errors"
	"fmt"
	"strings"

	"drtmx/engine/knob"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/xstore/dataset"
)

// Options of a workload.
type Options struct {
	Name         string
	Set          dataset.Options
	ValueBytes   int    // at least 8, for values name their writer
	KeyBytes     int    // of the longest key, where they have different lengths, at least MinKeyBytes; 0: they are numbers
	Spare        uint64 // keys that may be inserted on each server
	Distribution string
	Theta        float64
	Weights      [numTypes]int
	InsertRate   int    // INSERTs per second of the last machine, which does nothing else; 0: each client has its share of them
	Check        string // full, sampled or off
	Seed         uint64
}

// MinValueBytes is what a value takes at least.
const MinValueBytes = 8

// Bench is a workload.
type Bench struct {
	o        Options
	keys     store.Keys
	kv       store.KV
	mix      *workload.Mix
	zipf     *workload.Zipf // over the initial keys
	recent   *workload.Zipf // over a client's own latest inserts
	scatter  workload.Scatter
	check    *checker
	report   workload.Verbs
	inFlight []int   // owner: each machine its own
	pacer    int     // the machine that inserts, where it does at a rate: the last with clients
	turn     r2.Time // owner: the pacer. Of the next INSERT, where they come at a rate
}

// recentKeys is how many of its own inserts a client remembers.
const recentKeys = 1024

// New checks the options.
func New(o Options) (*Bench, error) {
	if o.ValueBytes < MinValueBytes {
		return nil, fmt.Errorf("workload.value_bytes %d: at least %d, values name their writer", o.ValueBytes, MinValueBytes)
	}
	if o.KeyBytes != 0 && (o.KeyBytes < MinKeyBytes || o.KeyBytes > MaxKeyBytes) {
		return nil, fmt.Errorf("workload.key_bytes %d: 0, or from %d to %d", o.KeyBytes, MinKeyBytes, MaxKeyBytes)
	}
	b := &Bench{o: o}
	var err error
	if b.mix, err = workload.NewMix(TypeNames, o.Weights[:]); err != nil {
		return nil, err
	}
	if b.keys, err = dataset.Make(o.Set); err != nil {
		var file *dataset.FileError
		if errors.As(err, &file) {
			return nil, knob.Invalid("workload.dataset", o.Set.Name, file.Next, "%s", file.Rule)
		}
		return nil, knob.Invalid("workload.dataset", o.Set.Name, "see drtmx knobs workload.dataset", "%v", err)
	}
	b.scatter = workload.NewScatter(b.keys.Len())
	b.check = newChecker(b.keys, o.Check, o.ValueBytes)
	return b, b.skew(o.Theta)
}

// skew takes a zipf constant.
func (b *Bench) skew(theta float64) (err error) {
	all, err := workload.NewZipf(b.keys.Len(), theta)
	if err != nil {
		return fmt.Errorf("workload.theta: %w", err)
	}
	b.o.Theta, b.zipf = theta, all
	b.recent, err = workload.NewZipf(recentKeys, theta)
	return err
}

// Name is the value of the knob workload that chooses it.
func (b *Bench) Name() string { return b.o.Name }

// Types are all types; those of other workloads have no weight.
func (b *Bench) Types() []string { return TypeNames }

// DB is nil: no transactions.
func (b *Bench) DB() *txn.DB { return nil }

// KV is the store.
func (b *Bench) KV() store.KV { return b.kv }

// InFlight is how many requests are under way.
func (b *Bench) InFlight() (sum int) {
	for _, n := range b.inFlight {
		sum += n
	}
	return sum
}

// Open makes the store.
func (b *Bench) Open(env workload.Env) (err error) {
	b.report, b.check.now, b.inFlight = workload.NewVerbs(env), env.Cluster.Now, make([]int, env.Cluster.Machines())
	clients := env.Clients()
	b.pacer = clients[len(clients)-1]
	b.kv, err = env.OpenKV(store.KVSpec{Name: "kv", Servers: env.ServerCount(), Keys: b.keys, ValueBytes: b.o.ValueBytes, Spare: b.o.Spare, Seed: b.o.Seed, Real: realKeys(b.o.KeyBytes),
		Value: func(key uint64, value []byte) { put(key, initial, value) }, Recovered: func(m int) { b.check.recovered(m, b.kv.Find) }})
	if kv, ok := b.kv.(store.Recovering); ok && kv.Recovers() {
		b.check.home, b.check.durable = kv.Home, func(key uint64) r2.Time { return kv.Durable(kv.Home(key)) }
	}
	return err
}

// Crashed ends the requests of a machine's clients. Of a server's keys some lose what was written last.
func (b *Bench) Crashed(machine int) {
	b.inFlight[machine] = 0
	for i, m := range b.check.machines {
		if m == machine {
			b.check.began[i] = never
		}
	}
	kv := b.kv.(store.Recovering) // of others no machine crashes
	kv.Crashed(machine)
	if machine < b.report.Env.ServerCount() {
		b.check.crashed(machine, kv.Durable(machine))
	}
}

// Warm fills the clients' caches.
func (b *Bench) Warm(workload.Between) error { return b.kv.Warm() }

// Set changes the distribution, its skew or a weight for the requests that follow.
func (b *Bench) Set(name string, value any) error {
	if typ, ok := strings.CutPrefix(name, "mix."); ok {
		return b.mix.Set(typ, value.(int))
	}
	switch name {
	case "distribution":
		b.o.Distribution = value.(string)
		return nil
	case "insert_rate":
		b.o.InsertRate = value.(int)
		return nil
	case "theta":
		if value.(float64) == b.o.Theta {
			return nil
		}
		return b.skew(value.(float64))
	}
	return workload.UnknownParameter(b.o.Name, name)
}

// Gauges shows what the store does of itself.
func (b *Bench) Gauges(r *metrics.Readings) {
	if kv, ok := b.kv.(metrics.Gauged); ok {
		kv.Gauges(r)
	}
}

const (
	answersRule = "no key is lost, and every answer has a value that the key had during the request"
	storeRule   = "the store's structures hold together at rest"
)

// CheckOnline is what the answers said by now.
func (b *Bench) CheckOnline() []workload.Invariant {
	if b.check.every == 0 {
		return nil
	}
	return []workload.Invariant{{Name: b.o.Name + ".answers", Rule: answersRule, OK: b.check.fault == "", Text: b.check.fault}}
}

// Check looks up every key that was written, and audits the store.
func (b *Bench) Check() []workload.Invariant {
	if b.check.every == 0 {
		return nil
	}
	value, now := make([]byte, b.o.ValueBytes), b.report.Env.Cluster.Now()
	for _, key := range b.check.written() {
		if b.check.out(key, now) { // its server is down
			continue
		}
		if b.kv.Find(key, value) {
			b.check.read(key, value, now, now)
		} else {
			b.check.missing(key, now, now)
		}
	}
	audit := workload.Invariant{Name: b.o.Name + ".store", Rule: storeRule, OK: true}
	b.kv.Audit(func(text string) {
		if audit.OK {
			audit.OK, audit.Text = false, text
		}
	})
	return append(b.CheckOnline(), audit)
}
