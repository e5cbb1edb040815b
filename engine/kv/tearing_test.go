package kv

import (
	"bytes"
	"encoding/binary"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// readers READ rows that another machine is rewriting, without a lock and without a validation. The fabric tears READs: of as-published rows
// they take parts of two versions for one, and under the other forms never.
func TestTornREADsOfRows(t *testing.T) {
	lock, seq := record.Word{Name: "lock", Role: record.RoleLock}, record.Word{Name: "seq", Role: record.RoleStamp, Initial: record.InitialSeq}
	key := record.Word{Name: "key", Role: record.RoleLogged, Initial: 1}
	for _, form := range []record.Tearing{record.AsPublished, record.HeaderLast, record.LineVersions} {
		for _, aligned := range []bool{false, true} {
			layout := record.MustLayout(record.Options{Step: 2, Tearing: form}, lock, seq, key)
			b := newBed(t, 3, 1, 4)
			tb, err := b.kind.newTable(b.cl, layout, Spec{ID: 1, Name: "formed", ValueBytes: 400, Init: valueOf, Aligned: aligned, Fixed: true}, Placement{Partition: store.Blocks(1, 4), Replicas: 1})
			if err != nil {
				t.Fatal(err)
			}
			r := &tenant{tb: tb, rows: tb.Rows()}
			flags := []*bool{b.spawn(1, 0, r.write)}
			for range 3 {
				flags = append(flags, b.spawn(2, 0, r.read))
			}
			b.run(flags...)
			if r.whole == 0 || r.refused == 0 && form != record.AsPublished || (r.torn > 0) != (form == record.AsPublished) {
				t.Errorf("%v, aligned %v: %d rows whole, %d found to be torn, %d torn ones taken for whole", form, aligned, r.whole, r.refused, r.torn)
			}
			t.Logf("%v, aligned %v: %d rows whole, %d found to be torn, %d torn ones taken for whole", form, aligned, r.whole, r.refused, r.torn)
			row := make([]byte, tb.RowBytes())
			if !tb.Row(0, 3, row) || !bytes.Equal(row[layout.Own:], r.row[layout.Own:]) {
				t.Errorf("%v, aligned %v: at rest the row is %x, written was %x", form, aligned, row, r.row)
			}
			tb.Audit(func(text string) { t.Error(text) })
		}
	}
}

// tenant rewrites one record, and reads it.
type tenant struct {
	tb    *Table
	rows  *record.Rows
	row   []byte // as it was written last
	ended bool

	whole, refused, torn int
}

// write gives the record its versions, each by the writes that its layout asks for.
func (r *tenant) write(c *r2.Co) {
	loc, _, _ := store.Locate(c, r.tb, 3)
	r.row = make([]byte, r.rows.Bytes())
	image := make([]byte, r.rows.ImageBytes())
	for n := uint64(2); n <= 400; n++ {
		seq := record.InitialSeq * n
		binary.LittleEndian.PutUint64(r.row[r.rows.Layout.Span("key").From:], 3)
		r.rows.Layout.SetStamp(r.row[r.rows.Layout.Stamp:], seq)
		for v := r.rows.Layout.Value(r.row); len(v) > 0; v = v[8:] {
			binary.LittleEndian.PutUint64(v, seq)
		}
		r.rows.Image(image, r.row)
		l := c.List(loc.Loc, true)
		for _, w := range r.rows.Writes() {
			to := loc.Loc
			to.Addr += r2.Addr(w.From)
			l.Write(to, image[w.From:w.To])
		}
		l.Post()
		if err := c.Wait(); err != nil {
			panic(err)
		}
	}
	r.ended = true
}

// read READs the record until there is no more version to come.
func (r *tenant) read(c *r2.Co) {
	loc, _, _ := store.Locate(c, r.tb, 3)
	for !r.ended {
		b := c.Read(loc.Loc, r.rows.ImageBytes())
		if err := c.Wait(); err != nil {
			panic(err)
		}
		row, ok := r.rows.Whole(b.B)
		if !ok {
			r.refused++
			continue
		}
		if r.isTorn(row) {
			r.torn++
			continue
		}
		r.whole++
	}
}

// isTorn says that a row has parts of several versions: that from the start shows its key.
func (r *tenant) isTorn(row []byte) bool {
	want := r.rows.Layout.StampOf(row)
	if want == record.InitialSeq {
		want = 3 ^ 0xa5a5
	}
	for v := r.rows.Layout.Value(row); len(v) > 0; v = v[8:] {
		if binary.LittleEndian.Uint64(v) != want {
			return true
		}
	}
	return false
}
