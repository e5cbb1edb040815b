package kv

import (
	"testing"

	"pgregory.net/rapid"
)

func TestProbeTableAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p probeTable
		model := map[uint64]uint64{}
		hash := func(key uint64) uint64 { return key % 7 } // many keys per hash, clustered runs
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			key := rapid.Uint64Range(0, 60).Draw(t, "key")
			i := p.find(hash(key), key)
			want, there := model[key]
			if there != (i >= 0) || there && p.slots[i].value != want {
				t.Fatalf("key %d: slot %d, in the map: %v", key, i, there)
			}
			if there {
				p.remove(i)
				delete(model, key)
			} else {
				value := rapid.Uint64().Draw(t, "value")
				p.add(hash(key), key, value)
				model[key] = value
			}
			if p.used != len(model) {
				t.Fatalf("%d entries, want %d", p.used, len(model))
			}
		}
		for h := range uint64(7) {
			n := 0
			for i := p.walk(h, -1); i >= 0; i = p.walk(h, i+1) {
				if _, ok := model[p.slots[i].key&^valid]; !ok || p.slots[i].hash != h {
					t.Fatalf("walk of %d found key %d", h, p.slots[i].key&^valid)
				}
				n++
			}
			for key := range model {
				if hash(key) == h {
					n--
				}
			}
			if n != 0 {
				t.Fatalf("walk of hash %d found %d too many", h, n)
			}
		}
	})
}
