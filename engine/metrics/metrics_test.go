package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Phases of transactions in these tests.
var (
	testFirst  = NewPhase(PhaseInfo{Name: "first", Order: 2})
	testSecond = NewPhase(PhaseInfo{Name: "second", Order: 1})
)

func TestAttributionAddsUp(t *testing.T) {
	var a, half Attribution
	rnd := rand.New(rand.NewPCG(1, 1))
	var total int64
	for i := range 100 {
		b := NewBreakdown()
		var s Stamp
		for m := range s {
			s[m] = rnd.Uint32N(1_000_000)
		}
		b.Stamp(testFirst, &s)
		b.Stamp(testSecond, &s)
		if i%2 == 0 {
			b[Backoff][Asleep] += 3_000_000
		}
		if b.Total() != 2*s.Total()+b.Phase(Backoff) {
			t.Fatal("a breakdown is not the sum of its stamps")
		}
		total += b.Total()
		rt := ForPhases[uint32]()
		rt[testFirst], rt[testSecond] = 3, 1
		if i < 50 {
			half.Record(b, rt)
		} else {
			a.Record(b, rt)
		}
	}
	a.Merge(&half)
	sum, mean, shares := 0.0, 0.0, 0.0
	for _, p := range Phases() {
		s, ok := a.Phase(p)
		if ok != (p == testFirst || p == testSecond || p == Backoff) {
			t.Errorf("phase %s: %v", p, ok)
		}
		sum += s.Share
		mean += s.MeanUS
	}
	for m := Milestone(0); m < NumMilestones; m++ {
		shares += a.Share(m)
	}
	near(t, "shares of phases", sum, 1, 1e-12)
	near(t, "shares of milestones", shares, 1, 1e-12)
	near(t, "means of phases", mean, float64(total)/100/1e6, 1e-9)
	if s, _ := a.Phase(testFirst); s.RoundTrips != 3 {
		t.Errorf("round trips %v", s.RoundTrips)
	}
	if s, _ := a.Phase(Backoff); s.P50US != 3 || s.MeanUS != 1.5 {
		t.Errorf("back-off %+v: the median is over those that were in it, the mean over all", s)
	}
	a.Reset()
	if _, ok := a.Phase(testFirst); ok || a.Count() != 0 || a.Share(Wire) != 0 {
		t.Error("Reset left something")
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Phases() {
		seen[p.String()] = true
	}
	for m := Milestone(0); m < NumMilestones; m++ {
		seen["m."+m.String()] = true
	}
	if len(seen) != len(Phases())+int(NumMilestones) || seen[""] || seen["m."] {
		t.Errorf("names: %v", seen)
	}
}

// Phases are listed in their order, whoever made them known first, and none of them twice.
func TestPhasesInOrder(t *testing.T) {
	var names []string
	for _, p := range Phases() {
		names = append(names, p.String())
	}
	if got := strings.Join(names, " "); got != "second first backoff other" {
		t.Errorf("phases: %s", got)
	}
	if p := Phases()[0]; NewPhase(p.Info()) != p || len(Phases()) != len(names) {
		t.Error("the same phase is another one")
	}
	defer func() {
		if recover() == nil {
			t.Error("a phase is known twice")
		}
	}()
	NewPhase(PhaseInfo{Name: "first"})
}

func TestUtilize(t *testing.T) {
	const dt = 1000
	before := []Usage{
		{Node: 0, Resource: CPU, BusyPS: 100, Servers: 4},
		{Node: 0, Resource: NICTx, Index: 0, BusyPS: 500},
		{Node: 0, Resource: NICTx, Index: 1, BusyPS: 0},
		{Node: 1, Resource: CPU, BusyPS: 0, Servers: 4},
	}
	after := []Usage{
		{Node: 1, Resource: "nvm_write", BusyPS: 10, Servers: 2}, // not there before
		{Node: 0, Resource: CPU, BusyPS: 2100, Servers: 4},
		{Node: 0, Resource: NICTx, Index: 0, BusyPS: 600},
		{Node: 0, Resource: NICTx, Index: 1, BusyPS: 900},
		{Node: 1, Resource: CPU, BusyPS: 3600, Servers: 4},
	}
	u := Utilize(before, after, dt)
	wantR := []ResourceUse{{CPU, 0.7, 0.9}, {NICTx, 0.5, 0.9}, {"nvm_write", 0.005, 0.005}}
	if len(u.Resources) != len(wantR) {
		t.Fatalf("%+v", u.Resources)
	}
	for i, w := range wantR {
		if u.Resources[i] != w {
			t.Errorf("got %+v, want %+v", u.Resources[i], w)
		}
	}
	wantN := []NodeUse{{0, CPU, 0.5, 0.5}, {0, NICTx, 0.5, 0.9}, {1, CPU, 0.9, 0.9}, {1, "nvm_write", 0.005, 0.005}}
	if len(u.Nodes) != len(wantN) {
		t.Fatalf("%+v", u.Nodes)
	}
	for i, w := range wantN {
		if u.Nodes[i] != w {
			t.Errorf("got %+v, want %+v", u.Nodes[i], w)
		}
	}
	// CPU of node 1 and NIC 1 of node 0 are equally busy: the resource order decides.
	if want := (Limit{CPU, 1, 0, 0.9}); u.Bottleneck != want {
		t.Errorf("bottleneck %+v, want %+v", u.Bottleneck, want)
	}
	if u := Utilize(nil, after[1:2], dt); u.Bottleneck != (Limit{CPU, 0, 0, 0.525}) {
		t.Errorf("from time 0: %+v", u.Bottleneck)
	}
	if u := Utilize(before, after, 0); u.Resources != nil || u.Bottleneck.Resource != "" {
		t.Errorf("over no time: %+v", u)
	}
}

// The average is exact, against a sum that goes picosecond by picosecond, with
// calls out of order and cuts in between.
func TestInFlight(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	var f InFlight
	level := make([]int, 20_000)
	add := func(now, at int64, d int) {
		f.Add(now, at, d)
		for i := at; i < int64(len(level)); i++ {
			level[i] += d
		}
	}
	var cuts []Area
	for now := int64(0); now < 19_000; now += 1 + rnd.Int64N(40) {
		begin := now + max(0, rnd.Int64N(100)-20) // most clocks run ahead of now
		add(now, begin, 1)
		add(now, begin+rnd.Int64N(500), -1)
		if rnd.IntN(50) == 0 {
			cuts = append(cuts, f.Area(now))
		}
	}
	for i := 1; i < len(cuts); i++ {
		a, b := cuts[i-1], cuts[i]
		if a.At == b.At {
			continue
		}
		sum := 0
		for _, n := range level[a.At:b.At] {
			sum += n
		}
		if want := float64(sum) / float64(b.At-a.At); Average(a, b) != want {
			t.Fatalf("%d to %d: %v, want %v", a.At, b.At, Average(a, b), want)
		}
		if b.At < int64(len(level)) && b.Count != int64(level[b.At]) {
			t.Fatalf("at %d: %d in flight, want %d", b.At, b.Count, level[b.At])
		}
	}
}

// Hours of virtual time with thousands in flight overflow 64 bits.
func TestInFlightIsWide(t *testing.T) {
	var f InFlight
	const hour = 3600 * 1_000_000_000_000
	for range 100_000 {
		f.Add(0, 0, 1)
	}
	a := f.Area(hour)
	for range 50_000 {
		f.Add(hour, 2*hour, -1)
	}
	b := f.Area(3 * hour)
	if got := Average(a, b); got != 75_000 {
		t.Errorf("average %v", got)
	}
	if got := Average(Area{}, b); math.Abs(got-250_000.0/3) > 1e-9 {
		t.Errorf("average from 0: %v", got)
	}
	if n := cap(f.pending); n > 1<<18 {
		t.Errorf("%d changes pending", n)
	}
}

// A run of any length keeps a bounded number of changes.
func TestInFlightStaysSmall(t *testing.T) {
	var f InFlight
	for i := range int64(2_000_000) {
		f.Add(i*10_000-1_000_000, i*10_000, 1-2*int(i%2)) // 100 M changes per second, 1 us ahead
	}
	if n := cap(f.pending); n > 1_000 {
		t.Errorf("%d changes pending", n)
	}
	if got := Average(Area{}, f.Area(2_000_000*10_000)); got != 0.5 {
		t.Errorf("average %v", got)
	}
}

// Whatever clocks run ahead, the latencies of what has ended by a cut are those, and the longest is
// of what ended after the mark.
func TestEndings(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	var e Endings
	type request struct{ end, latency int64 }
	var all []request
	marked := int64(-1)
	for now := int64(0); now < 200_000; now += 1 + rnd.Int64N(40) {
		x := request{now + max(0, rnd.Int64N(3000)-500), rnd.Int64N(1000)}
		all = append(all, x)
		e.Add(now, x.end, x.latency)
		if rnd.IntN(100) > 0 {
			continue
		}
		sum, longest := uint64(0), int64(0)
		if rnd.IntN(3) == 0 {
			e.Mark(now)
			marked = now
		}
		for _, x := range all {
			if x.end <= now {
				sum += uint64(x.latency)
			}
			if x.end > marked {
				longest = max(longest, x.latency)
			}
		}
		if e.Sum(now) != sum || e.Longest() != longest {
			t.Fatalf("at %d: %d ps, the longest %d, want %d and %d", now, e.Sum(now), e.Longest(), sum, longest)
		}
	}
	if n := cap(e.pending); n > 1000 {
		t.Errorf("%d endings pending", n)
	}
}

func TestLittle(t *testing.T) {
	l := CheckLittle(100, 50_000*2_040_000, 1_000_000_000) // 50 M requests per second that take 2,040 ns
	near(t, "product", l.ThroughputXLatency, 102, 1e-9)
	near(t, "error", l.Error, 0.02, 1e-9)
}

func TestStudentAgainstGonum(t *testing.T) {
	for df := 1.0; df < 3000; df *= 1.013 {
		want := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(0.975)
		tol := 5e-6
		if df < 30 && df != math.Floor(df) {
			tol = 0.45 / (df * df) // interpolated, and never too narrow
		}
		if got := tQuantile975(df); got < want-5e-6 || got > want*(1+tol) {
			t.Errorf("%v degrees of freedom: %v, want %v", df, got, want)
		}
	}
	for df := range 200 {
		want := distuv.StudentsT{Sigma: 1, Nu: float64(df + 1)}.Quantile(0.975)
		near(t, "t quantile", tQuantile975(float64(df+1)), want, 5e-6)
	}
}

func TestMean95(t *testing.T) {
	x := []float64{9, 11, 10, 12, 8}
	m, v := stat.MeanVariance(x, nil)
	got := Mean95(x)
	near(t, "mean", got.Mean, m, 1e-12)
	near(t, "half", got.Half95, 2.77644511*math.Sqrt(v/5), 1e-7)
	if one := Mean95(x[:1]); one.Mean != 9 || !math.IsInf(one.Half95, 1) {
		t.Errorf("of one value: %+v", one)
	}
}

// A half's spans follow each other: taken for independent they would find a difference in most series.
func TestDiffOfHalves(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 9))
	const runs = 1000
	plain, batch := 0, 0
	for range runs {
		x, series := 0.0, make([]float64, 2000)
		for i := range series {
			x = 0.9*x + rnd.NormFloat64()
			series[i] = x
		}
		if d, h := Diff(series[:1000], series[1000:]); math.Abs(d) > h {
			plain++
		}
		if d, h := DiffOfHalves(series, 5); math.Abs(d) > h {
			batch++
		}
	}
	if plain < runs/2 || batch < runs*3/100 || batch > runs*10/100 {
		t.Errorf("a difference in %d of %d series taken for independent, in %d of batches", plain, runs, batch)
	}
}

func TestDiffCovers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 6))
	const runs = 4000
	covered := 0
	for range runs {
		a, b := make([]float64, 5), make([]float64, 12)
		for i := range a {
			a[i] = 10 + 3*rnd.NormFloat64()
		}
		for i := range b {
			b[i] = 12 + 0.5*rnd.NormFloat64()
		}
		if d, h := Diff(a, b); math.Abs(d-2) <= h {
			covered++
		}
	}
	if share := float64(covered) / runs; share < 0.935 || share > 0.965 {
		t.Errorf("95 %% intervals cover %v", share)
	}
	if d, h := Diff([]float64{1}, []float64{2, 2}); d != 1 || !math.IsInf(h, 1) {
		t.Errorf("of one value: %v ± %v", d, h)
	}
	if d, h := Diff([]float64{1, 1}, []float64{2, 2}); d != 1 || h != 0 {
		t.Errorf("without variance: %v ± %v", d, h)
	}
}

func TestSettled(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 8))
	for _, c := range []struct{ n, transient int }{{20, 4}, {40, 10}, {200, 30}, {200, 0}} {
		worst := 0.0
		for range 100 {
			series := make([]float64, c.n)
			for i := range series {
				series[i] = 100 + rnd.NormFloat64()
				if i < c.transient {
					series[i] -= 60 * float64(c.transient-i) / float64(c.transient)
				}
			}
			at := Settled(series)
			if at > c.n/2 {
				t.Fatalf("cut at %d of %d", at, c.n)
			}
			if rest, _ := moments(series[at:]); math.Abs(rest-100) > worst {
				worst = math.Abs(rest - 100)
			}
		}
		if worst > 2 {
			t.Errorf("n %d, transient %d: the mean of the rest is off by %v", c.n, c.transient, worst)
		}
	}
	if at := Settled([]float64{5}); at != 0 {
		t.Errorf("of one value: %d", at)
	}
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if math.Abs(got-want) > tol {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestPhasesOfLaterParts: what was made before a phase became known has nothing of it, and what is made later has room for it.
func TestPhasesOfLaterParts(t *testing.T) {
	old, sums := NewBreakdown(), Attribution{}
	sums.Record(old, ForPhases[uint32]())
	var late Phase
	for i := range 20 { // more than one protocol has
		late = NewPhase(PhaseInfo{Name: fmt.Sprintf("late %d", i)})
	}
	if got := old.Phase(late); got != 0 {
		t.Errorf("%d ps in a phase that was not known", got)
	}
	if _, ok := sums.Phase(late); ok {
		t.Error("a request was in a phase that was not known")
	}
	now := NewBreakdown()
	now[late][Wire] = 2_000_000
	sums.Record(now, nil)
	if s, ok := sums.Phase(late); !ok || s.MeanUS != 1 {
		t.Errorf("of two requests one was in the phase for 2 µs: %+v, %v", s, ok)
	}
}

func BenchmarkAttribution(b *testing.B) {
	var a Attribution
	x := NewBreakdown()
	for p := range x {
		x[p][Wire], x[p][Compute] = 1_500_000, 70_000
	}
	for b.Loop() {
		a.Record(x, nil)
	}
}
