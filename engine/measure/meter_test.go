package measure

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"drtmx/engine/metrics"
)

func TestSpansStayFew(t *testing.T) {
	var x spans
	x.restart(5*firstSpan, Counts{Commits: 100}, firstSpan)
	total := Counts{Commits: 100}
	each := func() int { return int(x.length / firstSpan) }
	for now := 5 * firstSpan; now < 100_000*firstSpan; {
		now = x.Next
		for range 3 * each() {
			total.Commits++
			total.Aborts += 2
			x.open.Record(7_000_000)
		}
		x.tick(now, total)
	}
	if len(x.Closed) < maxSpans/2 || len(x.Closed) >= maxSpans {
		t.Errorf("%d spans", len(x.Closed))
	}
	for i := range x.Closed {
		if c := &x.Closed[i]; c.counts.Commits != uint64(3*each()) || c.counts.Aborts != uint64(6*each()) || c.latency.Count() != uint64(3*each()) {
			t.Fatalf("span %d of %d: %+v, %d latencies", i, x.length, c.counts, c.latency.Count())
		}
	}
	x.restart(0, total, firstSpan)
	if x.tick(firstSpan, total); len(x.Closed) != 1 || x.Closed[0].counts != (Counts{}) || x.Closed[0].latency.Count() != 0 {
		t.Errorf("after a new mark: %d spans", len(x.Closed))
	}
}

func TestAbortRate(t *testing.T) {
	var c Counts
	c.add(&Request{Committed: true})
	c.add(&Request{RolledBack: true})
	c.add(&Request{})
	c.Aborts = 4
	if c.Commits != 1 || c.Rollbacks != 1 || c.Failed != 1 || c.Ended() != 3 {
		t.Errorf("%+v", c)
	}
	if got := c.AbortRate(); got != 4.0/6 { // a request that failed is no attempt
		t.Errorf("abort rate %f", got)
	}
}

// The first request of a type that was added is not one of the type that was alone before.
func TestTypesAreApart(t *testing.T) {
	m := NewMeter(1, 1)
	for typ, us := range []int64{1, 9} {
		m.Add(0, &Request{Typ: typ, Committed: true, LatencyPS: us * 1_000_000})
	}
	for typ, ns := range []int64{1000, 9000} {
		if h := m.LatencyOf(typ); h.Count() != 1 || h.MaxNS() != ns {
			t.Errorf("type %d: %d requests, the longest took %d ns, want one of %d", typ, h.Count(), h.MaxNS(), ns)
		}
	}
}

// What machines measure each by itself is what one meter measures of all of them.
func TestMachinesAddUp(t *testing.T) {
	const machines = 5
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		types := 1 + rnd.IntN(3)
		m, one := NewMeter(machines, types), NewMeter(1, types)
		stale, of := NewStaleness(machines), NewStaleness(1)
		m.Mark(0, firstSpan)
		one.Mark(0, firstSpan)
		now := int64(0)
		for range 3000 {
			now += rnd.Int64N(2_000_000)
			machine, ahead := rnd.IntN(machines), now+rnd.Int64N(3_000_000)
			r := request(rnd, types)
			for i, x := range []*Meter{m, one} {
				at := machine * (1 - i)
				x.Began(at, now, ahead)
				x.Ended(at, now, ahead+1000, r.LatencyPS)
				x.Add(at, r)
				if r.Typ == 0 {
					x.Aborted(at, int(r.LatencyPS)%types)
				}
			}
			stale.Add(machine, r.LatencyPS)
			of.Add(0, r.LatencyPS)
			for now >= m.Spans.Next {
				m.Tick(m.Spans.Next)
				one.Tick(one.Spans.Next)
			}
			switch rnd.IntN(200) {
			case 0:
				same(t, m, one, now)
				m.Open().Reset()
				one.Open().Reset()
				stale.Cut(1, 0, false)
				of.Cut(1, 0, false)
			case 1:
				m.Mark(now, firstSpan)
				one.Mark(now, firstSpan)
				stale.Mark()
				of.Mark()
			}
		}
		same(t, m, one, now)
		if a, b := stale.Measured(0, false), of.Measured(0, false); !reflect.DeepEqual(a, b) {
			t.Errorf("staleness %+v, of one %+v", a, b)
		}
		m.Close()
		one.Close()
		late := request(rnd, types)
		m.Add(2, late)
		one.Add(0, late)
		if same(t, m, one, now); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// request is a request of one of as many types and one.
func request(rnd *rand.Rand, types int) *Request {
	b, trips := metrics.NewBreakdown(), metrics.ForPhases[uint32]()
	b[rnd.IntN(len(b))][metrics.Compute], trips[0] = rnd.Int64N(1e7), rnd.Uint32N(4)
	return &Request{Typ: rnd.IntN(types + 1), Committed: rnd.IntN(9) > 0, RolledBack: rnd.IntN(2) > 0, Empty: rnd.IntN(2) > 0, LatencyPS: rnd.Int64N(1e8), Phases: metrics.AllPhases, Breakdown: b, Trips: trips}
}

// same compares all that is read of two meters.
func same(t *testing.T, a, b *Meter, now int64) {
	t.Helper()
	type seen struct {
		Latency, Window metrics.Latency
		Shape           *metrics.Histogram
		Flight          metrics.Area
		Ended           uint64
		Longest         int64
		Phases, Open    map[string]metrics.PhaseStat
		Types           []Counts
		Of              []metrics.Latency
		Spans           []Counts
		Halves          []float64
	}
	of := func(m *Meter) (x seen) {
		x = seen{Latency: m.Measured().Latency.Latency(), Window: m.Open().Latency.Latency(), Shape: m.Measured().Latency.Histogram(), Flight: m.Flight(now), Ended: m.EndedPS(now), Longest: m.Longest(),
			Phases: PhasesOf(&m.Measured().Attr), Open: PhasesOf(&m.Open().Attr)}
		for i, n := range m.Types() {
			x.Types, x.Of = append(x.Types, n.Counts), append(x.Of, m.LatencyOf(i).Latency())
		}
		for i := range m.Spans.Closed {
			x.Spans = append(x.Spans, m.Spans.Closed[i].counts)
		}
		for _, q := range []float64{0.5, 0.9} {
			share, _ := metrics.QuantileCI95(&m.Measured().Latency, m.Spans.Latencies(), q)
			x.Halves = append(x.Halves, share)
		}
		return x
	}
	if x, y := of(a), of(b); !reflect.DeepEqual(x, y) {
		t.Errorf("%+v, of one %+v", x, y)
	}
}
