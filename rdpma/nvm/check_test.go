//go:build invariants

package nvm

import "testing"

// The checker sees what it is there for: each fault, planted, panics.
func TestCheckerCatches(t *testing.T) {
	tests := []struct {
		name  string
		plant func(m *dimm)
	}{
		{"a write lost", func(m *dimm) { m.xlines[0].dirty &^= 1 }},
		{"a write duplicated", func(m *dimm) { m.xlines[0].dirty |= 4; m.xlines[0].valid |= 4 }},
		{"a line dirty but not there", func(m *dimm) { m.xlines[0].valid = 0 }},
		{"a write not counted", func(m *dimm) { m.count.WriteReq-- }},
		{"a media write not counted", func(m *dimm) { m.count.MediaWrite++ }},
		{"a media read not counted", func(m *dimm) { m.count.MediaRead-- }},
	}
	for _, tt := range tests {
		d := newDevice(t, oneDIMM())
		d.Write(0, 0)
		d.Write(0, 1)
		d.Read(0, 400)
		d.Stats() // in order so far
		tt.plant(&d.dimms[0])
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: not seen", tt.name)
				}
			}()
			d.Stats()
		}()
	}
}
