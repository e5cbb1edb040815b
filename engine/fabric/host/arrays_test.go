package host

import (
	"bytes"
	"drtmx/engine/fabric/space"
	"testing"

	"pgregory.net/rapid"
)

// memoryOfBuffers returns a memory with two arrays of buffers, one directly after the other, between other bytes.
func memoryOfBuffers(t interface{ Fatal(...any) }) (m *Memory, from space.Addr, stride, count int) {
	m, err := newMemory(0, 1, 64<<20, 64<<20, false)
	if err != nil {
		t.Fatal(err)
	}
	stride, count = 320, 40
	a, err := m.Alloc(Alloc{Name: "buffers", Bytes: uint64(2*count*stride + 4096)})
	if err != nil {
		t.Fatal(err)
	}
	from = a + 1024
	for _, at := range []space.Addr{from, from + space.Addr(count*stride)} {
		if err := m.Array(at, stride, count, 100); err != nil {
			t.Fatal(err)
		}
	}
	return m, from, stride, count
}

// TestBuffersKeepBytes: wherever the host keeps them, bytes are what was written last, whatever ranges are asked for.
func TestBuffersKeepBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, from, stride, count := memoryOfBuffers(t)
		defer m.Close()
		base, size := from-1024, 2*count*stride+4096
		model := make([]byte, size)
		for i := range 60 {
			off := rapid.IntRange(0, size-1).Draw(t, "off")
			if rapid.Bool().Draw(t, "beginning") {
				off = 1024 + rapid.IntRange(0, 2*count-1).Draw(t, "buffer")*stride
			}
			n := rapid.IntRange(1, min(size-off, 3*stride)).Draw(t, "n")
			b := m.Bytes(base+space.Addr(off), n)
			if !bytes.Equal(b, model[off:off+n]) {
				t.Fatalf("access %d: %d bytes at %d differ from what was written", i, n, off)
			}
			for j := range b {
				b[j] = byte(i + j)
			}
			copy(model[off:off+n], b)
		}
	})
}

// TestBufferReuse: a buffer of a long message is again among the beginnings once it is of no more use; the others keep their bytes.
func TestBufferReuse(t *testing.T) {
	m, from, stride, _ := memoryOfBuffers(t)
	defer m.Close()
	next := m.Bytes(from+space.Addr(stride), 64)
	next[5] = 7
	long := m.Bytes(from, 300)
	if &long[0] != &m.buf[from] {
		t.Fatal("a long message is not at its address")
	}
	if m.Reuse(from + 10); &m.Bytes(from, 64)[0] == &m.buf[from] {
		t.Error("a buffer that is used again is still where a long message was")
	}
	if m.arrays[0].longs != 0 || m.Bytes(from+space.Addr(stride), 64)[5] != 7 {
		t.Error("reuse of one buffer changed another")
	}
	if m.lose(); m.Bytes(from+space.Addr(stride), 64)[5] != 0 {
		t.Error("a crash left the bytes of a buffer")
	}
}
