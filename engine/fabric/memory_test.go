package fabric

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

func TestLazyBlocks(t *testing.T) {
	b, _, _ := pairBed(t, Config{})
	mem := b.f.Machine(0).Mem
	made := map[uint64]int{}
	a, err := mem.Alloc(host.Alloc{Name: "table", Bytes: 64 << 20, Socket: 1, Fill: func(block uint64, dst []byte) {
		made[block]++
		if len(dst) != space.BlockBytes {
			t.Errorf("block of %d bytes", len(dst))
		}
		for i := range dst {
			dst[i] = byte(block + uint64(i))
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != 0 {
		t.Fatalf("%d blocks made by the allocation", len(made))
	}
	got := mem.Bytes(a+5*space.BlockBytes-8, 16)
	for i := range 16 {
		block, off := uint64(4+i/8), (space.BlockBytes-8+i)%space.BlockBytes
		if got[i] != byte(block+uint64(off)) {
			t.Fatalf("byte %d is %d", i, got[i])
		}
	}
	if len(made) != 2 || made[4] != 1 || made[5] != 1 {
		t.Errorf("blocks made: %v, want 4 and 5", made)
	}
	got[0] = 99
	if mem.Bytes(a+5*space.BlockBytes-8, 1)[0] != 99 || made[4] != 1 {
		t.Error("a written block was made again")
	}
	if !mem.Materialized(a+5*space.BlockBytes) || mem.Materialized(a+6*space.BlockBytes) {
		t.Error("Materialized is wrong")
	}
	for from := uint64(0); from < 130; from += 3 {
		for n := uint64(1); n < 130; n += 5 {
			want := from < 6 && from+n > 4
			if got := mem.Touched(a+from*space.BlockBytes+7, (n-1)*space.BlockBytes+1); got != want {
				t.Errorf("Touched of %d blocks from %d: %v", n, from, got)
			}
		}
	}
	if mem.Touched(a+4*space.BlockBytes, 0) || !mem.Touched(a, 64<<20+1) {
		t.Error("Touched of no bytes, or of bytes that there are not, is wrong")
	}
	if mem.Home(a) != 1 || mem.Home(b.workers[0].scratch) != 0 {
		t.Errorf("homes are %d and %d, want 1 and 0", mem.Home(a), mem.Home(b.workers[0].scratch))
	}
	d := mem.Digest(1)
	mem.Bytes(a+7*space.BlockBytes, 1)
	if mem.Digest(1) == d {
		t.Error("the digest does not see a new block")
	}
	mem.Bytes(a+150*space.BlockBytes, 1)
	if mem.Bytes(a+100*space.BlockBytes+5, 200*space.BlockBytes); len(made) != 2+1+201 || made[100] != 1 || made[150] != 1 || made[300] != 1 {
		t.Errorf("%d blocks made, of those that a long access needs %d, %d, %d times", len(made), made[100], made[150], made[300])
	}
	last := (64<<20)/space.BlockBytes - 1
	if mem.Bytes(a, 64<<20); len(made) != last+1 || made[uint64(last)] != 1 || made[200] != 1 {
		t.Errorf("%d of %d blocks made", len(made), last+1)
	}
}

// TestTracked: without a fill function it is known of a tracked allocation which blocks were touched, and of another one it is not; the digest
// sees neither.
func TestTracked(t *testing.T) {
	b, _, _ := pairBed(t, Config{})
	mem := b.f.Machine(0).Mem
	d := mem.Digest(1)
	for _, tracked := range []bool{true, false} {
		a, err := mem.Alloc(host.Alloc{Name: "words", Bytes: 4 << 20, Tracked: tracked})
		if err != nil {
			t.Fatal(err)
		}
		w := mem.Bytes(a+3*space.BlockBytes+8, 8)
		if binary.LittleEndian.Uint64(w) != 0 {
			t.Error("new memory is not zero")
		}
		w[0] = 1
		if !mem.Materialized(a+3*space.BlockBytes) || mem.Materialized(a+4*space.BlockBytes) == tracked {
			t.Errorf("tracked %v: of two blocks of which one was touched, Materialized says %v and %v", tracked, mem.Materialized(a+3*space.BlockBytes), mem.Materialized(a+4*space.BlockBytes))
		}
		if mem.Bytes(a+3*space.BlockBytes+8, 8)[0] != 1 {
			t.Error("what was written is gone")
		}
	}
	if mem.Digest(1) != d {
		t.Error("the digest sees what has no fill function")
	}
}

func TestMemoryLimits(t *testing.T) {
	b, _, _ := pairBed(t, Config{})
	mem := b.f.Machine(0).Mem
	if _, err := mem.Alloc(host.Alloc{Name: "huge", Bytes: 1 << 50}); err == nil || !strings.Contains(err.Error(), "huge") {
		t.Errorf("a petabyte: %v", err)
	}
	if _, err := mem.Alloc(host.Alloc{Name: "nothing"}); err == nil {
		t.Error("an allocation of nothing")
	}
	last, err := mem.Alloc(host.Alloc{Name: "last", Bytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := mem.Reserve("index", 1<<30, 1)
	if err != nil {
		t.Fatal(err)
	}
	var full *host.SpaceError
	for _, bytes := range []uint64{uint64(space.MaxAddr), ^uint64(0), uint64(space.MaxAddr - (r + 1<<30))} {
		if _, err := mem.Reserve("much", bytes, 0); !errors.As(err, &full) || full.Name != "much" {
			t.Errorf("%d bytes of addresses: %v", bytes, err)
		}
	}
	if mem.Home(r) != 1 || mem.Home(r+1<<30-1) != 1 {
		t.Error("the reserved space has no home")
	}
	if d := b.f.Machine(0).Access(0, 0, r+12345, 8, host.Load); d == 0 {
		t.Error("an access to reserved space is free")
	}
	for name, f := range map[string]func(){
		"bytes of reserved space": func() { mem.Bytes(r, 8) },
		"bytes behind the end":    func() { mem.Bytes(last+2<<20-4, 8) },
		"address 0":               func() { mem.Bytes(0, 8) },
		"wrapping":                func() { mem.Bytes(^space.Addr(0)-3, 8) },
		"registering the void":    func() { mem.Register(last+2<<20, 8, host.RemoteRead) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// Node types differ, threads find the RNIC of their socket.
func TestPlace(t *testing.T) {
	b, _, _ := pairBed(t, Config{NodeTypes: []string{"val", ""}})
	m := b.f.Machine(0)
	used := map[int]bool{}
	for th := range m.Cores() {
		core, nic := m.Assign(th)
		if used[core] {
			t.Errorf("core %d twice", core)
		}
		used[core] = true
		if m.NICs[nic].Socket() != m.CoreSocket(core) || m.CoreSocket(core) != th%2 {
			t.Errorf("thread %d: core %d, socket %d, RNIC at socket %d", th, core, m.CoreSocket(core), m.NICs[nic].Socket())
		}
	}
	for _, c := range []Config{{Machines: 0}, {Machines: 5000}, {Machines: 2, NodeTypes: []string{"val"}}, {Machines: 1, NodeTypes: []string{"x"}}} {
		if _, err := New(sim.New(sim.Options{}), c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

// Pages of an interleaved allocation go round the sockets: their lines are in the LLC of their own,
// and cores of either socket are near every other page.
func TestInterleaved(t *testing.T) {
	b, _, _ := pairBed(t, Config{})
	m := b.f.Machine(0)
	const page = 1 << space.HugeShift
	a, err := m.Mem.Alloc(host.Alloc{Name: "table", Bytes: 5*page - 100, Socket: 1, Interleaved: true})
	if err != nil {
		t.Fatal(err)
	}
	m.Warm(host.Extent{At: a + page - 640, Bytes: 1280})
	for p, want := range []int{1, 0, 1, 0, 1} {
		if got := m.Mem.Home(a + space.Addr(p)*page + page - 1); got != want {
			t.Errorf("page %d is at socket %d", p, got)
		}
	}
	near, far := m.Access(0, 0, a+page, 8, host.Load), m.Access(0, 0, a+page-8, 8, host.Load)
	if c := &b.f.cost; near != c.Walk+c.LLCHit || far != c.Walk+c.LLCHit+c.Cross {
		t.Errorf("warm lines on both sides of a page's end take %d and %d ps", near, far)
	}
	if _, err := m.Mem.Alloc(host.Alloc{Name: "table", Bytes: 1, Interleaved: true, NVM: true}); err == nil {
		t.Error("interleaved over the NVM of several sockets")
	}
}
