package record

import (
	"testing"

	"pgregory.net/rapid"
)

func drawOwner(t *rapid.T) Owner {
	return Owner{
		Machine:   rapid.Uint16().Draw(t, "machine"),
		Thread:    uint8(rapid.IntRange(0, MaxThreads-1).Draw(t, "thread")),
		Coroutine: uint16(rapid.IntRange(0, MaxCoroutines-1).Draw(t, "coroutine")),
	}
}

func TestLockWordNamesItsHolder(t *testing.T) {
	if (Owner{}).LockWord() == 0 {
		t.Fatal("machine 0, thread 0, coroutine 0 cannot hold a lock")
	}
	if _, held := Holder(0); held {
		t.Fatal("the free lock is held")
	}
	rapid.Check(t, func(t *rapid.T) {
		o := drawOwner(t)
		if err := o.Check(); err != nil {
			t.Fatal(err)
		}
		got, held := Holder(o.LockWord())
		if !held || got != o {
			t.Fatalf("holder of the lock of %+v is %+v, held %v", o, got, held)
		}
		id := TxnID{o, rapid.Uint32().Draw(t, "number")}
		if back := TxnIDOf(id.Word()); back != id {
			t.Fatalf("%+v became %+v", id, back)
		}
	})
}

func TestOwnerCheck(t *testing.T) {
	if (Owner{Thread: MaxThreads}).Check() == nil || (Owner{Coroutine: MaxCoroutines}).Check() == nil {
		t.Error("an owner that does not fit a lock word passed")
	}
}

func TestSequenceGrowsOverCommitsAndReuse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seq := InitialSeq
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			was := seq
			if rapid.Bool().Draw(t, "delete") {
				free, ok := Freed(seq)
				if !ok || Live(free) || Incarnation(free) != Incarnation(seq)+1 {
					t.Fatalf("%#x freed is %#x, %v", seq, free, ok)
				}
				seq = LockSeq.FirstStamp(Incarnation(free))
				if Incarnation(seq) != Incarnation(free) {
					t.Fatalf("%#x born of %#x has another incarnation", seq, free)
				}
			} else {
				if Stable(Writing(seq)) || Writing(seq) <= seq || Next(seq) <= Writing(seq) {
					t.Fatalf("%#x: writing %#x, next %#x", seq, Writing(seq), Next(seq))
				}
				seq = Next(seq)
			}
			if seq <= was || !Stable(seq) || !Live(seq) {
				t.Fatalf("%#x after %#x", seq, was)
			}
		}
	})
}

func TestInsertedRecordsDifferFromThoseOfTheStart(t *testing.T) {
	if born := LockSeq.FirstStamp(0); born <= InitialSeq || !Live(born) || !Stable(born) || Incarnation(InitialSeq) != 0 {
		t.Errorf("the first record of a row has sequence %#x, those from the start have %#x", born, InitialSeq)
	}
}

func TestRowIsNotReusedWhenIncarnationsRunOut(t *testing.T) {
	last := uint64(1<<16-1)<<incarnationShift | 10
	free, ok := Freed(last)
	if ok || Live(free) {
		t.Errorf("Freed(%#x) = %#x, %v", last, free, ok)
	}
}
