package history

import "math/bits"

// keyState is what is known of one record: the newest version whose writer has
// left the window (or that was never written), and the versions still in the window.
type keyState struct {
	key     Key
	base    uint64 // sequence of that version
	baseEnd int64  // End of its writer, or one of the two below
	baseID  uint64 // ID of its writer
	baseSum uint64 // of its value, 0 if unknown
	newest  int32  // versions in the window, by falling sequence
	round   uint32 // the check before which the record was last touched
}

const (
	noBase = -1 << 63   // baseEnd: nothing is known
	unborn = noBase + 1 // baseEnd: it was never written
)

func (ks *keyState) hasBase() bool { return ks.baseEnd != noBase }

// keyTable finds states by key: open addressing over indexes, so that indexes
// stay valid when it grows.
type keyTable struct {
	slots  []uint32 // 1 + index into states; 0 is empty
	states []keyState
}

func newKeyTable() keyTable { return keyTable{slots: make([]uint32, 1024)} }

// find is the index of k's state, made when missing.
func (t *keyTable) find(k Key) int32 {
	mask := uint64(len(t.slots) - 1)
	i := mix(k) & mask
	for {
		s := t.slots[i]
		if s == 0 {
			break
		}
		if t.states[s-1].key == k {
			return int32(s - 1)
		}
		i = (i + 1) & mask
	}
	if len(t.states) >= len(t.slots)/4*3 {
		t.grow(2 * len(t.slots))
		return t.find(k)
	}
	t.states = append(t.states, keyState{key: k, newest: none, baseEnd: noBase})
	t.slots[i] = uint32(len(t.states))
	return int32(len(t.states) - 1)
}

func (t *keyTable) grow(size int) {
	t.slots = make([]uint32, size)
	mask := uint64(size - 1)
	for n := range t.states {
		i := mix(t.states[n].key) & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = uint32(n + 1)
	}
}

// forget drops the states that keep says no to and renumbers the rest; moved has
// the new index of every old one.
func (t *keyTable) forget(keep func(*keyState) bool) (moved []int32) {
	moved = make([]int32, len(t.states))
	states := make([]keyState, 0, len(t.states)/2)
	for i := range t.states {
		moved[i] = none
		if keep(&t.states[i]) {
			moved[i] = int32(len(states))
			states = append(states, t.states[i])
		}
	}
	t.states = states
	t.grow(len(t.slots))
	return moved
}

// mix spreads keys over 64 bits (the finaliser of splitmix64).
func mix(k Key) uint64 {
	x := uint64(k) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// sampled says whether k is one of the keys that are checked. It looks at the
// high bits, the table above at the low ones.
func sampled(k Key, every uint64) bool {
	hi, _ := bits.Mul64(mix(k), every)
	return hi == 0
}
