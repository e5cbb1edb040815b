package rdpma

import (
	"errors"
	"strings"
	"testing"

	"drtmx/engine/r2"
)

// What is refused, why, and that nothing is posted for it.
func TestRefusals(t *testing.T) {
	b := newBed(t, bedOptions{machines: 3, config: Config{Servers: []int{1, 2}, Hints: AllHints(), PoolBytes: 4 << 20}})
	defer b.close()
	other := newBed(t, bedOptions{machines: 3, seed: 1, config: Config{Servers: []int{1, 2}, PoolBytes: 4 << 20}})
	defer other.close()
	foreign := other.alloc(1, 64)
	good, freed, reused := b.alloc(1, 64), b.alloc(1, 128), b.alloc(2, 64)
	large := b.alloc(1, MaxBytes+8)
	moved := good
	moved.addr += 64
	wider := good
	wider.size = 4096
	elsewhere := good
	elsewhere.machine = 2
	words, err := b.m.AllocAtomic(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Ptr{freed, reused} {
		if err := b.m.Free(p); err != nil {
			t.Fatal(err)
		}
	}
	b.alloc(2, 64) // the other socket's turn
	again := b.alloc(2, 64)
	if again.Addr() != reused.Addr() {
		t.Fatalf("freed memory at %#x is not used again: got %#x", reused.Addr(), again.Addr())
	}
	tests := []struct {
		name  string
		p     Ptr
		off   int
		bytes int
		want  error
		says  string
	}{
		{"nil", Ptr{}, 0, 8, ErrForeign, "of nil"},
		{"of another memory", foreign, 0, 8, ErrForeign, "was not made by Alloc"},
		{"moved", moved, 0, 8, ErrForeign, ""},
		{"with another size", wider, 0, 8, ErrForeign, ""},
		{"with another machine", elsewhere, 0, 8, ErrForeign, ""},
		{"freed", freed, 0, 8, ErrFreed, "allocate again"},
		{"reused", reused, 0, 8, ErrStale, "in use as generation 3"},
		{"oversize", good, 0, 72, ErrSize, "72 bytes: must be between 1 and 64"},
		{"nothing", good, 0, 0, ErrSize, "0 bytes"},
		{"more than an operation carries", large, 0, MaxBytes + 1, ErrSize, "must be between 1 and 262144"},
		{"misaligned", good, 4, 8, ErrMisaligned, "offset 4: must be a multiple of 8"},
		{"before the begin", good, -8, 8, ErrMisaligned, ""},
		{"beyond the end", good, 56, 16, ErrRange, "bytes 56 to 72: the allocation ends at 64"},
	}
	posted := b.f.Counts().Posted
	b.do(0, func(c *r2.Co) {
		for _, tt := range tests {
			for _, how := range []Primitive{OneSided, TwoSided} {
				data := make([]byte, tt.bytes)
				_, read := b.m.Read(c, tt.p, tt.off, tt.bytes, how)
				for op, err := range map[string]error{"read": read, "write": b.m.Write(c, tt.p, tt.off, data, how),
					"persistent write": b.m.PWrite(c, tt.p, tt.off, data, how)} {
					if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "rdpma: "+op) {
						t.Errorf("%v %s, pointer %s: %v, want %v with %q", how, op, tt.name, err, tt.want, tt.says)
					}
				}
			}
		}
		if _, err := b.m.CompareSwap(c, good, 0, 0, 1); !errors.Is(err, ErrKind) {
			t.Errorf("compare-and-swap on data: %v", err)
		}
		if _, err := b.m.FetchAdd(c, words, 16, 1); !errors.Is(err, ErrRange) {
			t.Errorf("fetch-and-add behind the words: %v", err)
		}
		if err := b.m.PWrite(c, words, 0, make([]byte, 8), TwoSided); !errors.Is(err, ErrVolatile) {
			t.Errorf("persistent write to DRAM: %v", err)
		}
		h := AllHints()
		h.H3 = false
		b.m.SetHints(h)
		if err := b.m.PWrite(c, good, 0, make([]byte, 8), OneSided); !errors.Is(err, ErrVolatile) {
			t.Errorf("one-sided persistent write with DDIO: %v", err)
		}
	})
	if now := b.f.Counts().Posted; now != posted {
		t.Errorf("refused operations posted verbs: %v, before %v", now, posted)
	}
	if err := b.m.Free(freed); !errors.Is(err, ErrFreed) {
		t.Errorf("free twice: %v", err)
	}
}

func TestAllocationErrors(t *testing.T) {
	b := newBed(t, bedOptions{config: Config{Servers: []int{1}, PoolBytes: 1 << 12}})
	defer b.close()
	for _, tt := range []struct {
		machine, n int
		want       string
	}{
		{0, 8, "machine 0 is no server: servers are [1]"},
		{7, 8, "machine 7 is no server"},
		{1, 0, "allocation of 0 bytes: must be between 1 and"},
		{1, maxAlloc + 1, "must be between 1 and 1073741824"},
		{1, 4097, "4097 bytes on machine 1: 4096 of 4096 are left"},
	} {
		if _, err := b.m.Alloc(tt.machine, tt.n); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("alloc of %d bytes on machine %d: %v, want %q", tt.n, tt.machine, err, tt.want)
		}
	}
	for _, tt := range []struct {
		c    Config
		want string
	}{
		{Config{Servers: []int{2}, Pool: 4}, "Servers [2]: 2 is not a machine of 2"},
		{Config{Servers: []int{1, 1}, Pool: 4}, "or is there twice"},
		{Config{Sockets: 9, Pool: 4}, "Sockets 9: machine 0 has 2"},
		{Config{DIMMs: -1, Pool: 4}, "DIMMs -1: must be between 1 and 64"},
	} {
		if _, err := Open(b.cl, tt.c); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("open with %+v: %v, want %q", tt.c, err, tt.want)
		}
	}
}

// A free that comes between a two-sided operation's check and its service is
// noticed by the server.
func TestServerRefusesWhatWasFreedMeanwhile(t *testing.T) {
	b := newBed(t, bedOptions{config: Config{Servers: []int{1}}})
	defer b.close()
	p := b.alloc(1, 64)
	b.do(0, func(c *r2.Co) {
		x := b.m.Batch(c)
		x.Write(p, 0, pattern(64, 1), TwoSided)
		x.Read(p, 0, 64, TwoSided)
		if err := b.m.Free(p); err != nil {
			t.Error(err)
		}
		if err := x.Wait(); !errors.Is(err, ErrFreed) {
			t.Errorf("got %v, want %v", err, ErrFreed)
		}
	})
	for _, x := range b.bytes(p) {
		if x != 0 {
			t.Fatal("freed memory was written")
		}
	}
}

func TestHintsText(t *testing.T) {
	for text, want := range map[string]string{"none": "none", "": "none", "all": "all", "H1-H9": "all", "h3,H5": "H3,H5", "H9,H1-H3": "H1,H2,H3,H9"} {
		h, err := ParseHints(text)
		if err != nil || h.String() != want {
			t.Errorf("%q is %v, %v; want %s", text, h, err, want)
		}
	}
	for _, text := range []string{"H0", "H10", "H5-H2", "ntstore", "H1,,H2"} {
		if h, err := ParseHints(text); err == nil {
			t.Errorf("%q is taken for %v", text, h)
		}
	}
}
