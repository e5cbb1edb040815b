package rdpma

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

// Table 2-3: CPU, PCIe and XController handle 64 bytes, the media 256.
func TestTable23Granularities(t *testing.T) {
	if LineBytes != 64 || XLineBytes != 256 {
		t.Errorf("lines of %d bytes, XLines of %d", LineBytes, XLineBytes)
	}
}

// Table 2-4, access pattern advice: which hint decides the granularity of a
// write, by primitive and payload, and whether the server's CPU uses ntstore.
func TestTable24AccessPatterns(t *testing.T) {
	type want struct {
		granule int
		nt      bool
	}
	none := want{wordBytes, false}
	for _, tt := range []struct {
		hints                          string
		one16, one2048, cpu16, cpu2048 want
	}{
		{"none", none, none, none, none},
		{"H4", none, none, none, want{wordBytes, true}},
		{"H5", want{256, false}, want{256, false}, want{256, false}, want{256, false}},
		{"H6", want{64, false}, none, none, none},
		{"H7", none, none, want{64, true}, none},
		{"H4-H7", want{64, false}, want{256, false}, want{64, true}, want{256, true}},
		{"H1-H3,H8,H9", none, none, none, none},
	} {
		h, err := ParseHints(tt.hints)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			how  Primitive
			n    int
			want want
		}{{OneSided, 16, tt.one16}, {OneSided, 2048, tt.one2048}, {TwoSided, 16, tt.cpu16}, {TwoSided, 2048, tt.cpu2048}} {
			got := want{h.granule(c.how, c.n), c.how == TwoSided && h.nonTemporal(c.n)}
			if got != c.want {
				t.Errorf("%s, %v, %d bytes: %+v, want %+v", tt.hints, c.how, c.n, got, c.want)
			}
		}
	}
}

// §2.3.4.2, H5: 16 bytes become 256, a network amplification of 16; H6 makes it 4.
func TestNetworkAmplification(t *testing.T) {
	for hints, want := range map[string]uint64{"none": 16, "H5": 256, "H5,H6": 64} {
		h, err := ParseHints(hints)
		if err != nil {
			t.Fatal(err)
		}
		b := newBed(t, bedOptions{config: Config{Servers: []int{1}, Hints: h}})
		p := b.alloc(1, 16)
		b.do(0, func(c *r2.Co) {
			if err := b.m.Write(c, p, 0, pattern(16, 3), OneSided); err != nil {
				t.Error(err)
			}
		})
		if got := 16 + b.m.Counts().PadBytes; got != want {
			t.Errorf("%s: 16 bytes are %d on the wire, want %d", hints, got, want)
		}
		b.close()
	}
}

// §2.3.4.1, H1: with it no request crosses sockets, whichever socket the memory
// is on; without it those to the other socket do.
func TestH1AvoidsCrossSocket(t *testing.T) {
	for _, on := range []bool{false, true} {
		b := newBed(t, bedOptions{threads: 2, config: Config{Servers: []int{1}, Hints: Hints{H1: on}}})
		for th := range 2 {
			b.do(th, func(c *r2.Co) {
				for range 4 {
					p, err := b.m.AllocFor(c, 1, 64)
					if err != nil {
						t.Error(err)
					}
					for _, how := range []Primitive{OneSided, TwoSided} {
						if err := b.m.Write(c, p, 0, pattern(64, 1), how); err != nil {
							t.Error(err)
						}
					}
				}
				far := b.alloc(1, 64) // of either socket
				if err := b.m.Write(c, far, 0, pattern(64, 1), OneSided); err != nil {
					t.Error(err)
				}
			})
		}
		if n := b.m.Counts().CrossSocket; (n == 0) != on {
			t.Errorf("H1 %v: %d operations crossed sockets", on, n)
		}
		b.close()
	}
}

// §2.3.4.1, H2: twenty threads write each DIMM of a socket from at most four.
func TestH2SpreadsThreadsOverDIMMs(t *testing.T) {
	b := newBed(t, bedOptions{threads: 20, config: Config{Servers: []int{1}, Hints: Hints{H1: true, H2: true}}})
	defer b.close()
	writers := map[*pool]int{}
	for th := range 20 {
		b.do(th, func(c *r2.Co) {
			p, err := b.m.AllocFor(c, 1, 2048)
			if err != nil {
				t.Fatal(err)
			}
			writers[b.m.servers[1].blocks[p.block].pool]++
		})
	}
	if len(writers) != 12 {
		t.Errorf("20 threads use %d DIMMs, want 12", len(writers))
	}
	for p, n := range writers {
		if n > 4 {
			t.Errorf("%s has %d writers", p.name, n)
		}
	}
}

// With other hardware they write each DIMM that there is.
func TestH2UsesTheDIMMsThatThereAre(t *testing.T) {
	p, err := profile.Load("r74v")
	if err != nil {
		t.Fatal(err)
	}
	for _, dimms := range []float64{1, 3, 8} {
		p = p.Clone()
		p.NVM.DIMMs.Value = dimms
		b := newBed(t, bedOptions{threads: 20, config: Config{Servers: []int{1}, Hints: Hints{H1: true, H2: true}}, fabric: fabric.Config{Profile: p}})
		defer b.close()
		used := map[*pool]bool{}
		for th := range 20 {
			b.do(th, func(c *r2.Co) {
				p, err := b.m.AllocFor(c, 1, 2048)
				if err != nil {
					t.Fatalf("%v DIMMs: %v", dimms, err)
				}
				used[b.m.servers[1].blocks[p.block].pool] = true
			})
		}
		if want := 2 * int(dimms); len(used) != want {
			t.Errorf("20 threads use %d DIMMs, want %d", len(used), want)
		}
	}
}

// §2.3.4.3: a persistent write takes two network round trips, and with H9 one;
// with H9 it takes longer than a lone request, but not twice as long.
func TestH9SavesARoundTrip(t *testing.T) {
	latency := func(h Hints, op func(m *Memory, c *r2.Co, p Ptr) error) (d r2.Time) {
		b := newBed(t, bedOptions{config: Config{Servers: []int{1}, Hints: h}})
		defer b.close()
		p := b.alloc(1, 64)
		b.do(0, func(c *r2.Co) {
			for range 4 { // the last finds everything warm
				start := c.Now()
				if err := op(b.m, c, p); err != nil {
					t.Error(err)
				}
				d = c.Now() - start
				c.Sleep(20 * sim.Microsecond)
			}
		})
		return d
	}
	pwrite := func(m *Memory, c *r2.Co, p Ptr) error { return m.PWrite(c, p, 0, pattern(64, 1), OneSided) }
	lone := latency(Hints{H3: true, H6: true}, func(m *Memory, c *r2.Co, p Ptr) error { return m.Write(c, p, 0, pattern(64, 1), OneSided) })
	two := latency(Hints{H3: true, H6: true}, pwrite)
	one := latency(Hints{H3: true, H6: true, H9: true}, pwrite)
	t.Logf("write %d ns, persistent write %d ns, with H9 %d ns (thesis: 2, 4 and 3 µs)", lone/sim.Nanosecond, two/sim.Nanosecond, one/sim.Nanosecond)
	if !(lone < one && one < two) || two < lone*3/2 {
		t.Errorf("write %d ps, with H9 %d ps, without %d ps: want them in this order", lone, one, two)
	}
}
