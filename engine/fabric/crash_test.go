package fabric

import (
	"testing"

	"drtmx/engine/sim"
)

// A WRITE that is executed line by line has its ack before its last line. What
// completes behind it confirms it, and a crash takes nothing of that back.
func TestConfirmedWriteIsNotFlushed(t *testing.T) {
	b, x, _ := pairBed(t, Config{TornReads: true})
	b.f.Machine(1).Mem.BeginAccess(b.data[1], 4096, true) // its lines are torn
	quiet := x.write(1, 1, 1<<16)
	quiet.Signaled = false
	x.postAll(x.rc[1], quiet, x.write(2, 1, 0))
	for x.cq.Len() == 0 {
		b.run(10 * sim.Nanosecond)
	}
	expect(t, "before the crash", x.completions(), "2 WRITE success")
	if b.f.Counts().Split != 1 || b.f.InFlight() == 0 {
		t.Fatalf("%d accesses are torn, %d verbs under way: want the WRITE among both", b.f.Counts().Split, b.f.InFlight())
	}
	if err := b.f.Machine(1).Crash(); err != nil {
		t.Fatal(err)
	}
	b.run(50 * sim.Microsecond)
	expect(t, "after the crash", x.completions())
	if b.f.InFlight() != 0 {
		t.Errorf("%d verbs never ended", b.f.InFlight())
	}
}
