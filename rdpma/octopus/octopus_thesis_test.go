package octopus

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/rdpma"
	"drtmx/rdpma/nvm"
)

// bed is one client and one server with NVM.
type bed struct {
	t   *testing.T
	sim *sim.Sim
	f   *fabric.Fabric
	cl  *r2.Cluster
	fs  *FS
}

func newBed(t *testing.T, c Config) *bed {
	t.Helper()
	p, err := profile.Load("r74v")
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{t: t, sim: sim.New(sim.Options{Seed: 1})}
	b.f, err = fabric.New(b.sim, fabric.Config{Profile: p, Machines: 2, NodeTypes: []string{"val", "r74v"}, NVM: device(p.NVM), Durability: true})
	if err != nil {
		t.Fatal(err)
	}
	if b.cl, err = r2.New(b.sim, b.f, r2.Config{Threads: 1, Coroutines: 1}); err != nil {
		t.Fatal(err)
	}
	c.Servers = []int{1}
	if b.fs, err = Open(b.cl, c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.sim.Close()
		if err := b.f.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func device(n *profile.NVMNumbers) func(int, int, *profile.NodeType) (host.Device, error) {
	rate := func(x profile.Number) int64 { return int64(math.Round(x.Value * 1e9)) }
	return func(_, _ int, t *profile.NodeType) (host.Device, error) {
		if t.NVMGeneration.Int() == 0 {
			return nil, nil
		}
		return nvm.New(nvm.Config{
			DIMMs: n.DIMMs.Int(), InterleaveBytes: n.Interleave.Int(), XLineBytes: n.XLine.Int(), XBufferXLines: n.XBuffer.Int(),
			WritebackQueue: n.WritebackQueue.Int(), WriteQueue: n.WriteQueue.Int(), ReadQueue: n.ReadQueue.Int(),
			ControllerReadPS: n.ControllerRead.Time(), ControllerWritePS: n.ControllerWrite.Time(), ReadHitPS: n.ReadHit.Time(),
			MediaReadPS: n.MediaRead.Time(), TranslationMissPS: n.TranslationMiss.Time(),
			TranslationPages: n.TranslationPages.Int(), TranslationPageBytes: n.TranslationPage.Int(),
			MediaReadBytesPerSec: rate(n.ReadBandwidth), MediaWriteBytesPerSec: rate(n.WriteBandwidth)})
	}
}

func (b *bed) do(body func(c *r2.Co)) {
	b.t.Helper()
	ended := false
	b.cl.Spawn(0, 0, func(c *r2.Co) {
		c.Phase(metrics.PhaseOther, r2.Mode{Outstanding: true, Doorbell: true})
		body(c)
		ended = true
	})
	if err := b.sim.Run(b.sim.Now() + 100*sim.Millisecond); err != nil {
		b.t.Fatal(err)
	}
	if !ended {
		b.t.Fatalf("not finished: %v", b.cl.Waiting(4))
	}
}

// The five of figure 2-19, each on top of the one before, and the round trips of a
// write: durability costs one more, which H9 takes back.
func figure219() []struct {
	name string
	Setup
	trips int
} {
	hints := rdpma.AllHints()
	opt := hints
	opt.H9 = false
	return []struct {
		name string
		Setup
		trips int
	}{
		{"DRAM", Setup{DRAM: true}, 2},
		{"+NVM", Setup{}, 2},
		{"+OPT(H1-H8)", Setup{Hints: opt}, 2},
		{"+Persist", Setup{Hints: opt, Durable: true}, 3},
		{"+OPT(H9)", Setup{Hints: hints, Durable: true}, 2},
	}
}

// §2.3.5.3: a client queries the metadata by two-sided RDMA and writes with
// one-sided RDMA. What was written durably survives a crash.
func TestFigure219Configurations(t *testing.T) {
	for _, x := range figure219() {
		b := newBed(t, Config{Setup: x.Setup, BlockBytes: 4096, FileBytes: 16384, Files: 4})
		if err := b.fs.Create(1); err != nil {
			t.Fatal(err)
		}
		data := bytes.Repeat([]byte("rdma nvm"), 1024) // over three blocks
		b.do(func(c *r2.Co) {
			sums := metrics.ForPhases[uint32]()
			c.TakeTrips(sums)
			if err := b.fs.Write(c, 1, 2048, data); err != nil {
				t.Fatal(err)
			}
			if got := c.TakeTrips(sums); got != x.trips {
				t.Errorf("%s: a write is %d round trips, want %d", x.name, got, x.trips)
			}
			b.checkCrash(c, x.name, data, x.Durable)
			got, err := b.fs.Read(c, 1, 2048, len(data))
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s: read %d bytes, %v", x.name, len(got), err)
			}
			for off := 2048; off < 2048+len(data); off += 1024 {
				at := b.fs.Where(1, off)
				if got := b.cl.Mem(at.Machine).Bytes(at.Addr, 1024); !bytes.Equal(got, data[off-2048:][:1024]) {
					t.Errorf("%s: bytes from %d are others", x.name, off)
				}
			}
			if _, err := b.fs.Read(c, 2, 0, 8); !errors.Is(err, ErrNoFile) {
				t.Errorf("%s: a file that was not created: %v", x.name, err)
			}
			if err := b.fs.Write(c, 1, 16384-8, data[:16]); err == nil {
				t.Errorf("%s: a write beyond the end of the file", x.name)
			}
		})
	}
}

// checkCrash looks at what a crash would leave of data, in file 1 from 2048 on.
func (b *bed) checkCrash(c *r2.Co, name string, data []byte, durable bool) {
	all, err := b.fs.ask(c, 1, 2048, len(data))
	blocks := 0
	for err == nil {
		var s span
		var more bool
		if s, more, err = all.next(); !more {
			break
		}
		blocks++
		left := b.f.Machine(1).AfterCrash(s.block.Addr()+r2.Addr(s.off), s.to-s.from, nil)
		if durable && !bytes.Equal(left, data[s.from:s.to]) {
			b.t.Errorf("%s: bytes %d to %d do not survive a crash", name, s.from, s.to)
		}
	}
	if err != nil || blocks != 3 {
		b.t.Fatalf("%s: %d blocks, %v", name, blocks, err)
	}
}
