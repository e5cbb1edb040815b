package record

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// What is encoded is decoded; the versions stand where they should; a mixture of two versions shows, unless it is one of them.
func TestLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := 2 * rapid.IntRange(0, 31).Draw(t, "at")
		data := rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "data")
		version := rapid.Uint16().Draw(t, "version")
		l := NewLines(uint64(at), len(data))
		mem := make([]byte, l.Bytes()+1)
		l.Encode(mem, data, version)
		if mem[l.Bytes()] != 0 {
			t.Fatal("Encode writes past its bytes")
		}
		lines := (at + l.Bytes() + LineBytes - 1) / LineBytes
		if l.Versioned() != (at+len(data) > LineBytes) || l.Versioned() && l.Bytes() != len(data)+2*lines {
			t.Fatalf("%d bytes at %d take %d in %d lines", len(data), at, l.Bytes(), lines)
		}
		got := make([]byte, len(data))
		if v, whole := l.Decode(got, mem); !whole || !bytes.Equal(got, data) || l.Versioned() && v != version || l.Version(mem) != v {
			t.Fatalf("decoded %v, version %d, whole %v", got, v, whole)
		}
		part := l.Prefix(rapid.IntRange(1, len(data)).Draw(t, "part"))
		if v, whole := part.Decode(got, mem[:part.Bytes()]); !whole || !bytes.Equal(got[:part.Data()], data[:part.Data()]) || v != l.Version(mem) || part.Versioned() != l.Versioned() {
			t.Fatalf("the first %d bytes are decoded to %v, version %d, whole %v", part.Data(), got[:part.Data()], v, whole)
		}
		if !l.Versioned() {
			return
		}
		next := make([]byte, l.Bytes())
		l.Encode(next, rapid.SliceOfN(rapid.Byte(), len(data), len(data)).Draw(t, "next"), version+1)
		cut := rapid.IntRange(1, lines-1).Draw(t, "cut")*LineBytes - at
		torn := append(bytes.Clone(next[:cut]), mem[cut:l.Bytes()]...)
		if _, whole := l.Decode(got, torn); whole {
			t.Fatal("a torn block is taken for a whole one")
		}
		if l.Decode(mem, mem); !bytes.Equal(mem[:len(data)], data) {
			t.Fatal("decoded in place it is another one")
		}
	})
}

func BenchmarkLinesDecode(b *testing.B) {
	l := NewLines(0, 136)
	data, mem := make([]byte, 136), make([]byte, l.Bytes())
	b.ReportAllocs()
	for range b.N {
		l.Decode(data, mem)
	}
}
