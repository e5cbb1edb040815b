package record

import (
	"encoding/binary"
	"testing"
)

// TestHeaderOfOneWord: where the stamp is in the lock word, the incarnation and the lock do not disturb each other.
func TestHeaderOfOneWord(t *testing.T) {
	h := MustLayout(Options{}, Word{Name: "word", Role: RoleLock | RoleStamp})
	const locked = 1
	own := make([]byte, 8)
	for inc := range uint64(LastIncarnation) {
		stamp := inc<<incarnationShift | locked // of a free row, which nobody can lock
		binary.LittleEndian.PutUint64(own, locked)
		if h.MarkInserted(own, stamp); binary.LittleEndian.Uint64(own) != stamp {
			t.Fatalf("a row of incarnation %d is taken with %#x", inc, binary.LittleEndian.Uint64(own))
		}
		free, ok := h.Freed(stamp)
		if want := inc+1 < LastIncarnation; Incarnation(free) != uint16(inc+1) || free&counterMask != locked || ok != want || !h.Free(free) {
			t.Fatalf("%#x is freed to %#x, again %v", stamp, free, ok)
		}
		if h.Free(inc << incarnationShift) {
			t.Fatal("a row that can be locked is vacant")
		}
	}
}

// TestHeaderOfTwoWords: where they are apart, Taken leaves the lock as it is and a freed row is not live.
func TestHeaderOfTwoWords(t *testing.T) {
	own := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	LockSeq.MarkInserted(own, 7<<incarnationShift|4)
	if binary.LittleEndian.Uint64(own) != 0x0807060504030201 {
		t.Errorf("the lock became %v", own)
	}
	stamp := LockSeq.FirstStamp(7)
	if free, ok := LockSeq.Freed(stamp); free != 8<<incarnationShift || !ok || !LockSeq.Free(free) || LockSeq.Free(stamp) {
		t.Errorf("%#x is freed to %#x, again %v", stamp, free, ok)
	}
}
