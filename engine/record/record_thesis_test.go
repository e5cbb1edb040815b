package record

import "testing"

// Section 4.3.2: lock and version of a record are read with one READ, and locked with one 8-byte ATOMIC.
func TestThesis432LockAndVersionAreOneSixteenByteRead(t *testing.T) {
	if LockSeq.Lock != 0 || LockSeq.Stamp != 8 || LockSeq.Checked != 16 || LockSeq.Bytes != 16 {
		t.Errorf("lock at %d, sequence at %d, header of %d bytes", LockSeq.Lock, LockSeq.Stamp, LockSeq.Bytes)
	}
}

// SmallBank's balance of 8 bytes makes a record of 24 bytes; it lies in one or two lines.
func TestThesisSmallBankRowHas24Bytes(t *testing.T) {
	l, err := Packed(LockSeq, 8)
	if err != nil || l.Bytes() != 24 || l.Stride != 24 {
		t.Fatalf("%+v, %v", l, err)
	}
	straddle := 0
	for i := range 8 {
		if !OneLine(uint64(i*l.Stride), l.Bytes()) {
			straddle++
		}
		if !OneLine(uint64(i*l.Stride)+uint64(LockSeq.Stamp), 8) || !OneLine(uint64(i*l.Stride), 8) {
			t.Errorf("a header word of row %d straddles a line", i)
		}
	}
	if straddle != 2 {
		t.Errorf("%d of 8 packed rows straddle a line, the package says a quarter", straddle)
	}
}

// Section 4.3.4 and Table 4-2: a log entry has its size at both ends, SmallBank's logging payload is 149 bytes on
// average and TPC-C's 1,006. A new-order's ten stock rows and order lines, district, order and new-order come to
// about that; what SmallBank's has beside two records of 8 bytes is not known and becomes padding.
func TestThesis434LogEntrySizes(t *testing.T) {
	entry := func(pad int, values ...int) []byte {
		w := BeginEntry(make([]byte, MaxEntryBytes), TxnID{Number: 9})
		for _, n := range values {
			if err := w.Add(Update{Value: make([]byte, n)}); err != nil {
				t.Fatal(err)
			}
		}
		w.Pad(pad)
		return w.End()
	}
	order := []int{12, 24, 8}
	for range 10 {
		order = append(order, 16, 20)
	}
	if b := entry(0, order...); len(b) != 1024 {
		t.Errorf("entry of a new-order has %d bytes, want 1024", len(b))
	}
	if b := entry(0, 8, 8); len(b) != 88 {
		t.Errorf("entry of two SmallBank updates has %d bytes, want 88", len(b))
	}
	b := entry(149, 8, 8)
	if len(b) != 152 {
		t.Errorf("padded entry of two SmallBank updates has %d bytes, want 152", len(b))
	}
	e, err := OpenEntry(b)
	if err != nil || e.Bytes != len(b) {
		t.Fatal(e, err)
	}
	for _, at := range []int{0, len(b) - entryTailBytes} {
		bad := append([]byte(nil), b...)
		bad[at] ^= 8
		if _, err := OpenEntry(bad); err == nil {
			t.Errorf("a wrong size at byte %d was accepted", at)
		}
	}
}

// hardware.md, layouts of the originals: a lock word has machine 16, thread 6 and coroutine 10 bits; the sequence
// grows by 2 per commit and is odd while written. Entries have at most 2,048 B there; here they have to hold a
// new-order of TPC-C with 15 lines in the standard's sizes.
func TestThesisLayoutFacts(t *testing.T) {
	if MaxEntryBytes < 2048 || MaxThreads != 1<<6 || MaxCoroutines != 1<<10 {
		t.Error("limits differ from the original's layout")
	}
	if Next(InitialSeq) != InitialSeq+2 || Writing(InitialSeq) != InitialSeq+1 {
		t.Error("sequence steps differ from the original's")
	}
}
