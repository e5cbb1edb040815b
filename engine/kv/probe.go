package kv

// probeTable is an open-addressing hash table of words: linear probing, no tombstones, growth by
// doubling. The caller supplies the hash, and several keys may share one: walk then visits all of them.
type probeTable struct {
	slots []probeSlot // length 0 or a power of two
	used  int
}

type probeSlot struct {
	hash  uint64
	key   uint64 // with the valid bit; 0 is an empty slot
	value uint64
}

// find returns the slot of a key, or -1.
func (p *probeTable) find(hash, key uint64) int {
	if p.used == 0 {
		return -1
	}
	mask := uint64(len(p.slots) - 1)
	for i := hash & mask; p.slots[i].key != 0; i = (i + 1) & mask {
		if p.slots[i].key == key|valid && p.slots[i].hash == hash {
			return int(i)
		}
	}
	return -1
}

// walk returns the first slot with this hash, at or after slot from in probing order (-1: from the start),
// or -1.
func (p *probeTable) walk(hash uint64, from int) int {
	if p.used == 0 {
		return -1
	}
	mask := uint64(len(p.slots) - 1)
	i := hash & mask
	if from >= 0 {
		i = uint64(from) & mask
	}
	for ; p.slots[i].key != 0; i = (i + 1) & mask {
		if p.slots[i].hash == hash {
			return int(i)
		}
	}
	return -1
}

// add inserts a key that is not there.
func (p *probeTable) add(hash, key, value uint64) {
	if 4*(p.used+1) > 3*len(p.slots) {
		old := p.slots
		p.slots, p.used = make([]probeSlot, max(16, 2*len(old))), 0
		for _, s := range old {
			if s.key != 0 {
				p.put(s)
			}
		}
	}
	p.put(probeSlot{hash, key | valid, value})
}

func (p *probeTable) put(s probeSlot) {
	mask := uint64(len(p.slots) - 1)
	i := s.hash & mask
	for p.slots[i].key != 0 {
		i = (i + 1) & mask
	}
	p.slots[i] = s
	p.used++
}

// remove empties a slot and moves later ones of the same run up, so that probing never meets a hole.
func (p *probeTable) remove(hole int) {
	mask := uint64(len(p.slots) - 1)
	at := uint64(hole)
	for i := (at + 1) & mask; p.slots[i].key != 0; i = (i + 1) & mask {
		home := p.slots[i].hash & mask
		if (i-home)&mask >= (i-at)&mask {
			p.slots[at] = p.slots[i]
			at = i
		}
	}
	p.slots[at] = probeSlot{}
	p.used--
}
