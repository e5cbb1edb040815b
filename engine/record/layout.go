package record

import (
	"encoding/binary"
	"fmt"
)

// MaxHeaderBytes bounds a header.
const MaxHeaderBytes = 256

const wordBytes = 8

// Role is what stores, logs and readers do with a word of a header. A word may have several roles, or none: then only
// its protocol looks at it.
type Role uint8

const (
	RoleLock        Role = 1 << iota // 0 in a record that is free to lock
	RoleStamp                        // what commits advance: log entries carry it, backups keep the highest. Each layout has one
	RoleIncarnation                  // its upper 16 bits count the records that the row has held; without any, the stamp's do
	RoleRead                         // read timestamp of the record
	RoleVersion                      // stamp of the transaction that wrote the present version: log entries carry it once
	RoleOwn                          // the primary has the word for itself. Locks are so without it
	RoleLogged                       // log entries carry the word in front of the value
)

// Word is a named part of a header: a word of 64 bits, several, or a list of entries.
type Word struct {
	Name    string
	Role    Role
	Words   int    // of 64 bits, of a list those of an entry; 0: one
	Cap     int    // entries of a list, at most; 0: it is none
	Initial uint64 // its first word in a record that was there from the start
}

func (w Word) bytes() int { return w.each() * max(w.Cap, 1) }
func (w Word) each() int  { return max(w.Words, 1) * wordBytes }

// Span is where a part of a header is: the bytes [From, To) of a row. Of a list, an entry has Each of them.
type Span struct{ From, To, Each int }

// Entry is where the i-th entry of a list is.
func (s Span) Entry(i int) int { return s.From + i*s.Each }

// Options of a layout.
type Options struct {
	Step uint64 // that a commit moves the stamp's counter by; 0: the protocol's stamps are not counted
	// Align is a divisor of the addresses of rows. 0: what keeps lock and stamp of rows longer than a line in one line, where
	// lines have room for them.
	Align   int
	Tearing Tearing
}

// Layout is what the rows of a table have in front of the value. A protocol declares it, and stores lay their rows out
// around it. Its offsets are computed once, when it is made, so that an access costs no more than with constants.
//
// What the primary has for itself comes first, so that backups hold the rest in one piece; what log entries carry comes
// last, so that it is installed in one piece with the value.
type Layout struct {
	Bytes       int // a multiple of 8
	Lock        int // offset of the lock; -1: there is none
	Stamp       int // offset of the stamp
	Incarnation int // offset of the word with the incarnation, often the stamp
	Own         int // leading bytes that the primary has for itself
	Carried     int // offset of the words that log entries carry in front of the value; Bytes: there are none
	Checked     int // leading bytes that have lock and stamp: what a validation reads
	Read        int // offset of the read timestamp; 0: there is none
	Version     int // offset of the stamp of the version; 0: there is none

	Initial uint64 // the stamp of a record that was there from the start
	Step    uint64

	Inline  int // old versions that the tail of a row has room for, see Tail; 0: rows have none
	Written int // leading bytes of a value that updates write, and so those of old versions; 0: all of them

	Tearing Tearing

	align int
	words []Word
}

// NewLayout lays words out in their order.
func NewLayout(o Options, words ...Word) (Layout, error) {
	l := Layout{Lock: -1, Stamp: -1, Incarnation: -1, Carried: -1, Step: o.Step, Tearing: o.Tearing, align: o.Align, words: words}
	for i, w := range words {
		if err := l.add(i, w); err != nil {
			return Layout{}, fmt.Errorf("word %q of a header: %w", w.Name, err)
		}
		l.Bytes += w.bytes()
	}
	if l.Carried < 0 {
		l.Carried = l.Bytes
	}
	if l.Incarnation < 0 {
		l.Incarnation = l.Stamp
	}
	l.Checked = max(l.Lock, l.Stamp) + wordBytes
	return l, l.check()
}

// MustLayout is NewLayout of words that a package declares: what is wrong with them is wrong in the code.
func MustLayout(o Options, words ...Word) Layout {
	l, err := NewLayout(o, words...)
	if err != nil {
		panic("record: " + err.Error())
	}
	return l
}

// add notes the roles of the next word, which begins at l.Bytes.
func (l *Layout) add(i int, w Word) error {
	for _, other := range l.words[:i] {
		if other.Name == w.Name {
			return fmt.Errorf("there are two of that name")
		}
	}
	own := w.Role&(RoleLock|RoleOwn) != 0
	switch {
	case w.Name == "" || w.Words < 0 || w.Cap < 0:
		return fmt.Errorf("%d words, %d entries: give it a name, and numbers that are not negative", w.Words, w.Cap)
	case own && l.Own != l.Bytes:
		return fmt.Errorf("the primary has it for itself: declare it before the words that backups have")
	case own && w.Role&RoleLogged != 0:
		return fmt.Errorf("the primary has it for itself, and log entries carry it: one of both")
	case w.Role&RoleIncarnation != 0 && w.Role&(RoleStamp|RoleLogged) == 0:
		return fmt.Errorf("it has the incarnation: backups need it, so let log entries carry it")
	case w.Role&(RoleLogged|RoleStamp) == 0 && l.Carried >= 0:
		return fmt.Errorf("log entries carry words before it: declare those last, beside the value")
	}
	if own {
		l.Own += w.bytes()
	}
	for _, r := range []struct {
		role Role
		at   *int
	}{{RoleLock, &l.Lock}, {RoleStamp, &l.Stamp}, {RoleIncarnation, &l.Incarnation}, {RoleLogged, &l.Carried}} {
		if w.Role&r.role == 0 {
			continue
		}
		if *r.at < 0 {
			*r.at = l.Bytes
		} else if r.role != RoleLogged {
			return fmt.Errorf("another word has its role")
		}
	}
	switch {
	case w.Role&RoleRead != 0:
		l.Read = l.Bytes
	case w.Role&RoleVersion != 0:
		l.Version = l.Bytes
	}
	if w.Role&RoleStamp != 0 {
		l.Initial = w.Initial
	}
	return nil
}

// check is of the whole.
func (l *Layout) check() error {
	switch {
	case l.Bytes > MaxHeaderBytes:
		return fmt.Errorf("header of %d bytes: at most %d", l.Bytes, MaxHeaderBytes)
	case l.Stamp < 0:
		return fmt.Errorf("header of %d bytes without a stamp: logs and readers need one", l.Bytes)
	case l.Carried < l.Stamp:
		return fmt.Errorf("the stamp is behind words that log entries carry with the value: declare it before them")
	case l.Incarnation != l.Stamp && !Live(l.initialAt(l.Incarnation)):
		return fmt.Errorf("records that were there from the start have to be live: the word with the incarnation begins with %#x", l.initialAt(l.Incarnation))
	case l.align&(l.align-1) != 0 || l.align > LineBytes || l.align%wordBytes != 0:
		return fmt.Errorf("rows at multiples of %d: it has to be 8, 16, 32 or %d", l.align, LineBytes)
	}
	return l.checkTearing()
}

func (l *Layout) initialAt(at int) (v uint64) {
	l.each(func(w Word, s Span) {
		if s.From == at {
			v = w.Initial
		}
	})
	return v
}

func (l *Layout) each(f func(w Word, s Span)) {
	at := 0
	for _, w := range l.words {
		f(w, Span{From: at, To: at + w.bytes(), Each: w.each()})
		at += w.bytes()
	}
}

// Span is where a word is that has been declared.
func (l *Layout) Span(name string) (s Span) {
	l.each(func(w Word, at Span) {
		if w.Name == name {
			s = at
		}
	})
	if s.To == 0 {
		panic(fmt.Sprintf("record: the header has no word %q", name))
	}
	return s
}

// OutHeaderBytes is how many bytes of the header a write-back has in front of the value: those from the stamp on.
func (l *Layout) OutHeaderBytes() int { return l.Bytes - l.Stamp }

// inLock says that the stamp of a primary is in the lock word: the incarnation is above the lock, and there is
// no more of it. The lowest bit is then that of an exclusive lock.
func (l *Layout) inLock() bool { return l.Stamp < l.Own }

// MarkInserted is what the own bytes of a row become whose record is inserted: own, and if the incarnation is among them
// that of the row, whose word with it this is.
func (l *Layout) MarkInserted(own []byte, word uint64) {
	if l.inLock() {
		b := own[l.Stamp:]
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)&counterMask|word&^counterMask)
	}
}

// Freed is the word with the incarnation after the record of a row was deleted, and whether the row may be used again: see Freed.
// Where the lock is, it stays as it is.
func (l *Layout) Freed(word uint64) (free uint64, ok bool) {
	free, ok = Freed(word)
	if l.inLock() {
		free |= word & counterMask
	}
	return free, ok
}

// Free says that a primary's row that is on a list of free rows is one by its word with the incarnation too: it cannot be locked.
func (l *Layout) Free(word uint64) bool {
	if l.inLock() {
		return word&1 != 0
	}
	return !Live(word)
}

// LiveCopy says that the row of a backup with these words holds a record that can be read: a tombstone is none.
func (l *Layout) LiveCopy(incarnation, stamp uint64) bool {
	return Live(incarnation) && !l.Tomb(stamp)
}

// Stale says that a row has lost the record that it had in an incarnation.
func (l *Layout) Stale(row []byte, incarnation uint16) bool {
	return Incarnation(l.IncarnationOf(row)) != incarnation
}

// Reusable says that a row with this word has incarnations left.
func (l *Layout) Reusable(word uint64) bool { return Incarnation(word) < LastIncarnation }

// LockSeq is a lock word and a sequence, which is the stamp: see the package's comment.
var LockSeq = MustLayout(Options{Step: 2}, Word{Name: "lock", Role: RoleLock}, Word{Name: "seq", Role: RoleStamp, Initial: InitialSeq})

// Value is the value of a row.
func (l *Layout) Value(row []byte) []byte { return row[l.Bytes:] }

// LockOf is the lock of a row, StampOf its stamp, IncarnationOf its word with the incarnation, ReadOf its read timestamp,
// VersionOf the stamp of its present version.
func (l *Layout) LockOf(row []byte) uint64  { return binary.LittleEndian.Uint64(row[l.Lock:]) }
func (l *Layout) StampOf(row []byte) uint64 { return binary.LittleEndian.Uint64(row[l.Stamp:]) }
func (l *Layout) IncarnationOf(row []byte) uint64 {
	return binary.LittleEndian.Uint64(row[l.Incarnation:])
}
func (l *Layout) ReadOf(row []byte) uint64    { return binary.LittleEndian.Uint64(row[l.Read:]) }
func (l *Layout) VersionOf(row []byte) uint64 { return binary.LittleEndian.Uint64(row[l.Version:]) }

// StampAt is the stamp whose bytes begin b, SetStamp puts it there.
func (l *Layout) StampAt(b []byte) uint64         { return binary.LittleEndian.Uint64(b) }
func (l *Layout) SetStamp(b []byte, stamp uint64) { binary.LittleEndian.PutUint64(b, stamp) }

// Init makes a row of zeros one that holds a record from the start.
func (l *Layout) Init(row []byte) {
	at := 0
	for i := range l.words {
		if v := l.words[i].Initial; v != 0 {
			binary.LittleEndian.PutUint64(row[at:], v)
		}
		at += l.words[i].bytes()
	}
}

// FirstStamp is the first stamp of a record that is inserted into a row of an incarnation. It is not the one of a
// record that was there from the start, so that histories can tell them apart.
func (l *Layout) FirstStamp(incarnation uint16) uint64 {
	if l.Incarnation != l.Stamp {
		return l.Initial + l.Step
	}
	return uint64(incarnation)<<incarnationShift | (l.Initial + l.Step)
}
