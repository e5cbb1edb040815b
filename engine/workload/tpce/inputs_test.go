package tpce

import (
	"math"
	"testing"

	"drtmx/engine/protocol/occ"
	"drtmx/engine/sim"
	"drtmx/engine/workload/workloadtest"
)

// even holds counts against weights, each within five standard deviations.
func even(t *testing.T, what string, counts, weights []float64) {
	t.Helper()
	n, total := 0.0, 0.0
	for i := range counts {
		n, total = n+counts[i], total+weights[i]
	}
	for i, c := range counts {
		p := weights[i] / total
		if math.Abs(c-n*p) > 5*math.Sqrt(n*p*(1-p)) {
			t.Errorf("%s: %.0f times %d of %.0f, want %.0f", what, c, i, n, n*p)
		}
	}
}

func share(n bool) int {
	if n {
		return 1
	}
	return 0
}

// TestInputs: the probabilities of the standard's inputs (clause 6.4.1), and prices that
// all securities have equally often on accounts' lists.
func TestInputs(t *testing.T) {
	cfg, _ := occ.Preset("drtm+h")
	bed, b := workloadtest.Open(t, 0, cfg, New, Options{Customers: 200, Securities: 40, Trades: 3})
	defer bed.Close()
	r, rand := &runner{b: b, home: 1, market: *b.exchange.Of(1)}, sim.New(sim.Options{Seed: 1}).Stream("inputs", 0)
	flags := map[string][]float64{}
	count := func(what string, n, of int) {
		if flags[what] == nil {
			flags[what] = make([]float64, of)
		}
		flags[what][n]++
	}
	for range 40_000 {
		r.drawOrder(rand)
		count("order types", int(r.order.typ), tradeTypes)
		count("quantities", int(math.Log2(float64(r.order.quantity)/100)), 4)
		count("orders by others", share(r.order.byOther), 2)
		count("on margin", share(r.order.margin), 2)
		count("last in, first out", share(r.order.lifo), 2)
		count("rollbacks", share(r.order.rollback), 2)
		count("accounts", int(r.account%accountsOf), accountsOf)
		if b.machineOf(r.account) != 1 || customerOf(r.account) != r.customer || r.security != b.securityOf(r.account, r.order.slot) {
			t.Fatalf("account %d of customer %d orders security %d", r.account, r.customer, r.security)
		}
		r.drawPosition(rand)
		count("by tax identifier", share(r.byTax), 2)
		count("with history", share(r.details), 2)
		r.drawWatch(rand)
		count("watches", r.frame, 3)
		r.drawLookup(rand)
		count("lookups", r.frame, 4)
		r.drawUpdate(rand)
		count("updates", r.frame, 3)
		r.drawDetail(rand)
		count("days", int(r.days)-5, 16)
		if r.day+r.days > days {
			t.Fatalf("days %d and %d more", r.day, r.days)
		}
		r.drawVolume(rand)
		count("brokers", len(r.drawn), 7) // two to a machine here
		r.drawFeed(rand)
		for i := range r.feed {
			count("fed securities", int(r.feed[i].security), 120)
		}
	}
	ones := func(n int) []float64 {
		w := make([]float64, n)
		for i := range w {
			w[i] = 1
		}
		return w
	}
	for what, want := range map[string][]float64{
		"order types": {30, 30, 20, 10, 10}, "quantities": ones(4), "orders by others": {90, 10}, "on margin": {92, 8}, "last in, first out": {65, 35},
		"rollbacks": {99, 1}, "accounts": ones(accountsOf), "by tax identifier": ones(2), "with history": ones(2), "watches": {60, 35, 5},
		"lookups": {30, 30, 30, 10}, "updates": ones(3), "days": ones(16), "brokers": {0, 0, 0, 0, 0, 0, 1},
	} {
		even(t, what, flags[what], want)
	}
	// A feed's securities are neighbours in the scattered order, and come together: only about equally often.
	for s, n := range flags["fed securities"] {
		if mean := 40_000.0 * feeds / 120; n < 0.9*mean || n > 1.1*mean {
			t.Errorf("security %d was fed %.0f times, %.0f are the mean", s, n, mean)
		}
	}
	listedIn := make([]float64, b.securities*b.servers)
	for a := range b.accounts * b.servers {
		for slot := range b.listLength(a) {
			listedIn[b.securityOf(a, slot)]++
		}
	}
	even(t, "lists", listedIn, ones(len(listedIn)))
}
