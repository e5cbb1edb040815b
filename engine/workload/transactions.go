package workload

import (
	"errors"
	"fmt"
	"strings"

	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
	"drtmx/engine/txn"
)

// Type is a transaction type of a workload.
type Type struct {
	Name     string
	Weight   int
	ReadOnly bool
}

// Added is a transaction type that a user wrote.
type Added struct {
	Number int
	Body   func(tx *txn.Tx) error
}

// Transactions is what transactional workloads have in common: the mix, and
// the types that users add to it.
type Transactions struct {
	*Mix
	readOnly []bool
	added    []Added
	builtin  int
}

// NewTransactions makes the mix of the given types.
func NewTransactions(types []Type) (*Transactions, error) {
	var names []string
	var weights []int
	t := &Transactions{builtin: len(types)}
	for _, x := range types {
		names = append(names, x.Name)
		weights = append(weights, x.Weight)
		t.readOnly = append(t.readOnly, x.ReadOnly)
	}
	m, err := NewMix(names, weights)
	t.Mix = m
	return t, err
}

// ReadOnly tells whether a type is declared read-only.
func (t *Transactions) ReadOnly(typ int) bool { return t.readOnly[typ] }

// AddTransaction appends a type whose transactions run body.
func (t *Transactions) AddTransaction(name string, weight int, body func(tx *txn.Tx) error) error {
	if body == nil {
		return fmt.Errorf("transaction type %q has no body", name)
	}
	n, err := t.Add(name, weight)
	if err != nil {
		return err
	}
	t.readOnly = append(t.readOnly, false)
	t.added = append(t.added, Added{n, body})
	return nil
}

// Added says that there are types of a user's.
func (t *Transactions) Added() bool { return len(t.added) > 0 }

// Custom is the body of an added type, nil for the workload's own.
func (t *Transactions) Custom(typ int) func(tx *txn.Tx) error {
	if typ < t.builtin {
		return nil
	}
	return t.added[typ-t.builtin].Body
}

// SetMix handles Set for names of the form mix.TYPE.
func (t *Transactions) SetMix(name string, value any) (handled bool, err error) {
	typ, ok := strings.CutPrefix(name, "mix.")
	if !ok {
		return false, nil
	}
	w, ok := value.(int)
	if !ok {
		return true, fmt.Errorf("workload.%s %v: an integer weight is needed", name, value)
	}
	return true, t.Set(typ, w)
}

// Done turns the end of a transaction into the end of a request: giving up by
// its own code is none of the runner's errors.
func Done(err error) error {
	if errors.Is(err, txn.ErrRollback) {
		return nil
	}
	return err
}

// WarmCaches fills the location cache of each client machine as a long run
// would have: popular records first. Where popularity has no edge, draw picks
// records as the workload does, and popular is nil; that takes time, and between is
// called between machines.
func WarmCaches(db *txn.DB, popular func(table uint8, key uint64) bool, draw func(r *r2.Rand) (table uint8, key uint64), between Between) error {
	if !db.Common().CacheEnabled {
		return nil
	}
	machines := db.Cluster().Machines()
	for m := range machines {
		x := db.Cache(m)
		x.Fill(popular)
		if draw == nil {
			continue
		}
		if err := between.Step(m, machines); err != nil {
			return err
		}
		r := db.Cluster().Stream("workload.warm", uint64(m))
		for range min(x.Stats().Capacity/4, warmDraws) {
			t, k := draw(r)
			x.Warm(db.Table(t), k)
		}
	}
	return nil
}

// warmDraws is enough to have the hundred thousand most popular records of a
// zipfian distribution in the cache.
const warmDraws = 400_000

// WarmMemory brings what accesses to popular records go through into the
// last-level caches: buckets, rows, replicas, and the entries of the location
// caches. at names the n records worth it, the most popular first; at most as many are
// brought as caches of full size hold beside each other. Where the caches shrink with the
// population, the most popular ones push the others out, as in a run they would.
// between is called between chunks of them.
func WarmMemory(db *txn.DB, n uint64, at func(i uint64) (table uint8, key uint64), between Between) error {
	cl := db.Cluster()
	machines, f := cl.Machines(), cl.Fabric()
	node := f.Machine(0)
	lines := uint64(node.Type.LLC.Int()) << 20 / 64 * uint64(len(node.NICs))
	// Of a record a machine has at most a location, and its share of the rest.
	n = min(n, lines*uint64(machines)/uint64(machines+2*db.Common().Replicas))
	caches := db.Common().CacheEnabled
	// A thousand records at a time, and of these one machine after the other: the
	// host's cache then holds what it needs.
	lists := make([][]host.Extent, machines)
	for all := n; n > 0; {
		if err := between.Step(int(all-n), int(all)); err != nil {
			return err
		}
		some := min(n, warmChunk)
		for m := range lists {
			lists[m] = lists[m][:0]
		}
		for i := n; i > n-some; i-- {
			table, key := at(i - 1)
			t := db.Table(table)
			t.Lines(key, func(m int, a r2.Addr, n int) { lists[m] = append(lists[m], host.Extent{At: a, Bytes: n}) })
			for m := range machines {
				if caches && m != t.Primary(key) {
					a, n := db.Cache(m).Line(t, key)
					lists[m] = append(lists[m], host.Extent{At: a, Bytes: n})
				}
			}
		}
		for m, list := range lists {
			f.Machine(m).Warm(list...)
		}
		n -= some
	}
	return nil
}

// warmChunk is how many records WarmMemory collects before it brings them in.
const warmChunk = 1 << 10
