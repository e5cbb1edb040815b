package record

import "testing"

// Section 4.3.2: lock and version of a record are read with one READ, and locked with one 8-byte ATOMIC.
func TestThesis432LockAndVersionAreOneSixteenByteRead(t *testing.T) {
	if LockOffset != 0 || SeqOffset != LockOffset+8 || HeaderBytes != 16 {
		t.Errorf("lock at %d, sequence at %d, header of %d bytes", LockOffset, SeqOffset, HeaderBytes)
	}
}

// SmallBank's balance of 8 bytes makes a record of 24 bytes; it lies in one or two lines.
func TestThesisSmallBankRowHas24Bytes(t *testing.T) {
	l, err := Packed(8)
	if err != nil || l.Bytes() != 24 || l.Stride != 24 {
		t.Fatalf("%+v, %v", l, err)
	}
	straddle := 0
	for i := range 8 {
		if !OneLine(uint64(i*l.Stride), l.Bytes()) {
			straddle++
		}
		if !OneLine(uint64(i*l.Stride)+SeqOffset, 8) || !OneLine(uint64(i*l.Stride)+LockOffset, 8) {
			t.Errorf("a header word of row %d straddles a line", i)
		}
	}
	if straddle != 2 {
		t.Errorf("%d of 8 packed rows straddle a line, the package says a quarter", straddle)
	}
}

// Section 4.3.4 and Table 4-2: a log entry has its size at both ends, and SmallBank's logging payload is 149
// bytes on average, TPC-C's 1,006. Two to three records of 8 bytes, and a new-order's stock, district, order
// and order-line rows, come to about that.
func TestThesis434LogEntrySizes(t *testing.T) {
	w := BeginEntry(make([]byte, MaxEntryBytes), TxnID{Number: 9})
	for range 3 {
		if err := w.Add(Update{Value: make([]byte, 8)}); err != nil {
			t.Fatal(err)
		}
	}
	b := w.End()
	if len(b) != 144 {
		t.Errorf("entry of three SmallBank updates has %d bytes, want 144", len(b))
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
	if MaxEntryBytes < 2048 || MaxMachines != 1<<16 || MaxThreads != 1<<6 || MaxCoroutines != 1<<10 {
		t.Error("limits differ from the original's layout")
	}
	if Next(InitialSeq) != InitialSeq+2 || Writing(InitialSeq) != InitialSeq+1 {
		t.Error("sequence steps differ from the original's")
	}
}
