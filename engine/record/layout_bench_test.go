package record

import (
	"encoding/binary"
	"testing"
)

// opened is a protocol that has taken its offsets from a layout when its tables were opened.
type opened struct {
	layout           Layout
	lock, seq, value int
}

// checkRow is what an optimistic reader does with a row, by the offsets that it has taken.
func (p *opened) checkRow(row, dst []byte) bool {
	seq := binary.LittleEndian.Uint64(row[p.seq:])
	ok := Stable(seq) && Live(seq) && binary.LittleEndian.Uint64(row[p.lock:]) == 0
	copy(dst, row[p.value:])
	return ok
}

// askRow is checkRow that asks the layout.
func (p *opened) askRow(row, dst []byte) bool {
	seq := p.layout.StampOf(row)
	ok := Stable(seq) && Live(seq) && p.layout.LockOf(row) == 0
	copy(dst, p.layout.Value(row))
	return ok
}

// constantRow is checkRow with the offsets as a compiler knows them.
func constantRow(row, dst []byte) bool {
	const lock, seq, value = 0, 8, 16
	s := binary.LittleEndian.Uint64(row[seq:])
	ok := Stable(s) && Live(s) && binary.LittleEndian.Uint64(row[lock:]) == 0
	copy(dst, row[value:])
	return ok
}

// A look at a row by offsets of a layout, by the layout's methods, and by constants: they take the same time and allocate nothing.
func BenchmarkRow(b *testing.B) {
	row, dst := make([]byte, 24), make([]byte, 8)
	LockSeq.Init(row)
	p := &opened{layout: LockSeq, lock: LockSeq.Lock, seq: LockSeq.Stamp, value: LockSeq.Bytes}
	run := func(name string, look func(row, dst []byte) bool) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !look(row, dst) {
					b.Fatal("the row is locked")
				}
			}
		})
	}
	run("constants", constantRow)
	run("offsets", p.checkRow)
	run("layout", p.askRow)
}

func TestLooksAllocateNothing(t *testing.T) {
	row, dst := make([]byte, 24), make([]byte, 8)
	p := &opened{layout: LockSeq, lock: LockSeq.Lock, seq: LockSeq.Stamp, value: LockSeq.Bytes}
	if n := testing.AllocsPerRun(100, func() {
		p.layout.Init(row)
		if !p.checkRow(row, dst) || !p.askRow(row, dst) || !constantRow(row, dst) {
			t.Error("the row is locked")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
