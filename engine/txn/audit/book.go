package audit

import (
	"drtmx/engine/history"
	"drtmx/engine/history/export"
	"drtmx/engine/owned"
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
//
// Each machine writes a log of what its own transactions do. The recorder, the exporter and the watch over snapshots take it in when it is
// gathered: in the order of time, and at one time in that of the machines, which is an order in which what a transaction has written comes
// before who sees it.
type Book struct {
	recorder *Recorder // nil: nothing is recorded
	exporter *Exporter // nil: not asked for
	attempts uint64    // that were gathered
	machines int
	now      func(machine int) int64
	logs     owned.Each[log]
	tables   [256]*Table
	active   []active    // by coroutine
	heads    []int64     // scratch: when what each log has next happened
	txn      history.Txn // scratch
	exported export.Attempt

	staleness *Staleness // nil: there are no snapshots
	onRead    func(machine int, age int64)
	tableName func(id uint8) string
}

// log is what a machine has written since it was gathered last. The accesses of attempts lie one after the other.
type log struct {
	entries        []entry
	reads          []history.Read
	writes         []history.Write
	readSums, sums []uint64 // of their values
	exportedReads  []export.Read
	exportedWrites []export.Write
	exportedKeys   []history.Key
	anomalies      []Anomaly
	next           int     // entry to be gathered,
	done           lengths // and what it begins with

	facts   []fact
	learned int     // of them, the first ones
	values  []value // of the facts that were learned; those that no attempt asks for any more are dropped
	dropped uint64
}

// lengths are how much of a log there is.
type lengths struct{ facts, reads, writes, exportedReads, exportedWrites, anomalies int }

func (l *log) lengths() lengths {
	return lengths{len(l.facts), len(l.reads), len(l.writes), len(l.exportedReads), len(l.exportedWrites), len(l.anomalies)}
}

// active is the attempt of a coroutine, on a machine.
type active struct {
	begin   int64
	machine int
}

// entry is what happened on a machine at a time of its clock, which does not run ahead as that of a core may.
type entry struct {
	at      int64
	kind    uint8
	attempt Attempt
	to      lengths
}

// Kinds of entries.
const (
	began = iota
	ended
	noted
)

// Page is where an attempt on a machine writes its accesses.
type Page = log

// OpenBook is that of transactions on machines, each with a clock. Without a recorder it takes nothing in.
func OpenBook(r *Recorder, machines int, now func(machine int) int64) *Book {
	b := &Book{recorder: r, machines: machines, now: now, logs: owned.New[log](machines, nil)}
	if r != nil {
		r.Source(b.Gather)
	}
	return b
}

// Follow has snapshots watched. onRead, unless nil, gets how stale each record is that a machine's snapshot has read.
func (b *Book) Follow(s *Staleness, tableName func(id uint8) string, onRead func(machine int, age int64)) {
	b.staleness, b.tableName, b.onRead = s, tableName, onRead
}

// ExportTo has the accesses of every attempt written from now on; nil ends that.
func (b *Book) ExportTo(w *Exporter) {
	b.Gather()
	b.exporter = w
}

// Close ends the record: nothing is taken in from now on.
func (b *Book) Close() {
	b.Gather()
	b.recorder = nil
}

// On says that attempts are recorded.
func (b *Book) On() bool { return b.recorder != nil }

// Exports says that they are written out too.
func (b *Book) Exports() bool { return b.exporter != nil }

// Note takes in an anomaly that a machine has found.
func (b *Book) Note(machine int, a Anomaly) {
	if b.recorder != nil {
		l := b.logs.Of(machine)
		l.anomalies = append(l.anomalies, a)
		b.add(l, machine, noted, &Attempt{})
	}
}

// Restamp says that stamps up to now mean nothing to those that follow.
func (b *Book) Restamp() {
	b.Gather()
	if b.staleness != nil {
		b.staleness.Forget()
	}
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

// Begin begins an attempt of a coroutine of a machine, at a time in ps of its core.
func (b *Book) Begin(machine int, coroutine uint32, at int64) {
	b.add(b.logs.Of(machine), machine, began, &Attempt{Coroutine: coroutine, Begin: at})
}

// Page is an empty one for an attempt on a machine. It is valid until its End.
func (b *Book) Page(machine int) *Page { return b.logs.Of(machine) }

// add writes an entry, of what the log has grown by.
func (b *Book) add(l *log, machine int, kind uint8, a *Attempt) {
	l.entries = append(l.entries, entry{at: b.now(machine), kind: kind, attempt: *a, to: l.lengths()})
}

// Read adds a version that was read; sum is that of its value.
func (p *Page) Read(table uint8, key, version, sum uint64) {
	p.reads = append(p.reads, history.Read{Key: history.MakeKey(table, key), Version: version})
	p.readSums = append(p.readSums, sum)
}

// Write adds a version that was written over another one; sum is that of the new value, of none 0.
func (p *Page) Write(table uint8, key, old, next, sum uint64) {
	p.writes = append(p.writes, history.Write{Key: history.MakeKey(table, key), Old: old, New: next})
	p.sums = append(p.sums, sum)
}

// ExportRead and ExportWrite add what is written out, also of attempts that do not commit.
func (p *Page) ExportRead(table string, key uint64, found bool, version uint64) {
	p.exportedReads = append(p.exportedReads, export.Read{Table: table, Key: key, Found: found, Version: version})
}

// Kinds of writes that are written out.
const (
	Update = export.Update
	Insert = export.Insert
	Delete = export.Delete
)

// ExportWrite is a write of a kind, to a table with a number and a name. If the attempt commits, Write has it too.
func (p *Page) ExportWrite(id uint8, table string, key uint64, kind string) {
	p.exportedKeys = append(p.exportedKeys, history.MakeKey(id, key))
	p.exportedWrites = append(p.exportedWrites, export.Write{Table: table, Key: key, Kind: kind})
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
	Versions        bool                // what it writes has stamps, for snapshots
	Fresh           timestamp.Freshness // of a snapshot
	Stamp           timestamp.Stamp
	Since           Snapshot    // a snapshot's
	Own             *Guarantees // of its client; nil where there are no snapshots
}

// End takes in an attempt, before others can see its writes. One that does not commit never put a byte into a record.
func (b *Book) End(p *Page, a *Attempt) { b.add(p, a.Machine, ended, a) }

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
