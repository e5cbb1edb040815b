package record

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

// formed is LockSeq in a form of tearing.
func formed(form Tearing) Layout {
	return MustLayout(Options{Step: 2, Tearing: form}, Word{Name: "lock", Role: RoleLock}, Word{Name: "seq", Role: RoleStamp, Initial: InitialSeq})
}

// What a form adds to a row is in its image alone, which gives header and value back.
func TestImagesGiveRowsBack(t *testing.T) {
	for form := range numTearings {
		for _, layOut := range []func(Layout, int) (Rows, error){Packed, Aligned} {
			for value := 1; value <= 300; value++ {
				r, err := layOut(formed(form), value)
				if err != nil {
					t.Fatal(err)
				}
				row := make([]byte, r.Bytes())
				for i := range row {
					row[i] = byte(i*7 + 1)
				}
				r.Layout.SetStamp(row[r.Layout.Stamp:], 4)
				image := make([]byte, r.ImageBytes())
				r.Image(image, row)
				back, ok := r.Whole(image)
				if !ok || !bytes.Equal(back, row) || r.Stride < r.ImageBytes() || form == AsPublished && r.ImageBytes() != r.Bytes() {
					t.Fatalf("%v, values of %d bytes: whole %v, %d bytes in memory, stride %d", form, value, ok, r.ImageBytes(), r.Stride)
				}
			}
		}
	}
}

// lineEvents are the accesses to lines that an access to memory is made of, from an address on: fabric does the same.
func lineEvents(at, from, to int) (list []Span) {
	for from < to {
		end := min(to, (at+from)/LineBytes*LineBytes+LineBytes-at)
		list = append(list, Span{From: from, To: end})
		from = end
	}
	return list
}

// A READ whose lines come at any moments among those of the writes of several versions: where a form says that it is whole, it is. Of an
// as-published row nothing says so, and parts of two versions come through.
func TestFormsFindTornREADs(t *testing.T) {
	for form := range numTearings {
		torn, accepted := 0, 0
		rapid.Check(t, func(t *rapid.T) {
			layOut := rapid.SampledFrom([]func(Layout, int) (Rows, error){Packed, Aligned}).Draw(t, "lay out")
			r, err := layOut(formed(form), rapid.IntRange(8, 40).Draw(t, "words")*8)
			if err != nil {
				t.Fatal(err)
			}
			at := rapid.IntRange(0, 7).Draw(t, "row") * r.Stride
			row, image, memory := make([]byte, r.Bytes()), make([]byte, r.ImageBytes()), make([]byte, r.ImageBytes())
			version := func(n uint64) {
				r.Layout.SetStamp(row[r.Layout.Stamp:], n)
				for v := r.Layout.Value(row); len(v) > 0; v = v[8:] {
					binary.LittleEndian.PutUint64(v, n)
				}
				r.Image(image, row)
			}
			version(2)
			copy(memory, image)
			read, to := lineEvents(at, 0, len(memory)), make([]byte, len(memory))
			step := func(most int) {
				for range min(rapid.IntRange(0, most).Draw(t, "lines read"), len(read)) {
					copy(to[read[0].From:read[0].To], memory[read[0].From:])
					read = read[1:]
				}
			}
			for n := uint64(4); n <= 8; n += 2 {
				version(n)
				for _, w := range r.Writes() {
					for _, e := range lineEvents(at, w.From, w.To) {
						step(2)
						copy(memory[e.From:e.To], image[e.From:])
					}
				}
			}
			step(0)
			for _, e := range read {
				copy(to[e.From:e.To], memory[e.From:])
			}
			got, ok := r.Whole(to)
			if !ok {
				return
			}
			accepted++
			for v := r.Layout.Value(got); len(v) > 0; v = v[8:] {
				if binary.LittleEndian.Uint64(v) != r.Layout.StampOf(got) {
					if torn++; form != AsPublished {
						t.Fatalf("%v: a torn row is taken for one of version %d: %x", form, r.Layout.StampOf(got), got)
					}
					return
				}
			}
		})
		if accepted == 0 || (torn > 0) != (form == AsPublished) {
			t.Errorf("%v: %d READs accepted, %d of them torn", form, accepted, torn)
		}
	}
}
