package host

import (
	"testing"

	"drtmx/engine/fabric/profile"
)

// A lone block takes its latency; blocks behind each other take the link's time each; a block
// that no byte of a write is in is not written.
func TestSSD(t *testing.T) {
	p, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	d := newSSD(p)
	if _, _, done := d.Write(0, 1); done != p.SSD.WriteLatency.Time() {
		t.Errorf("a lone block takes %d ps", done)
	}
	if done := d.Read(1e9, 1); done-1e9 != p.SSD.ReadLatency.Time() {
		t.Errorf("to read one takes %d ps", done-1e9)
	}
	begin, end, done := d.Write(2e9, 100)
	if end-begin != 100*d.write || done-begin != p.SSD.WriteLatency.Time()+99*d.write {
		t.Errorf("100 blocks cross the link in %d ps and take %d", end-begin, done-begin)
	}
	for _, c := range []struct {
		offset int64
		n      int
		blocks int
	}{{0, 1, 1}, {0, 4096, 1}, {0, 4097, 2}, {4095, 2, 2}, {4096, 4096, 1}, {100, 8192, 3}} {
		if got := d.Blocks(c.offset, c.n); got != c.blocks {
			t.Errorf("%d bytes at %d are in %d blocks", c.n, c.offset, got)
		}
	}
	d.crash(2e9 + 50*d.write)
	if busy := d.BusyPS(3e9); busy != d.write+d.read+50*d.write {
		t.Errorf("the link was busy for %d ps", busy)
	}
	if p.SSD = nil; newSSD(p) != nil {
		t.Error("a disk without numbers")
	}
}
