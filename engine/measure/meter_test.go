package measure

import "testing"

func TestSpansStayFew(t *testing.T) {
	var x spans
	x.Restart(5*firstSpan, Counts{Commits: 100}, firstSpan)
	total := Counts{Commits: 100}
	each := func() int { return int(x.length / firstSpan) }
	for now := 5 * firstSpan; now < 100_000*firstSpan; {
		now = x.Next
		for range 3 * each() {
			total.Commits++
			total.Aborts += 2
			x.open.Record(7_000_000)
		}
		x.Tick(now, total)
		x.Tick(now, total) // nothing new
	}
	if len(x.Closed) < maxSpans/2 || len(x.Closed) >= maxSpans {
		t.Errorf("%d spans", len(x.Closed))
	}
	for i := range x.Closed {
		if c := &x.Closed[i]; c.counts.Commits != uint64(3*each()) || c.counts.Aborts != uint64(6*each()) || c.latency.Count() != uint64(3*each()) {
			t.Fatalf("span %d of %d: %+v, %d latencies", i, x.length, c.counts, c.latency.Count())
		}
	}
	x.Restart(0, total, firstSpan)
	if x.Tick(firstSpan, total); len(x.Closed) != 1 || x.Closed[0].counts != (Counts{}) || x.Closed[0].latency.Count() != 0 {
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
	m := NewMeter(1)
	for typ, us := range []int64{1, 9} {
		m.Add(&Request{Typ: typ, Committed: true, LatencyPS: us * 1_000_000})
	}
	for typ, ns := range []int64{1000, 9000} {
		if h := m.LatencyOf(typ); h.Count() != 1 || h.MaxNS() != ns {
			t.Errorf("type %d: %d requests, the longest took %d ns, want one of %d", typ, h.Count(), h.MaxNS(), ns)
		}
	}
}
