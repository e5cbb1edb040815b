package fabric

import (
	"bytes"
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

// A buffer is its owner's again when the completion is there, also that of a READ or
// an atomic that was flushed on its way to the responder's memory.
func TestFlushedReadKeepsOff(t *testing.T) {
	b, x, y := pairBed(t, Config{})
	add := x.read(2, 1, 8)
	add.Op, add.Local, add.Swap = FetchAdd, x.scratch+64, 1
	x.postAll(x.rc[1], x.read(1, 1, 64), add)
	for y.rc[0].unanswered < 2 {
		b.run(10 * sim.Nanosecond)
	}
	if err := b.f.Machine(1).Crash(); err != nil {
		t.Fatal(err)
	}
	mine := b.f.Machine(0).Mem.Bytes(x.scratch, 72)
	for i := range mine {
		mine[i] = 0xaa
	}
	b.run(50 * sim.Microsecond)
	expect(t, "completions", x.completions(), "1 READ work request flushed", "2 FAA work request flushed")
	if !bytes.Equal(mine, bytes.Repeat([]byte{0xaa}, len(mine))) {
		t.Errorf("the buffers changed to %x", mine)
	}
}

// Nobody's machine has to wait with its restart for completions of others.
func TestRestartDuringCompletionsOfOthers(t *testing.T) {
	for m := range 2 {
		b := newBed(t, bedOptions{machines: 4, threads: 1, span: 1 << 20})
		if err := b.f.Machine(m).Crash(); err != nil {
			t.Fatal(err)
		}
		x, y := b.workers[2], b.workers[3]
		y.rc[2].state |= failed
		y.postRecv(y.rc[2], 52, 8)
		x.postAll(x.ud, SendWR{ID: 1, Op: Send, Signaled: true, Len: 0, Dest: y.ud.Address()})
		b.run(100 * sim.Microsecond)
		if err := b.f.Machine(m).Restart(); err != nil {
			t.Error(err)
		}
		expect(t, "sent", x.completions(), "1 SEND success")
		expect(t, "flushed", y.completions(), "52 RECV work request flushed")
	}
}

// A machine waits with its restart for completions of its own.
func TestRestartDuringCompletionsOfItsOwn(t *testing.T) {
	b, _, y := pairBed(t, Config{})
	m := b.f.Machine(1)
	y.rc[0].state |= failed
	y.postRecv(y.rc[0], 52, 8)
	if err := m.Crash(); err != nil {
		t.Fatal(err)
	}
	if m.Restart() == nil {
		t.Error("it restarts while the completion of its RECV is under way")
	}
	b.run(sim.Microsecond)
	if err := m.Restart(); err != nil {
		t.Error(err)
	}
}
