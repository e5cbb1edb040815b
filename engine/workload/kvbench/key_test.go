package kvbench

import (
	"encoding/binary"
	"testing"
)

// Keys of different lengths have all lengths up to the longest, end with their number, and are the same each time.
func TestRealKeys(t *testing.T) {
	if realKeys(0) != nil {
		t.Error("keys of 8 bytes have no others")
	}
	for _, most := range []int{MinKeyBytes, 17, 128, MaxKeyBytes} {
		k := realKeys(most)
		lengths := map[int]bool{}
		for number := range uint64(20_000) {
			b := k.Append([]byte("front"), number)
			if string(b[:5]) != "front" || string(b[5:]) != string(k.Append(nil, number)) {
				t.Fatalf("key of %d: %x", number, b)
			}
			b = b[5:]
			lengths[len(b)] = true
			if len(b) < MinKeyBytes || len(b) > most || k.Most != most || binary.BigEndian.Uint64(b[len(b)-8:]) != number {
				t.Fatalf("key of %d: %x", number, b)
			}
		}
		if len(lengths) != most-MinKeyBytes+1 {
			t.Errorf("%d lengths up to %d", len(lengths), most)
		}
	}
}
