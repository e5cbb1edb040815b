package model

import (
	"math"
	"testing"
)

// figure39 are the keys of Figure 3-9 that the text names, at their positions, with keys of our own before them. Leaves have one
// slot, so that a leaf is a position.
var figure39 = Sorted{1, 2, 3, 5, 7, 13, 17, 18, 20}

// split is the top model of the figure: it sends keys up to 10 to LR0.
type split struct{}

func (split) Predict(key uint64) float64 {
	if key <= 10 {
		return 0
	}
	return 0.5
}
func (split) Invert(p float64) uint64 { return uint64(22 * p) }
func (split) Bytes() int              { return 8 }
func (split) Cycles() int             { return 1 }
func (split) Monotone() bool          { return true }
func (split) Name() string            { return "split" }

// §3.4.2.3: LR0(6) = [3,4] covers a key that does not exist between two that do; LR0(10) = [6,7], in the gap between two
// sub-models, is wrong; with augmented data it is right.
func TestFigure39(t *testing.T) {
	in := &Initial{Keys: figure39, Fill: 1, High: math.MaxUint64}
	tree, tr := listOf(in, 1), NewTrainer(Config{Slots: 1})
	x := NewModel(split{}, 2, figure39, in.Low, in.High)

	own := Span{1, 7} // LR0's keys and no more
	lr0, _ := tr.Sub(tree.of(own), own, 0, 0, nil)
	for _, c := range []struct {
		key    uint64
		lo, hi int64
	}{{6, 3, 4}, {10, 6, 7}} {
		if lo, hi := lr0.Positions(0, c.key); lo != c.lo || hi != c.hi {
			t.Errorf("LR0(%d) = [%d,%d], the figure has [%d,%d]", c.key, lo, hi, c.lo, c.hi)
		}
	}

	// Key 10 belongs behind key 7, at position 4: the leaf there is in the range, and the next one is the first of LR1.
	full := trainAll(tree, x, tr)
	if first, last := full.subs[0].Range(x.Base(0), 10, 1); first > 4 || last != 4 {
		t.Errorf("LR0(10) = [%d,%d] with augmented data, 4 is not in it", first, last)
	}
	// LR1 answers for 11 and 12, which the tree routes to the leaf of key 7 as well.
	if e := full.tables[1][0]; e.ALN() != 4 {
		t.Errorf("LR1's table begins with leaf %d, not with that of key 7", e.ALN())
	}
	for key := range uint64(25) {
		if text := full.misses(tree, key); text != "" {
			t.Error(text)
		}
	}
	// SCAN(10,3) starts at the leaf of 7 and goes on in LR1's table: the first keys from 10 on are 13, 17 and 18.
	var found []uint64
	for _, e := range full.tables[1] {
		for _, k := range tree.leaves[e.ALN()].Keys {
			if k >= 10 && len(found) < 3 {
				found = append(found, k)
			}
		}
	}
	if len(found) != 3 || found[0] != 13 || found[1] != 17 || found[2] != 18 {
		t.Errorf("SCAN(10,3) = %v", found)
	}
}

// §3.4.1: 500,000 sub-models need less than 6.7 MB (binary), a TT entry is 8 bytes, and the TT of 100 million keys in half-full
// leaves of 16 slots is nearly 100 MB. §3.7.7: a top model of 16 bytes.
func TestSizes(t *testing.T) {
	if mb := 500_000 * SubBytes / float64(1<<20); mb >= 6.7 || mb < 6.6 {
		t.Errorf("500K sub-models: %.2f MB", mb)
	}
	in := &Initial{Keys: linear{100_000_000, 4, 0}, Fill: 8}
	if mb := float64(in.Leaves()) * EntryBytes / (1 << 20); mb >= 100 || mb < 90 {
		t.Errorf("TT: %.1f MB", mb)
	}
	if b := (&LR{}).Bytes(); b != 16 {
		t.Errorf("LR top model: %d bytes", b)
	}
	if !(&LR{}).Monotone() {
		t.Error("LR is monotone")
	}
}

// §3.4.1: the bits of an entry and the bytes of a sub-model.
func TestBytes(t *testing.T) {
	e := MakeEntry(1<<31-1, 1<<24-2, 255)
	if !e.Valid() || e.ALN() != 1<<31-1 || e.INCA() != 1<<24-2 || e.CNT() != 255 {
		t.Errorf("entry %x", uint64(e))
	}
	if i := e.Invalid(); i.Valid() || i.ALN() != e.ALN() || i.INCA() != e.INCA() || i.CNT() != e.CNT() {
		t.Errorf("invalid entry %x", uint64(i))
	}
	if e := MakeEntry(0, 1<<24, 0); e.INCA() != 0 || e.ALN() != 0 {
		t.Errorf("an incarnation that wraps spills: %x", uint64(e))
	}
	s := Sub{Slope: 1.5, Intercept: -2.25, MinErr: 3, MaxErr: 255, TT: ttField(MaxEntries, GenerationMask)}
	b := make([]byte, SubBytes)
	s.Put(b)
	if got := GetSub(b); got != s || got.Entries() != 1<<20-1 || got.Generation() != 4095 {
		t.Errorf("%v came back as %v", s, got)
	}
	span := Span{1, math.MaxUint64}
	w := make([]byte, SpanBytes)
	span.Put(w)
	if got := GetSpan(w); got != span {
		t.Errorf("%v came back as %v", span, got)
	}
}

// A table is told from one of another training, and from another sub-model's.
func TestTableHeader(t *testing.T) {
	s := Sub{TT: ttField(2, 7)}
	b := make([]byte, TTBytes(2))
	PutTT(b, s, 5, []Entry{1, 2})
	if len(b) != 24 || !TTHeaderOK(b, s, 5) {
		t.Errorf("%x", b)
	}
	newer, longer := Sub{TT: ttField(2, 8)}, Sub{TT: ttField(3, 7)}
	if TTHeaderOK(b, newer, 5) || TTHeaderOK(b, longer, 5) || TTHeaderOK(b, s, 6) {
		t.Error("another table's header passes")
	}
}

// An error that does not fit 8 bits makes a sub-model that there is no prediction with, instead of one that is wrong.
func TestFallback(t *testing.T) {
	var keys Sorted
	for i := range 600 {
		keys = append(keys, uint64(i*i*i))
	}
	in := &Initial{Keys: keys, Fill: 8, High: math.MaxUint64}
	x := NewModel(trainLR(sampleKeys(keys, -1)), 1, keys, 0, in.High)
	s, tt := NewTrainer(Config{Slots: 16}).Initial(in, x, 0, 9, nil)
	if first, last := s.Range(x.Base(0), keys[5], 16); !s.Fallback() || s.Entries() != 0 || len(tt) != 0 || s.Generation() != 9 || first <= last {
		t.Errorf("%+v with %d entries predicts leaves %d to %d", s, len(tt), first, last)
	}
	b := make([]byte, SubBytes)
	if s.Put(b); !GetSub(b).Fallback() {
		t.Error("the 14 bytes do not say it")
	}
	if (Sub{}).Fallback() {
		t.Error("an untrained sub-model is not one that cannot be trained")
	}
}

// Positions below 0 are rounded down, not towards 0.
func TestNegativePositions(t *testing.T) {
	s := Sub{Slope: 1, MinErr: 1, TT: 3}
	if lo, hi := s.Positions(10, 7); lo != -4 || hi != -3 {
		t.Errorf("[%d,%d]", lo, hi)
	}
	s.Slope = 0.5
	if lo, hi := s.Positions(10, 9); lo != -2 || hi != -1 {
		t.Errorf("[%d,%d]", lo, hi)
	}
	if first, last := s.Range(10, 9, 16); first != 0 || last != 0 {
		t.Errorf("leaves %d to %d", first, last)
	}
	if first, last := s.Range(0, math.MaxUint64, 16); first != 2 || last != 2 {
		t.Errorf("leaves %d to %d", first, last)
	}
}
