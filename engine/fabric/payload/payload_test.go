package payload

import (
	"bytes"
	"testing"

	"drtmx/engine/sim"
)

// A payload is as it was filled until it is freed, whatever comes and goes meanwhile.
func TestStore(t *testing.T) {
	var p Store
	type held struct {
		i, n uint32
		fill byte
	}
	var all []held
	r := sim.New(sim.Options{}).Stream("payload", 0)
	for step := range 3000 {
		if len(all) < 100 || r.Intn(2) == 0 {
			n := uint32(1 + r.Intn(9000))
			i, b := p.Alloc(n)
			for k := range b {
				b[k] = byte(step)
			}
			all = append(all, held{i, n, byte(step)})
		} else {
			k := r.Intn(len(all))
			h := all[k]
			if want := bytes.Repeat([]byte{h.fill}, int(h.n)); !bytes.Equal(p.Bytes(h.i, h.n), want) {
				t.Fatalf("a payload of %d bytes changed", h.n)
			}
			p.Free(h.i, h.n)
			all[k] = all[len(all)-1]
			all = all[:len(all)-1]
		}
	}
	if p.InUse() != len(all) {
		t.Errorf("%d are in use, want %d", p.InUse(), len(all))
	}
	if len(p.slabs[0].bytes) == 0 {
		t.Error("nothing was pooled")
	}
}
