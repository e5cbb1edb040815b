package tpcc

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"drtmx/engine/protocol/occ"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload/workloadtest"
)

func stream(seed uint64) *r2.Rand { return sim.New(sim.Options{Seed: seed}).Stream("tpcc", 0) }

// fits is the chi-square test of counts against weights, at five standard deviations.
func fits(t *testing.T, what string, counts, weights []float64) {
	t.Helper()
	n, total, chi, free := 0.0, 0.0, 0.0, -1.0
	for i := range counts {
		n, total = n+counts[i], total+weights[i]
	}
	for i, c := range counts {
		want := n * weights[i] / total
		if want == 0 {
			if c != 0 {
				t.Errorf("%s: %d came, which cannot", what, i)
			}
			continue
		}
		chi, free = chi+(c-want)*(c-want)/want, free+1
	}
	if chi > free+5*math.Sqrt(2*free) || chi < free-5*math.Sqrt(2*free) {
		t.Errorf("%s: chi-square of %.0f with %.0f degrees of freedom", what, chi, free)
	}
}

// nurandWeights are the weights of clause 2.1.6's ((random(0,A) | random(0,n-1)) + C) mod n.
func nurandWeights(a, c, n uint64) []float64 {
	w := make([]float64, n)
	for x := range a + 1 {
		for y := range n {
			w[((x|y)+c)%n]++
		}
	}
	return w
}

func TestNURand(t *testing.T) {
	r := stream(1)
	for _, x := range []struct {
		what          string
		d             nurand
		a, c, n, draw uint64
	}{
		{"customers", newNURand(1023, constCustomer, 3_000, 3_000), 1023, constCustomer, 3_000, 1_000_000},
		{"items, a tenth of them", newNURand(8191, constItem, 100_000, 10_000), 1023, constItem, 10_000, 2_000_000},
		{"last names", newNURand(255, constLastRun, 1_000, 1_000), 255, constLastRun, 1_000, 500_000},
		{"customers of a small district", newNURand(1023, constCustomer, 3_000, 30), 15, constCustomer, 30, 100_000},
	} {
		if x.d != (nurand{x.a, x.c, x.n}) {
			t.Errorf("%s: %+v", x.what, x.d)
		}
		counts := make([]float64, x.n)
		for range x.draw {
			counts[x.d.draw(r)]++
		}
		fits(t, x.what, counts, nurandWeights(x.a, x.c, x.n))
	}
	if d := newNURand(8191, constItem, 100_000, 100_000); d.a != 8191 || d.n != 100_000 {
		t.Errorf("items: %+v", d)
	}
}

// TestConstants: clause 2.1.6.1 on the constants of the load and of the run.
func TestConstants(t *testing.T) {
	delta := int(math.Abs(constLastRun - constLastLoad))
	if delta < 65 || delta > 119 || delta == 96 || delta == 112 {
		t.Errorf("the constants of last names differ by %d", delta)
	}
	if constLastRun > 255 || constLastLoad > 255 || constCustomer > 1023 || constItem > 8191 {
		t.Error("a constant is larger than its A")
	}
}

// TestLastNames: clause 4.3.2.3 and 4.3.3.1: the first thousand customers have a name
// each, the others draw one with the constant of the load.
func TestLastNames(t *testing.T) {
	for n, want := range map[uint64]string{0: "BARBARBAR", 371: "PRICALLYOUGHT", 999: "EINGEINGEING"} {
		if got := strings.TrimRight(string(value(func(_ uint64, v []byte) { lastName(v, n) }, 16, 0)), "\x00"); got != want {
			t.Errorf("name %d is %s, want %s", n, got, want)
		}
	}
	cfg, _ := occ.Preset("drtm+h")
	bed, b := workloadtest.Open(t, 0, cfg, New, Options{Warehouses: 10})
	defer bed.Close()
	counts := make([]float64, 1_000)
	for d := range b.warehouses * b.districts {
		for c := range b.customers {
			name := b.nameOf(b.customerKey(d, c))
			if c < 1_000 {
				if name != c {
					t.Fatalf("customer %d has name %d", c, name)
				}
				continue
			}
			counts[name]++
		}
	}
	fits(t, "last names in the population", counts, nurandWeights(255, constLastLoad, 1_000))
}

// TestMiddleCustomer: who is found by last name is in the middle of those who have it, by
// first name (clause 2.5.2.2).
func TestMiddleCustomer(t *testing.T) {
	o := tiny()
	o.Customers = 90
	looked, kinds := map[uint64]bool{}, map[int]bool{}
	broken, text := rogue(t, o, func(b *Bench, tx *txn.Tx) error {
		const d = 7
		for name := range b.names.n {
			var list []string // first names, and whose they are
			for c := range b.customers {
				if v := value(b.initCustomer, customerBytes, b.customerKey(d, c)); string(bytes.TrimRight(v[cLast:][:cLastBytes], "\x00")) == spelled(name) {
					list = append(list, fmt.Sprintf("%s %d", v[cFirst:][:cFirstBytes], c))
				}
			}
			slices.Sort(list)
			r := &runner{b: b, byName: true, cd: d, name: name}
			c, err := r.findCustomer(tx)
			if err != nil {
				return err
			}
			if want := list[(len(list)+1)/2-1]; !strings.HasSuffix(want, fmt.Sprintf(" %d", c)) {
				t.Errorf("name %d: customer %d of %v, want %s", name, c, list, want)
			}
			looked[name], kinds[len(list)%2] = true, true
		}
		return change(tx, Stock, 0, func([]byte) {})
	})
	if len(broken) > 0 || len(looked) != 30 || len(kinds) != 2 {
		t.Errorf("%v broken, %d names, odd and even numbers of them: %v\n%s", broken, len(looked), kinds, text)
	}
}

func spelled(name uint64) string {
	var b [cLastBytes]byte
	lastName(b[:], name)
	return string(bytes.TrimRight(b[:], "\x00"))
}

// TestInputs: the probabilities of clauses 2.4.1 and 2.5.1.
func TestInputs(t *testing.T) {
	for _, no := range []bool{false, true} {
		cfg, _ := occ.Preset("drtm+h")
		bed, b := workloadtest.Open(t, 0, cfg, New, Options{Warehouses: 2, NewOrderOnly: no})
		const draws, home = 60_000, 3
		r, rand := &runner{b: b, paid: b.paid.Of(1), w: home, d: home*b.districts + 4}, stream(2)
		lines, quantity, supply := make([]float64, maxLines+1), make([]float64, 11), make([]float64, b.warehouses)
		invalid, remote, all := 0, 0, 0
		for range draws {
			r.drawNewOrder(rand)
			lines[r.order.lines]++
			if r.order.invalid {
				invalid++
			}
			local := true
			for _, l := range r.order.line[:r.order.lines] {
				all++
				quantity[l.quantity]++
				if l.supply != home {
					remote++
					supply[l.supply]++
					local = false
				}
			}
			if local != r.order.allLocal {
				t.Fatal("an order says that all of its lines are local, and they are not, or the other way round")
			}
		}
		fits(t, "lines", lines, []float64{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
		fits(t, "quantities", quantity, []float64{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
		fits(t, "other warehouses", supply, []float64{1, 1, 1, 0, 1, 1})
		fits2(t, "rollbacks", invalid, draws, []float64{1, 99})
		want := []float64{1, 99}
		if no {
			want = []float64{1, 0}
		}
		fits2(t, "remote lines", remote, all, want)
		if !no {
			payments(t, b, r, rand)
			numbers(t, r, rand)
		}
		bed.Close()
	}
}

// payments draws payments of the runner's terminal.
func payments(t *testing.T, b *Bench, r *runner, rand *r2.Rand) {
	t.Helper()
	const draws = 60_000
	remote, byName := 0, 0
	warehouses, in := make([]float64, b.warehouses), make([]float64, b.districts)
	for range draws {
		r.drawPayment(rand)
		if r.byName {
			byName++
		}
		if r.amount < 1_00 || r.amount > 5_000_00 {
			t.Fatalf("a payment of %d cents", r.amount)
		}
		if r.cd != r.d {
			remote++
			warehouses[r.cd/b.districts]++
			in[r.cd%b.districts]++
		}
	}
	fits2(t, "remote payments", remote, draws, []float64{15, 85})
	fits2(t, "payments by last name", byName, draws, []float64{60, 40})
	fits(t, "warehouses of customers", warehouses, []float64{1, 1, 1, 0, 1, 1})
	fits(t, "b.districts of customers", in, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
}

// numbers are the thresholds of clause 2.8.1.2 and the carriers of clause 2.7.1.2.
func numbers(t *testing.T, r *runner, rand *r2.Rand) {
	t.Helper()
	thresholds, carriers := make([]float64, 22), make([]float64, 12)
	for range 20_000 {
		r.drawStockLevel(rand)
		thresholds[r.threshold]++
		r.drawDelivery(rand)
		carriers[r.carrier]++
	}
	fits(t, "thresholds", thresholds, []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0})
	fits(t, "carriers", carriers, []float64{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0})
}

// fits2 is fits of what happens or does not.
func fits2(t *testing.T, what string, times, of int, weights []float64) {
	t.Helper()
	if weights[1] == 0 {
		if times != of {
			t.Errorf("%s: %d of %d", what, times, of)
		}
		return
	}
	p := weights[0] / (weights[0] + weights[1])
	if sd := math.Sqrt(float64(of) * p * (1 - p)); math.Abs(float64(times)-float64(of)*p) > 5*sd {
		t.Errorf("%s: %d of %d, want %.0f", what, times, of, float64(of)*p)
	}
}

// Terminals of several machines give payments of a warehouse different rows, and leave none out.
func TestRowsOfPayments(t *testing.T) {
	for servers, threads := range map[int]int{3: 4, 0: 2} { // order-free: each is tested alone
		cfg, _ := occ.Preset("drtm+h")
		b, err := New(Options{Warehouses: 2})
		if err != nil {
			t.Fatal(err)
		}
		s := workloadtest.Small(cfg)
		s.Machines, s.Servers, s.Threads = 6, servers, threads
		bed := workloadtest.New(t, s, b)
		for w := range b.warehouses {
			rows := map[uint64]bool{}
			for m, x := range b.paid.All() {
				for row := x.next[w]; x.step[w] > 0 && row < b.districts*b.customers+24; row += x.step[w] {
					if rows[row] {
						t.Errorf("%d servers: machine %d gives a payment of warehouse %d row %d, which another one gives too", servers, m, w, row)
					}
					rows[row] = true
				}
			}
			if len(rows) != 24 {
				t.Errorf("%d servers: %d of 24 rows of warehouse %d are given", servers, len(rows), w)
			}
		}
		bed.Close()
	}
}
