package fabric

import (
	"fmt"
	"testing"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/metrics"
	"drtmx/engine/sim"
)

// A READ alone, warm, from LLC, with every picosecond accounted for. The
// numbers change only with the profile or the model: look where, and why.
func TestMilestonesOfOneRead(t *testing.T) {
	b, x, _ := pairBed(t, Config{})
	c := &b.f.cost
	var e CQE
	for range 2 {
		began := b.sim.Now()
		b.f.Machine(1).Warm(host.Extent{At: b.data[1], Bytes: 64})
		x.postAll(x.rc[1], x.read(1, 1, 64))
		b.run(20 * sim.Microsecond)
		var out [1]CQE
		if x.cq.Poll(out[:]) != 1 {
			t.Fatal("no completion")
		}
		e = out[0]
		e.At -= began
	}
	p := &b.f.profile.NIC
	want := [metrics.NumMilestones]int64{
		metrics.Doorbell: c.oneWay,
		metrics.NICSend: p.TxRead.Time() + c.txLatency +
			p.TxReadResponse.Time() + 64*c.gather>>10 + c.txLatency,
		metrics.Wire:       2*c.hop + c.serialize(0, 42) + c.serialize(64, 30),
		metrics.NICReceive: 2 * c.rxLatency,
		metrics.PCIe:       c.oneWay + c.oneWay + c.fetched(0, 64) + c.oneWay,
		metrics.Memory:     c.LLCDMA,
		// Data and completion cross PCIe while the packet is still coming in.
		metrics.Completion: max(0, c.written(0, 64)+c.pcieCQE-p.RxResponse.Time()-p.RxCompletion.Time()-64*c.scatter>>10),
	}
	// What the receive pipelines add to bytes that are still coming in.
	want[metrics.NICReceive] += max(0, p.RxRead.Time()-c.serialize(0, 42)) + max(0, p.RxResponse.Time()+p.RxCompletion.Time()+64*c.scatter>>10-c.serialize(64, 30))
	for m := range metrics.NumMilestones {
		if int64(e.Stamp[m]) != want[m] {
			t.Errorf("%v: %d ps, want %d", m, e.Stamp[m], want[m])
		}
	}
	if e.Stamp.Total() != e.At {
		t.Errorf("milestones add up to %d ps, the READ took %d", e.Stamp.Total(), e.At)
	}
	const golden = "doorbell 250000 nic_send 280020 wire 250880 nic_receive 265691 pcie 755332 memory 25000 "
	got := ""
	for m, d := range e.Stamp {
		if d != 0 {
			got += fmt.Sprintf("%v %d ", metrics.Milestone(m), d)
		}
	}
	if got != golden {
		t.Errorf("milestones of val@1:\n got  %s\n want %s", got, golden)
	}
}

// Milestones of every kind of request, posted in lists under load, add up to
// the time until the completion.
func TestMilestonesAddUp(t *testing.T) {
	b := newBed(t, bedOptions{machines: 3, threads: 2, span: 1 << 20, config: Config{TornReads: true}})
	posted := map[[2]uint64]sim.Time{}
	checked := 0
	post := func(w *bedWorker, id uint64) {
		m, a, key := w.target(64)
		r := SendWR{ID: id, Op: Opcode(1 + w.rand.Intn(4)), Signaled: true, Local: w.scratch + space.Addr(id)*4096, LKey: w.key,
			Len: uint32(8 << w.rand.Intn(8)), Remote: a &^ 4095, RKey: key}
		r.Inline = r.Op == Write && r.Len <= 64
		posted[[2]uint64{uint64(w.machine*10 + w.core), id}] = b.sim.Now()
		w.post(w.rc[m], r)
	}
	b.start(8, post, func(w *bedWorker, e *CQE) {
		if took := e.At - posted[[2]uint64{uint64(w.machine*10 + w.core), e.ID}]; e.Stamp.Total() != took {
			t.Fatalf("%v of %d bytes: milestones add up to %d, it took %d: %v", e.Op, e.Bytes, e.Stamp.Total(), took, e.Stamp)
		}
		checked++
		post(w, e.ID)
	})
	b.run(200 * sim.Microsecond)
	if checked < 2000 {
		t.Errorf("%d completions", checked)
	}
}

// Busy times add up to what went through the stations, and the busiest is the
// one that limits.
func TestUsage(t *testing.T) {
	b := newBed(t, bedOptions{machines: 4, threads: 8, span: 1 << 20})
	b.start(32, oneSided(CompareSwap, 8, 64), nil)
	b.run(50 * sim.Microsecond)
	before := b.f.Usage(nil)
	b.run(50 * sim.Microsecond)
	u := metrics.Utilize(before, b.f.Usage(nil), int64(50*sim.Microsecond))
	if u.Bottleneck.Resource != metrics.NICAtomic || u.Bottleneck.Utilization < 0.95 || u.Bottleneck.Utilization > 1.05 {
		t.Errorf("the bottleneck of atomics is %+v", u.Bottleneck)
	}
	seen := map[string]bool{}
	for _, r := range u.Resources {
		seen[r.Resource] = true
		if r.Max < 0 || r.Max > 1.1 {
			t.Errorf("%s is used %.2f", r.Resource, r.Max)
		}
	}
	for _, want := range []string{metrics.NICTx, metrics.NICRx, metrics.NICAtomic, metrics.Link, metrics.PCIeBus, metrics.MemoryBus, NICContext} {
		if !seen[want] {
			t.Errorf("no usage of %s", want)
		}
	}
}
