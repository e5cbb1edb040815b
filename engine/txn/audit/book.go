package audit

import (
	"drtmx/engine/history"
	"drtmx/engine/history/export"
	"drtmx/engine/timestamp"
)

// What the checker calls things, for those who describe transactions to it.
type (
	Recorder = history.Recorder
	Exporter = export.Writer
	Claim    = history.Claim
	Anomaly  = history.Anomaly
)

// Kinds of anomaly that are noted here.
const (
	// LockLeft: after a drain a row is locked.
	LockLeft = "lock-left"
	// RowsBroken: after a drain a row is not what the index and the free lists say.
	RowsBroken = "rows-broken"
	// SessionGuarantee is the kind of anomaly of a client that reads less than it has written or seen, although its
	// snapshots are not of the kind that may be stale.
	SessionGuarantee = "session-guarantee"
)

// Book takes in the attempts of a database's transactions as they end.
type Book struct {
	recorder *Recorder // nil: nothing is recorded
	exporter *Exporter // nil: not asked for
	attempts uint64
	pages    []Page // by machine
}

// Page is the record of one attempt while it is made.
type Page struct {
	txn    history.Txn
	reads  []history.Read
	writes []history.Write
	// Of their values.
	readSums, writeSums []uint64

	exported export.Attempt
}

// OpenBook is that of transactions on machines. Without a recorder it takes nothing in.
func OpenBook(r *Recorder, machines int) Book {
	return Book{recorder: r, pages: make([]Page, machines)}
}

// ExportTo has the accesses of every attempt written from now on; nil ends that.
func (b *Book) ExportTo(w *Exporter) { b.exporter = w }

// Close ends the record: nothing is taken in from now on.
func (b *Book) Close() { b.recorder = nil }

// On says that attempts are recorded.
func (b *Book) On() bool { return b.recorder != nil }

// Exports says that they are written out too.
func (b *Book) Exports() bool { return b.exporter != nil }

// Note takes in an anomaly.
func (b *Book) Note(a Anomaly) {
	if b.recorder != nil {
		b.recorder.Note(a)
	}
}

// Restamp says that stamps up to now mean nothing to those that follow.
func (b *Book) Restamp() {
	if b.recorder != nil {
		b.recorder.Restamp()
	}
}

// Lacks says which stamps a snapshot may lack.
func (b *Book) Lacks(of Promises) {
	if b.recorder != nil {
		b.recorder.Needs(func(stamp uint64) bool { return of.Missable(timestamp.Stamp(stamp)) }, timestamp.LackLess)
	}
}

// Key names a record, of whatever table.
func Key(table uint8, key uint64) uint64 { return uint64(history.MakeKey(table, key)) }

// Hash is that of bytes.
func Hash(b []byte) uint64 { return history.Sum(b) }

// Sum names a value of a record that the history checks; 0: it does not.
func (b *Book) Sum(table uint8, key uint64, value []byte) uint64 {
	if b.recorder != nil && b.recorder.Wants(history.MakeKey(table, key)) {
		return history.Sum(value)
	}
	return 0
}

// Begin begins an attempt of a coroutine, at a time in ps.
func (b *Book) Begin(coroutine uint32, at int64) {
	b.recorder.Begin(coroutine, at)
	b.exporter.Begin(coroutine, at)
}

// Page is an empty one for an attempt on a machine. It is valid until the next one there.
func (b *Book) Page(machine int) *Page {
	p := &b.pages[machine]
	p.reads, p.writes, p.readSums, p.writeSums = p.reads[:0], p.writes[:0], p.readSums[:0], p.writeSums[:0]
	p.exported.Reads, p.exported.Writes = p.exported.Reads[:0], p.exported.Writes[:0]
	return p
}

// Read adds a version that was read; sum is that of its value.
func (p *Page) Read(table uint8, key, version, sum uint64) {
	p.reads = append(p.reads, history.Read{Key: history.MakeKey(table, key), Version: version})
	p.readSums = append(p.readSums, sum)
}

// Write adds a version that was written over another one; sum is that of the new value, of none 0.
func (p *Page) Write(table uint8, key, old, next, sum uint64) {
	p.writes = append(p.writes, history.Write{Key: history.MakeKey(table, key), Old: old, New: next})
	p.writeSums = append(p.writeSums, sum)
}

// ExportRead and ExportWrite add what is written out, also of attempts that do not commit.
func (p *Page) ExportRead(table string, key uint64, found bool, version uint64) {
	p.exported.Reads = append(p.exported.Reads, export.Read{Table: table, Key: key, Found: found, Version: version})
}

// Kinds of writes that are written out.
const (
	Update = export.Update
	Insert = export.Insert
	Delete = export.Delete
)

// ExportWrite is a write of a kind; version is 0 if the attempt does not commit.
func (p *Page) ExportWrite(table string, key uint64, kind string, version uint64) {
	p.exported.Writes = append(p.exported.Writes, export.Write{Table: table, Key: key, Kind: kind, Version: version})
}

// Attempt is an attempt that ends.
type Attempt struct {
	Machine, Thread int
	Coroutine       uint32
	Type            uint8
	Begin, End      int64 // ps
	Committed       bool
	RolledBack      bool // by its own code
	Snapshot        bool
	Fresh           timestamp.Freshness // of a snapshot
	Stamp           timestamp.Stamp
}

// End takes in an attempt, before others can see its writes. One that does not commit never put a byte into a record.
func (b *Book) End(p *Page, a *Attempt) {
	b.attempts++
	if b.exporter != nil {
		b.export(p, a)
	}
	if !a.Committed {
		b.recorder.End(a.Coroutine)
		return
	}
	p.txn = history.Txn{
		ID: b.attempts, Type: a.Type, Session: a.Coroutine, Begin: a.Begin, End: a.End, Status: history.Committed, Level: a.level(), Stamp: uint64(a.Stamp),
		Reads: p.reads, Writes: p.writes, ReadSums: p.readSums, WriteSums: p.writeSums,
	}
	b.recorder.Add(&p.txn)
}

// export writes the attempt out. Its number is the one that anomalies name.
func (b *Book) export(p *Page, a *Attempt) {
	x := &p.exported
	x.ID, x.Node, x.Thread, x.Session, x.Type = b.attempts, a.Machine, a.Thread, a.Coroutine, a.Type
	x.Begin, x.End, x.Snapshot, x.Status = a.Begin, a.End, a.Snapshot, history.Aborted
	switch {
	case a.Committed:
		x.Status = history.Committed
	case a.RolledBack:
		x.Status = history.RolledBack
	}
	b.exporter.Add(x)
}

// level is what the attempt's reads are promised.
func (a *Attempt) level() history.Level {
	switch {
	case !a.Snapshot:
		return history.LevelStrict
	case a.Fresh == timestamp.Strict:
		return history.LevelFresh
	}
	return history.LevelSnapshot
}
