package engine

import (
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Windows tell what PCIe, the caches and each DIMM did.
func TestWindowsTellOfPCIe(t *testing.T) {
	run := func(payload int, more experiment.Knobs) result.Window {
		k := experiment.Knobs{"profile": "r74v", "workload": "micro-write", "servers": 1, "clients": 2, "workload.payload": payload, "workload.keys": 2_000_000, "workload.scale": .001, "window_ns": "50us"}
		for name, v := range more {
			k[name] = v
		}
		s := open(t, small(k))
		advance(t, s, 200_000)
		ws := s.Windows(0)
		return ws[len(ws)-1]
	}
	part, whole := run(16, nil), run(64, nil)
	if p := part.PCIe; p.Partial.Write == 0 || p.Partial.Write != p.WriteWords.Write || p.WriteWords.Sum() < p.Partial.Sum() {
		t.Errorf("writes of 16 bytes: %+v", p)
	}
	if p := whole.PCIe; p.Partial.Write != 0 || p.WriteWords.Write < whole.Commits*9/10 || p.WriteWords.Completion == 0 || p.ReadWords == 0 {
		t.Errorf("writes of 64 bytes, %d of them: %+v", whole.Commits, p)
	}
	if c := whole.Caches; c.DDIOMisses == 0 || c.DDIOEvictions == 0 || c.Contexts == 0 || c.Translations == 0 {
		t.Errorf("with DDIO: %+v", c)
	}
	off := run(64, experiment.Knobs{"ddio": false})
	if c := off.Caches; c.DDIOHits+c.DDIOMisses >= whole.Caches.DDIOMisses {
		t.Errorf("the server without DDIO: %+v", c)
	}
	if n := len(off.NVM.DIMMs); n != 12 {
		t.Fatalf("%d DIMMs", n)
	}
	var sum uint64
	for _, d := range off.NVM.DIMMs {
		sum += d.WriteBytes
		if d.Dirty < 0 || d.Buffer <= 0 || d.Dirty > d.Buffer || d.Buffer > 1 || d.Node != 0 {
			t.Errorf("%+v", d)
		}
	}
	if sum != off.NVM.MediaWriteBytes || sum == 0 {
		t.Errorf("DIMMs write %d bytes, together %d", sum, off.NVM.MediaWriteBytes)
	}
	one := run(64, experiment.Knobs{"ddio": false, "workload.dimm": 2, "workload.socket": "first"})
	for _, d := range one.NVM.DIMMs {
		if busy := d.WriteBytes > 0; busy != (d.Socket == 0 && d.DIMM == 2) {
			t.Errorf("all writes go to DIMM 2 of socket 0: %+v", d)
		}
	}
}
