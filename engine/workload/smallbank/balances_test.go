package smallbank

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/txn"
	"drtmx/engine/workload/workloadtest"
)

// accounts is the bank without a cluster: its rules on two lists of balances.
type accounts struct {
	savings, checking []int64
	rand              *rand.Rand
}

// round runs a transaction per customer and returns the share that gave up.
func (a *accounts) round() float64 {
	n, gave := len(a.savings), 0
	for range n {
		x, y := a.rand.IntN(n), a.rand.IntN(n-1)
		if y >= x {
			y++
		}
		weight, typ := a.rand.IntN(100), 0
		for weight >= types[typ].Weight {
			weight -= types[typ].Weight
			typ++
		}
		switch typ {
		case amalgamate:
			a.checking[y] += a.savings[x] + a.checking[x]
			a.savings[x], a.checking[x] = 0, 0
		case depositChecking:
			a.checking[x] += deposit
		case sendPayment:
			if a.checking[x] < payment {
				gave++
				continue
			}
			a.checking[x] -= payment
			a.checking[y] += payment
		case transactSavings:
			amount := int64(savings)
			if a.rand.IntN(2) == 0 {
				amount = -savings
			}
			if a.savings[x]+amount < 0 {
				gave++
				continue
			}
			a.savings[x] += amount
		case writeCheck:
			if a.savings[x]+a.checking[x] < check {
				a.checking[x] -= penalty
			}
			a.checking[x] -= check
		}
	}
	return float64(gave) / float64(n)
}

// rounds is the mean of so many.
func (a *accounts) rounds(n int) (share float64) {
	for range n {
		share += a.round() / float64(n)
	}
	return share
}

func newAccounts(n int, begin func(table uint8, key uint64) int64) *accounts {
	a := &accounts{make([]int64, n), make([]int64, n), rand.New(rand.NewPCG(3, 4))}
	for i := range n {
		a.savings[i], a.checking[i] = begin(Savings, uint64(i)), begin(Checking, uint64(i))
	}
	return a
}

// TestBalancesStay simulates the bank without a cluster. From its first balances on as many transactions
// give up as after a long time, which comes out the same if all were rich, or had nothing, at first.
func TestBalancesStay(t *testing.T) {
	b, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	const n, within = 60_000, 0.005
	stays := newAccounts(n, b.initialCents)
	first := stays.rounds(5)
	for at := 5; at < 100; at += 5 {
		if share := stays.rounds(5); math.Abs(share-first) > within {
			t.Errorf("%.4f give up after %d transactions on each customer, %.4f at the start", share, at, first)
		}
	}
	for what, begin := range map[string]func(uint8, uint64) int64{ // order-free: the cases are independent
		"rich": func(uint8, uint64) int64 { return 3_000_000 },
		"poor": func(uint8, uint64) int64 { return 0 },
	} {
		a := newAccounts(n, begin)
		early := a.rounds(1)
		a.rounds(100)
		if late := a.rounds(5); math.Abs(late-first) > within || math.Abs(early-first) < 0.05 {
			t.Errorf("all %s: %.4f give up at first and %.4f in the long run, of the first balances %.4f", what, early, late, first)
		}
		slices.Sort(a.checking)
		for _, q := range []float64{0.05, 0.25, 0.5, 0.75, 0.85, 0.89} {
			got, want := longRun[int(q*256)], a.checking[int(q*n)]
			if math.Abs(float64(got-want)) > 60+0.12*math.Abs(float64(want)) {
				t.Errorf("all %s: quantile %g of the checking accounts is %d in the long run, listed as %d", what, q, want, got)
			}
		}
	}
}

// TestRollbacksStay: on a cluster, as many transactions give up at first as later.
func TestRollbacksStay(t *testing.T) {
	b, err := New(Options{Customers: 5_000})
	if err != nil {
		t.Fatal(err)
	}
	cfg, _ := occ.Preset("drtm+h")
	const requests, coroutines = 1_000, 12
	var given, all [2]int // up, in each half of the run
	n := 0
	bed := workloadtest.New(t, workloadtest.Setup{Machines: 3, Threads: 1, Coroutines: 4, Seed: 1, Txn: cfg, Mode: history.Full, Requests: requests}, b)
	bed.OnDone = func(o *txn.Outcome) {
		at := 2 * n / (requests * coroutines)
		n++
		all[at]++
		if o.RolledBack {
			given[at]++
		}
	}
	if bad := bed.Verdict(); len(bad) > 0 {
		t.Error(bad)
	}
	first, last := float64(given[0])/float64(all[0]), float64(given[1])/float64(all[1])
	if n != requests*coroutines || math.Abs(first-last) > 0.03 || math.Abs(first+last-0.45) > 0.06 {
		t.Errorf("%.3f are given up in the first half, %.3f in the second", first, last)
	}
}

// TestBalancesOfSeeds: a balance is a function of table, key and seed, and of each of them.
func TestBalancesOfSeeds(t *testing.T) {
	differ := func(a, b *Bank, ta, tb uint8) (n int) {
		for key := range uint64(1000) {
			if a.initialCents(ta, key) != b.initialCents(tb, key) {
				n++
			}
		}
		return n
	}
	one, again, two := &Bank{opt: Options{Seed: 1}}, &Bank{opt: Options{Seed: 1}}, &Bank{opt: Options{Seed: 2}}
	if differ(one, again, Checking, Checking) != 0 || differ(one, two, Checking, Checking) < 500 || differ(one, one, Savings, Checking) < 500 {
		t.Error("balances are not a function of table, key and seed")
	}
}
