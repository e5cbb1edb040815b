package record

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func drawUpdates(t *rapid.T) []Update {
	var us []Update
	for range rapid.IntRange(0, 12).Draw(t, "updates") {
		us = append(us, Update{
			Table: rapid.Uint8().Draw(t, "table"),
			Op:    Op(rapid.IntRange(0, int(numOps)-1).Draw(t, "op")),
			Key:   rapid.Uint64().Draw(t, "key"),
			New:   rapid.Uint64().Draw(t, "new"),
			Value: rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "value"),
		})
	}
	return us
}

func TestEntryRoundTrip(t *testing.T) {
	buf := make([]byte, MaxEntryBytes)
	rapid.Check(t, func(t *rapid.T) {
		id := TxnID{drawOwner(t), rapid.Uint32().Draw(t, "number")}
		updates := drawUpdates(t)
		w, size := BeginEntry(buf, id), 0
		for _, u := range updates {
			if err := w.Add(u); err != nil {
				t.Fatal(err)
			}
			size += UpdateBytes(len(u.Value))
		}
		pad := rapid.IntRange(0, 300).Draw(t, "pad")
		w.Pad(pad)
		b := w.End()
		if want := max(EntryBytes(size), alignUp(pad, 8)); len(b) != want {
			t.Fatalf("entry of %d bytes, want %d", len(b), want)
		}
		e, err := OpenEntry(buf)
		if err != nil {
			t.Fatal(err)
		}
		if e.ID != id || e.Updates != len(updates) || e.Bytes != len(b) {
			t.Fatalf("decoded %+v, %d updates, %d bytes", e.ID, e.Updates, e.Bytes)
		}
		for i, want := range updates {
			u, ok := e.Next()
			if !ok || u.Table != want.Table || u.Op != want.Op || u.Key != want.Key ||
				u.New != want.New || !bytes.Equal(u.Value, want.Value) {
				t.Fatalf("update %d: %+v, %v, want %+v", i, u, ok, want)
			}
		}
		if _, ok := e.Next(); ok {
			t.Fatal("an update too many")
		}
	})
}

// Every prefix of the bytes of an entry, over whatever was in the ring before, is recognised as incomplete, even if
// that was an entry of the same shape.
func TestPartlyWrittenEntryIsRefused(t *testing.T) {
	write := func(number uint32) []byte {
		w := BeginEntry(make([]byte, MaxEntryBytes), TxnID{Owner{Machine: 3}, number})
		if err := w.Add(Update{Table: 1, Key: 7, New: 4, Value: make([]byte, 8)}); err != nil {
			t.Fatal(err)
		}
		return w.End()
	}
	fresh := write(2)
	for name, before := range map[string][]byte{"zeros": make([]byte, len(fresh)), "an older entry": write(1)} {
		for n := 8; n < len(fresh); n += 8 {
			ring := bytes.Clone(before)
			copy(ring, fresh[:n])
			e, err := OpenEntry(ring)
			if err == nil && e.ID.Number == 2 {
				t.Errorf("%d of %d bytes over %s were taken for the entry", n, len(fresh), name)
			}
		}
	}
}

func TestEntryFull(t *testing.T) {
	w := BeginEntry(make([]byte, 2*MaxEntryBytes), TxnID{})
	if err := w.Add(Update{Value: make([]byte, MaxValueBytes)}); err != nil {
		t.Fatalf("the largest value does not fit an entry: %v", err)
	}
	if err := w.Add(Update{Op: OpDelete}); !errors.Is(err, ErrEntryFull) {
		t.Fatalf("an update beyond the largest entry: %v", err)
	}
	if b := w.End(); len(b) != MaxEntryBytes {
		t.Fatalf("largest entry has %d bytes", len(b))
	}
}

func TestEntryNeedsNoAllocation(t *testing.T) {
	buf, value := make([]byte, MaxEntryBytes), make([]byte, 8)
	if n := testing.AllocsPerRun(100, func() {
		w := BeginEntry(buf, TxnID{})
		for range 3 {
			if w.Add(Update{Key: 1, Value: value}) != nil {
				t.Fatal("full")
			}
		}
		e, err := OpenEntry(w.End())
		for err == nil {
			if _, ok := e.Next(); !ok {
				break
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations per entry", n)
	}
}

// Whatever is in the ring, decoding gives an error or an entry that stays within the bytes.
func FuzzOpenEntry(f *testing.F) {
	w := BeginEntry(make([]byte, MaxEntryBytes), TxnID{Owner{1, 2, 3}, 4})
	for i := range 3 {
		if err := w.Add(Update{Table: uint8(i), Op: Op(i), Key: uint64(i), New: 4, Value: make([]byte, 5*i)}); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(w.End())
	f.Add([]byte{})
	f.Add(make([]byte, MaxEntryBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := OpenEntry(b)
		if err != nil {
			return
		}
		again := BeginEntry(make([]byte, MaxEntryBytes), e.ID)
		n := 0
		for u, ok := e.Next(); ok; u, ok = e.Next() {
			if err := again.Add(u); err != nil {
				t.Fatalf("update %d of a valid entry does not fit one: %v", n, err)
			}
			n++
		}
		if n != e.Updates {
			t.Fatalf("%d updates, head says %d", n, e.Updates)
		}
		// Padding is not checked, so sizes are compared, not bytes.
		again.Pad(e.Bytes)
		if back := again.End(); len(back) != e.Bytes {
			t.Fatalf("%d bytes encode to %d", e.Bytes, len(back))
		}
	})
}

func BenchmarkEntry(b *testing.B) {
	buf, value := make([]byte, MaxEntryBytes), make([]byte, 8)
	for b.Loop() {
		w := BeginEntry(buf, TxnID{})
		for k := range uint64(2) {
			if err := w.Add(Update{Key: k, New: 4, Value: value}); err != nil {
				b.Fatal(err)
			}
		}
		e, err := OpenEntry(w.End())
		if err != nil {
			b.Fatal(err)
		}
		for _, ok := e.Next(); ok; _, ok = e.Next() {
		}
	}
}
