package fabric

import (
	"fmt"
	"testing"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// took is how long one request of n bytes takes in an idle cluster, whose bytes are warm
// in the caches or in none; m is the machine it goes to, one's own for loopback.
func took(t *testing.T, p *profile.Profile, op Opcode, m int, n uint32, warm bool) sim.Time {
	t.Helper()
	return tookSlowed(t, p, 0, op, m, n, warm)
}

// tookSlowed is took with RNICs that take percent longer.
func tookSlowed(t *testing.T, p *profile.Profile, percent int, op Opcode, m int, n uint32, warm bool) sim.Time {
	t.Helper()
	b, x, _ := pairBed(t, Config{Profile: p})
	for _, n := range b.f.nics {
		n.SetSlowdown(percent)
	}
	q := x.rc[m]
	if m == x.machine {
		r, err := q.NIC().CreateQP(QPConfig{Transport: RC})
		if err == nil {
			q, err = q.NIC().CreateQP(QPConfig{Transport: RC, SendCQ: x.cq})
		}
		if err == nil {
			err = Connect(q, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var last sim.Time
	for range 2 { // the second time queue pairs and pages are known
		if warm {
			b.f.Machine(m).Warm(host.Extent{At: b.data[m], Bytes: int(n)})
			b.f.Machine(0).Warm(host.Extent{At: x.scratch, Bytes: int(n)})
		}
		wr := x.read(1, m, n)
		if op == Write {
			wr = x.write(1, m, n)
		}
		began := b.sim.Now()
		x.postAll(q, wr)
		b.run(sim.Millisecond)
		var out [1]CQE
		if x.cq.Poll(out[:]) != 1 || out[0].Status != Success {
			t.Fatalf("%v of %d bytes: %v", op, n, out[0].Status)
		}
		if out[0].Stamp.Total() != out[0].At-began {
			t.Errorf("%v of %d bytes: milestones add up to %d ps, it took %d", op, n, out[0].Stamp.Total(), out[0].At-began)
		}
		last = out[0].At - began
	}
	return last
}

// A message of many packets takes the time of one packet, and for each further one that of the
// slowest station: packets are under way one behind the other. One that fits the path MTU is one packet.
func TestPacketsFollowEachOther(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *profile.Profile)
	}{
		{"val", func(*profile.Profile) {}},
		{"slow gathering", func(p *profile.Profile) { p.NIC.TxGather.Value = 4 }},
		{"slow scattering", func(p *profile.Profile) { p.NIC.RxScatter.Value = 3 }},
		{"slow wire", func(p *profile.Profile) { p.Wire.Bandwidth.Value = 2 }},
		{"small packets", func(p *profile.Profile) { p.Wire.MTU.Value = 1024 }},
	} {
		for _, op := range []Opcode{Read, Write} {
			for m := range 2 {
				t.Run(fmt.Sprintf("%s/%v to %d", c.name, op, m), func(t *testing.T) {
					p := loadVal(t)
					c.change(p)
					b, _, _ := pairBed(t, Config{Profile: p})
					k := &b.f.cost
					mtu := k.mtu
					slowest := max(k.fetched(0, mtu), k.gathered(mtu), k.scattered(mtu), k.written(0, mtu))
					if m == 1 {
						slowest = max(slowest, k.serialize(mtu, k.headNext))
					}
					const more = 15
					got := took(t, p, op, m, (1+more)*mtu, true) - took(t, p, op, m, mtu, true)
					if want := more * slowest; got < want-more || got > want+more+slowest {
						t.Errorf("%d further packets take %d ps, %d of the slowest station's are %d", more, got, more, want)
					}
				})
			}
		}
	}
}

// A slow bus is passed at both ends, with faster stations between: these keep a message together, so that both
// passages are one behind the other in part.
func TestPacketsOverASlowBus(t *testing.T) {
	p := loadVal(t)
	p.PCIe.Bandwidth.Value = 5
	b, _, _ := pairBed(t, Config{Profile: p})
	k := &b.f.cost
	const more = 15
	got := took(t, p, Read, 1, (1+more)*k.mtu, true) - took(t, p, Read, 1, k.mtu, true)
	if want := more * (k.fetched(0, k.mtu) + k.written(0, k.mtu) - k.gathered(k.mtu)); got < want-more || got > want+more {
		t.Errorf("%d further packets take %d ps, want %d", more, got, want)
	}
}

// An RNIC that takes longer for everything takes as much longer for each packet of a loopback.
func TestPacketsThroughASlowRNIC(t *testing.T) {
	p := loadVal(t)
	p.PCIe.Bandwidth.Value, p.NIC.RxScatter.Value = 5, 3
	b, _, _ := pairBed(t, Config{Profile: p})
	k := &b.f.cost
	for _, op := range []Opcode{Read, Write} {
		const more, percent = 15, 400
		got := tookSlowed(t, p, percent, op, 0, (1+more)*k.mtu, true) - tookSlowed(t, p, percent, op, 0, k.mtu, true)
		if want := more * 5 * k.scattered(k.mtu); got < want-5*more || got > want+5*more {
			t.Errorf("%v: %d further packets take %d ps, want %d", op, more, got, want)
		}
	}
}

// A thing to know a model by: on 100 Gbit/s, 64 KB take 5.2 us on the wire and a READ of them that and some 2.7 more.
func TestReadOf64KB(t *testing.T) {
	if d := took(t, loadVal(t), Read, 1, 64<<10, true); d < 7*sim.Microsecond || d > 9*sim.Microsecond {
		t.Errorf("a READ of 64 KB takes %d ps", d)
	}
}

// Nor does a READ wait until memory has given all of it.
func TestPacketsOfSlowMemory(t *testing.T) {
	p := loadVal(t)
	p.NodeTypes[0].ChannelBandwidth.Value = 1 // four channels: 16 us for 64 KB, three times what the wire takes
	b, _, _ := pairBed(t, Config{Profile: p})
	all := 64 * (space.LineBytes * p.NodeTypes[0].ChannelBandwidth.PerKB() >> 10) * 1024 / 64 / 4
	cold, warm := took(t, p, Read, 1, 64<<10, false), took(t, p, Read, 1, 64<<10, true)
	if wire := b.f.cost.serialize(64<<10, 0); cold > warm-wire+all+all/8 || cold < all {
		t.Errorf("a READ of 64 KB takes %d ps, %d of them memory; %d from the cache, %d of them on the wire", cold, all, warm, wire)
	}
}

// The packets of a message that begins in the middle of a line read no line twice.
func TestPacketsReadEachLineOnce(t *testing.T) {
	b, x, _ := pairBed(t, Config{})
	for _, n := range []uint32{4096, 4097, 64 << 10} {
		before := b.f.Machine(1).Traffic(0).ReadWords
		wr := x.read(1, 1, n)
		wr.Remote += 8
		x.postAll(x.rc[1], wr)
		b.run(sim.Millisecond)
		expect(t, "completions", x.completions(), "1 READ success")
		if lines := b.f.Machine(1).Traffic(0).ReadWords - before; lines != uint64(n+8+space.LineBytes-1)/space.LineBytes {
			t.Errorf("a READ of %d bytes reads %d lines", n, lines)
		}
	}
}

// A message whose context has to be fetched waits for that, not until all of its packets are there.
func TestContextOfManyPackets(t *testing.T) {
	const n = 64 << 10
	late := func(payload uint32) sim.Time {
		p := loadVal(t)
		p.NIC.QPContexts.Value = 1
		b, x, y := pairBed(t, Config{Profile: p})
		other := x.connect(y, x.cq)
		write := func(q *QP) sim.Time {
			began := b.sim.Now()
			x.postAll(q, x.write(1, 1, payload))
			b.run(sim.Millisecond)
			var out [1]CQE
			if x.cq.Poll(out[:]) != 1 {
				t.Fatal("no completion")
			}
			return out[0].At - began
		}
		write(x.rc[1])
		known := write(x.rc[1])
		return write(other) - known
	}
	if small, large := late(8), late(n); large > small+sim.Microsecond {
		t.Errorf("a context that is not there makes a WRITE of 8 bytes %d ps later, one of %d bytes %d", small, n, large)
	}
}

// A large message does not overtake, and is not overtaken by what comes behind it on its queue pair.
func TestOrderBehindManyPackets(t *testing.T) {
	p := loadVal(t)
	p.PCIe.Bandwidth.Value = 3
	b, x, _ := pairBed(t, Config{Profile: p})
	x.postAll(x.rc[1], x.write(1, 1, 64<<10), x.write(2, 1, 8), x.read(3, 1, 64<<10), x.read(4, 1, 8), x.write(5, 1, 100))
	b.run(sim.Millisecond)
	expect(t, "completions", x.completions(), "1 WRITE success", "2 WRITE success", "3 READ success", "4 READ success", "5 WRITE success")
	if n := b.f.OutOfOrder(); n != 0 {
		t.Errorf("%d arrivals out of order", n)
	}
}
