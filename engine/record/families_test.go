package record

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// families are headers of protocols that are here or are to come, with what a store, a log and a reader have to know of them.
var families = []struct {
	name    string
	opt     Options
	words   []Word
	bytes   int
	own     int // the primary has for itself
	carried int // log entries carry beside the stamp, and backups install with the value
	front   int // a write-back has in front of the value
	checked int // a validation reads
	at      map[string]Span
}{
	{name: "optimistic", opt: Options{Step: 2}, words: []Word{{Name: "lock", Role: RoleLock}, {Name: "seq", Role: RoleStamp, Initial: InitialSeq}},
		bytes: 16, own: 8, front: 8, checked: 16, at: map[string]Span{"seq": {8, 16, 8}}},
	{name: "no-wait locks", opt: Options{Step: 2}, words: []Word{{Name: "word", Role: RoleLock | RoleStamp}},
		bytes: 8, own: 8, front: 8, checked: 8, at: map[string]Span{"word": {0, 8, 8}}},
	{name: "wait-die, wound-wait", opt: Options{Step: 2},
		words: []Word{{Name: "lock", Role: RoleLock}, {Name: "owner", Role: RoleOwn, Words: 2}, {Name: "seq", Role: RoleStamp, Initial: InitialSeq}},
		bytes: 32, own: 24, front: 8, checked: 32, at: map[string]Span{"owner": {8, 24, 16}}},
	{name: "ten owners", opt: Options{Step: 2},
		words: []Word{{Name: "lock", Role: RoleLock}, {Name: "owners", Role: RoleOwn, Words: 2, Cap: 10}, {Name: "seq", Role: RoleStamp, Initial: InitialSeq}},
		bytes: 176, own: 168, front: 8, checked: 176, at: map[string]Span{"owners": {8, 168, 16}}},
	{name: "timestamp ordering", // stamps fill their word, so the incarnation has another one
		words: []Word{{Name: "lock", Role: RoleLock}, {Name: "rts", Role: RoleOwn | RoleRead}, {Name: "wts", Role: RoleStamp, Initial: 1},
			{Name: "incarnation", Role: RoleIncarnation | RoleLogged, Initial: 1}},
		bytes: 32, own: 16, carried: 8, front: 16, checked: 24, at: map[string]Span{"rts": {8, 16, 8}, "incarnation": {24, 32, 8}}},
	{name: "four versions",
		words: []Word{{Name: "lock", Role: RoleLock}, {Name: "rts", Role: RoleOwn | RoleRead}, {Name: "slots", Role: RoleOwn, Words: 3, Cap: 4},
			{Name: "wts", Role: RoleStamp, Initial: InitialSeq}},
		bytes: 120, own: 112, front: 8, checked: 120, at: map[string]Span{"slots": {16, 112, 24}}},
	{name: "Cicada", // versions, each with its timestamps, state and place
		words: []Word{{Name: "lock", Role: RoleLock}, {Name: "rts", Role: RoleOwn | RoleRead}, {Name: "pending", Role: RoleOwn, Cap: 4}, {Name: "older", Role: RoleOwn, Words: 3, Cap: 2},
			{Name: "wts", Role: RoleStamp, Initial: 1}, {Name: "incarnation", Role: RoleIncarnation | RoleLogged, Initial: 1}},
		bytes: 112, own: 96, carried: 8, front: 16, checked: 104, at: map[string]Span{"pending": {16, 48, 8}, "older": {48, 96, 24}}},
	{name: "MaaT",
		words: []Word{{Name: "lock", Role: RoleLock}, {Name: "readers", Role: RoleOwn, Cap: 6}, {Name: "writers", Role: RoleOwn, Cap: 3}, {Name: "rts", Role: RoleOwn | RoleRead},
			{Name: "wts", Role: RoleStamp, Initial: InitialSeq}},
		bytes: 96, own: 88, front: 8, checked: 96, at: map[string]Span{"readers": {8, 56, 8}, "writers": {56, 80, 8}}},
	{name: "leases", opt: Options{Step: 2}, // 1 bit write lock, 8 owner, 55 end of the lease
		words: []Word{{Name: "state", Role: RoleLock}, {Name: "seq", Role: RoleStamp, Initial: InitialSeq}},
		bytes: 16, own: 8, front: 8, checked: 16, at: map[string]Span{"state": {0, 8, 8}}},
	{name: "memory nodes", opt: Options{Step: 2}, // lock and visible bit, version, key
		words: []Word{{Name: "lock", Role: RoleLock}, {Name: "version", Role: RoleStamp, Initial: InitialSeq}, {Name: "key", Role: RoleLogged}},
		bytes: 24, own: 8, carried: 8, front: 16, checked: 16, at: map[string]Span{"key": {16, 24, 8}}},
	{name: "deterministic", opt: Options{Step: 2}, words: []Word{{Name: "seq", Role: RoleStamp, Initial: InitialSeq}},
		bytes: 8, front: 8, checked: 8, at: map[string]Span{"seq": {0, 8, 8}}},
	{name: "snapshots", opt: Options{Step: 4, Align: 16}, words: Versioned.words,
		bytes: 40, own: 24, front: 8, checked: 40, at: map[string]Span{"tuple": {8, 16, 8}, "chain": {16, 24, 8}, "version": {24, 32, 8}, "seq": {32, 40, 8}}},
}

// Offsets follow from the words, and so does what logs carry and backups have.
func TestHeadersOfFamilies(t *testing.T) {
	for _, f := range families {
		l, err := NewLayout(f.opt, f.words...)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		if l.Bytes != f.bytes || l.Own != f.own || l.Bytes-l.Carried != f.carried || l.OutHeaderBytes() != f.front || l.Checked != f.checked {
			t.Errorf("%s: %d bytes, %d own, %d carried, front %d, %d checked", f.name, l.Bytes, l.Own, l.Bytes-l.Carried, l.OutHeaderBytes(), l.Checked)
		}
		for name, want := range f.at { // order-free
			if got := l.Span(name); got != want {
				t.Errorf("%s: %s is at %v, want %v", f.name, name, got, want)
			}
			if got := l.Span(name); got.Entry(1) != got.From+got.Each {
				t.Errorf("%s: the second entry of %s is at %d", f.name, name, got.Entry(1))
			}
		}
		for value := 1; value <= 200; value += 13 {
			rows, err := Packed(l, value)
			if err != nil || l.Checked > LineBytes || rows.Bytes() <= LineBytes || f.opt.Align > 0 {
				continue
			}
			for i := range 64 {
				if !OneLine(uint64(i*rows.Stride), l.Checked) {
					t.Fatalf("%s, values of %d bytes: row %d has lock and stamp in two lines", f.name, value, i)
				}
			}
		}
	}
}

// A row goes through all its states under each header: from the start, freed, inserted into, read by one who remembers what was there.
func TestStatesOfRowsOfFamilies(t *testing.T) {
	for _, f := range families {
		l := MustLayout(f.opt, f.words...)
		row := make([]byte, l.Bytes+8)
		l.Init(row)
		if l.Stale(row, 0) || !l.Reusable(l.IncarnationOf(row)) || l.StampOf(row) != l.Initial {
			t.Fatalf("%s: the row of a record from the start is stale, or has stamp %#x", f.name, l.StampOf(row))
		}
		if !l.inLock() && (l.Free(l.IncarnationOf(row)) || !l.LiveCopy(l.IncarnationOf(row), l.StampOf(row))) {
			t.Errorf("%s: the row of a record from the start is free", f.name)
		}
		if l.inLock() { // whoever deletes holds the lock
			binary.LittleEndian.PutUint64(row[l.Lock:], 1)
		}
		free, ok := l.Freed(l.IncarnationOf(row))
		binary.LittleEndian.PutUint64(row[l.Incarnation:], free)
		if !ok || !l.Free(free) || !l.Stale(row, 0) || l.Stale(row, 1) {
			t.Errorf("%s: freed to %#x, usable %v", f.name, free, ok)
		}
		own := make([]byte, l.Own)
		for i := range own {
			own[i] = 0xff
		}
		l.MarkInserted(own, free)
		if copy(row, own); l.Stale(row, 1) {
			t.Errorf("%s: an inserter's own bytes hide the incarnation: %x", f.name, row[:l.Own])
		}
		if !l.inLock() {
			if first := l.FirstStamp(1); first == l.Initial && f.opt.Step > 0 {
				t.Errorf("%s: an inserted record begins with stamp %#x, as one from the start", f.name, first)
			}
		}
		binary.LittleEndian.PutUint64(row[l.Incarnation:], uint64(LastIncarnation-1)<<incarnationShift|1)
		if last, ok := l.Freed(l.IncarnationOf(row)); ok || l.Reusable(last) {
			t.Errorf("%s: a row whose incarnations are used up is used again: %#x", f.name, last)
		}
	}
}

// Other words of a header keep what they begin with.
func TestInitialWords(t *testing.T) {
	l := MustLayout(Options{}, Word{Name: "list", Role: RoleOwn, Words: 2, Cap: 2, Initial: 7}, Word{Name: "seq", Role: RoleStamp, Initial: 9}, Word{Name: "key", Role: RoleLogged, Initial: 11})
	row := make([]byte, l.Bytes)
	l.Init(row)
	var got []uint64
	for i := 0; i < len(row); i += 8 {
		got = append(got, binary.LittleEndian.Uint64(row[i:]))
	}
	if !slices.Equal(got, []uint64{7, 0, 0, 0, 9, 11}) {
		t.Errorf("a row begins with %v", got)
	}
}

func TestLayoutsThatCannotBe(t *testing.T) {
	lock, seq := Word{Name: "lock", Role: RoleLock}, Word{Name: "seq", Role: RoleStamp, Initial: InitialSeq}
	for want, x := range map[string]struct {
		opt   Options
		words []Word
	}{
		"without a stamp":                    {words: []Word{lock}},
		"two of that name":                   {words: []Word{lock, lock}},
		"another word has its role":          {words: []Word{lock, {Name: "other", Role: RoleLock}, seq}},
		"give it a name":                     {words: []Word{{Role: RoleLock}, seq}},
		"before the words that backups have": {words: []Word{seq, lock}},
		"one of both":                        {words: []Word{{Name: "x", Role: RoleOwn | RoleLogged}, seq}},
		"let log entries carry it":           {words: []Word{lock, seq, {Name: "i", Role: RoleIncarnation, Initial: 1}}},
		"beside the value":                   {words: []Word{lock, seq, {Name: "key", Role: RoleLogged}, {Name: "x"}}},
		"declare it before them":             {words: []Word{lock, {Name: "key", Role: RoleLogged}, seq}},
		"have to be live":                    {words: []Word{lock, seq, {Name: "i", Role: RoleIncarnation | RoleLogged}}},
		"at most 256":                        {words: []Word{lock, {Name: "list", Role: RoleOwn, Cap: 31}, seq}},
		"it has to be 8":                     {opt: Options{Align: 12}, words: []Word{lock, seq}},
		"stamp in the lock word":             {opt: Options{Tearing: HeaderLast}, words: []Word{{Name: "word", Role: RoleLock | RoleStamp}}},
		"header of 72 bytes":                 {opt: Options{Tearing: LineVersions}, words: []Word{lock, seq, {Name: "x", Words: 7}}},
		"stamp that ends at byte 80":         {opt: Options{Tearing: HeaderLast}, words: []Word{lock, {Name: "x", Role: RoleOwn, Words: 8}, seq}},
		"tearing(9): no such form":           {opt: Options{Tearing: 9}, words: []Word{lock, seq}},
	} {
		if _, err := NewLayout(x.opt, x.words...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	inline := MustLayout(Options{Tearing: HeaderLast}, lock, seq)
	inline.Inline = 2
	if _, err := Packed(inline, 8); err == nil || !strings.Contains(err.Error(), "old versions in rows of the form header-last") {
		t.Errorf("old versions beside another form: %v", err)
	}
}
