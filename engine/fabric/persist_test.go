package fabric

import (
	"testing"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// What one memory controller takes late does not hold up what another has taken: a line that is
// in the persistent domain survives a crash, whatever was given to the others before it.
func TestPersistentBehindASlowController(t *testing.T) {
	p, err := profile.Load("r74v")
	if err != nil {
		t.Fatal(err)
	}
	b := newBed(t, bedOptions{machines: 1, threads: 1, span: 1 << 20, config: Config{Profile: p, Durability: true, NoDDIO: true,
		NVM: func(_, socket int, _ *profile.NodeType) (host.Device, error) {
			return &plainDevice{gap: []sim.Time{100 * sim.Microsecond, 0}[socket]}, nil
		}}})
	m := b.f.Machine(0)
	slow, _ := b.allocNVM(0, 0, 0, 2<<20)
	fast, _ := b.allocNVM(0, 1, 0, 2<<20)
	line := make([]byte, space.LineBytes)
	line[0] = 1
	for i := range space.Addr(3) { // as an RNIC without DDIO writes: the second and the third wait for room
		m.NICs[0].Claim(host.ByWrite, slow+i*space.LineBytes, space.LineBytes)
		m.DMABytes(&m.NICs[0].Port, b.sim.Now(), slow+i*space.LineBytes, space.LineBytes, line)
		copy(m.Mem.Bytes(slow+i*space.LineBytes, space.LineBytes), line)
	}
	core := m.PerSocket // the first of the socket whose controller has room
	m.Mem.Change(fast, 1)
	m.Mem.Bytes(fast, 1)[0] = 1
	m.Access(core, b.sim.Now(), fast, space.LineBytes, host.StoreNT)
	b.run(10 * sim.Microsecond)
	if !m.Await(core, true, b.kPost, 0) {
		t.Fatal("the store is not through after 10 µs")
	}
	if at := m.Where(fast); at != host.Persistent {
		t.Errorf("a line that its controller has taken is %v", at)
	}
	if got := m.AfterCrash(fast, 1, nil); got[0] != 1 {
		t.Error("a crash would lose what the core was told is persistent")
	}
	if at := m.Where(slow + 2*space.LineBytes); at != host.InFlight {
		t.Errorf("a line that its controller has not taken is %v", at)
	}
	if err := m.Crash(); err != nil {
		t.Fatal(err)
	}
	if m.Mem.Bytes(fast, 1)[0] != 1 {
		t.Error("a crash lost what the core was told is persistent")
	}
}
