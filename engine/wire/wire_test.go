package wire

import (
	"bytes"
	"testing"
)

// What Put and Add write is little-endian, and Get reads it.
func TestWords(t *testing.T) {
	b := Add64(Add32([]byte{2, 1}, 0x03040506), 0x0708090a0b0c0d0e)
	want := []byte{2, 1, 6, 5, 4, 3, 14, 13, 12, 11, 10, 9, 8, 7}
	put := make([]byte, len(want))
	Put16(put, 0x0102)
	Put32(put[2:], 0x03040506)
	Put64(put[6:], 0x0708090a0b0c0d0e)
	if !bytes.Equal(b, want) || !bytes.Equal(put, want) {
		t.Errorf("added %v, put %v, want %v", b, put, want)
	}
	if x, y, z := Get16(b), Get32(b[2:]), Get64(b[6:]); x != 0x0102 || y != 0x03040506 || z != 0x0708090a0b0c0d0e {
		t.Errorf("read %x, %x, %x", x, y, z)
	}
}

// Bytes take whole words, the last one filled up with zeros.
func TestAddPadded(t *testing.T) {
	for n := range 18 {
		x := bytes.Repeat([]byte{0xff}, n)
		b := AddPadded([]byte{1}, x)
		if len(b) != 1+Padded(n) || Padded(n)%8 != 0 || Padded(n) < n || Padded(n) >= n+8 {
			t.Errorf("%d bytes take %d, %d", n, len(b)-1, Padded(n))
		}
		if !bytes.Equal(b[1:1+n], x) || !bytes.Equal(b[1+n:], make([]byte, Padded(n)-n)) {
			t.Errorf("%d bytes became %v", n, b)
		}
	}
}
