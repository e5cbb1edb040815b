package record

import (
	"bytes"
	"testing"
)

// A row's sequence only grows, over updates, deletes, inserts over a tombstone and reuse of the row, and says at each
// moment what the row holds.
func TestVersionedSequences(t *testing.T) {
	h := Versioned
	seq := h.Initial
	step := func(next uint64, tomb bool) {
		t.Helper()
		if next <= seq || !Stable(next) || Tomb(next) != tomb || !Live(next) || Tomb(Writing(next)) != tomb {
			t.Fatalf("%#x after %#x: tombstone %v, want %v; stable %v, live %v", next, seq, Tomb(next), tomb, Stable(next), Live(next))
		}
		seq = next
	}
	step(NextVersion(seq), false)
	step(NextVersion(seq), false)
	step(Entomb(seq), true)
	step(NextVersion(seq), false)
	step(Entomb(seq), true)
	step(Entomb(seq), true)
	free, ok := Freed(seq)
	if !ok || free <= seq || Live(free) || Tomb(free) || Tomb(Writing(free)) {
		t.Fatalf("freed row %#x after %#x", free, seq)
	}
	if born := h.FirstStamp(Incarnation(free)); born <= free || Tomb(born) || born&3 != h.Initial&3 || Counter(born) == h.Initial {
		t.Errorf("first sequence %#x in a row that was freed to %#x", born, free)
	}
}

// A lock and the read timestamp of its record never straddle a line: a READ of both is of one moment.
func TestTupleSharesTheLocksLine(t *testing.T) {
	for n := 1; n < 200; n++ {
		for _, layout := range []func(Layout, int) (Rows, error){Packed, Aligned} {
			l, err := layout(Versioned, n)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 64 {
				if !OneLine(uint64(i*l.Stride), 16) {
					t.Fatalf("values of %d bytes, stride %d: row %d has its lock and its tuple timestamp in two lines", n, l.Stride, i)
				}
			}
		}
	}
}

func TestStampedEntry(t *testing.T) {
	buf := make([]byte, MaxEntryBytes)
	id := TxnID{Owner: Owner{Machine: 3, Thread: 2, Coroutine: 1}, Number: 9}
	w := BeginStamped(buf, id, 0x1234567890abcdef)
	want := Update{Table: 4, Op: OpUpdate, Row: 7, Key: 11, New: 6, Value: []byte("some value")}
	if err := w.Add(want); err != nil {
		t.Fatal(err)
	}
	b := w.End()
	if n := EntryBytes(UpdateBytes(len(want.Value))) + StampedBytes; len(b) != n {
		t.Errorf("%d bytes, planned %d", len(b), n)
	}
	e, err := OpenEntry(b)
	if err != nil {
		t.Fatal(err)
	}
	u, ok := e.Next()
	if e.Stamp != 0x1234567890abcdef || e.ID != id || !ok || u.Key != want.Key || !bytes.Equal(u.Value, want.Value) {
		t.Errorf("stamp %#x of %v, update %v", e.Stamp, e.ID, u)
	}
	if _, err := OpenEntry(b[:24]); err == nil {
		t.Error("an entry without its tail was opened")
	}
}
