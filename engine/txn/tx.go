package txn

import (
	"encoding/binary"
	"errors"
	"fmt"

	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn/audit"
)

// ErrRollback is what a body returns to give a transaction up: nothing of it
// happens and it is not tried again.
var ErrRollback = errors.New("transaction rolled back")

// ErrNotFound says that a key is not in its table.
var ErrNotFound = errors.New("key not found")

// ErrAborted ends an attempt that met a conflict. Client.Run tries again.
var ErrAborted = errors.New("transaction aborted by a conflict; return this error from the body")

// MaxKey is the largest key: messages would carry another one.
const (
	MaxKey  = 1<<keyBits - 1
	keyBits = 56
)

// Ref names a record.
type Ref struct {
	Table uint8
	Key   uint64
	Write bool // of one that is announced: the body will write it, so a protocol that locks takes that lock at once
}

// Tx is a transaction: what its body reads and writes.
//
// What Read returns belongs to the transaction and is valid until its body
// returns. Nothing is visible to others before commit. A body may see records
// of different moments; validation finds that out afterwards and the attempt is
// repeated, so a body must not loop or panic on values that make no sense.
type Tx struct {
	db  *DB
	c   *r2.Co
	run Session // of the transaction: own or snap

	killable  Killable  // readWrite, if others may abort its transactions
	runner    Runner    // readWrite, if it runs bodies itself
	declaring Declaring // readWrite, if it has to know what they touch

	readWrite, snap Session             // snap is nil where there are no snapshots
	fresh           timestamp.Freshness // of a snapshot
	session         timestamp.Session
	stamped         bool // see Stamped

	// What is known of snapshots, see audit.go.
	stamp      timestamp.Stamp   // of the attempt's writes
	boundNS    int64             // on the staleness of the snapshot,
	bounded    bool              // where there is one
	guarantees *audit.Guarantees // nil where there are no snapshots

	typ               uint8
	readOnly          bool
	open              bool  // it has begun and not ended
	closed            bool  // its set, to what was not declared
	checkBeforeInsert bool  // before it inserts
	empty             bool  // see Empty
	failed            error // why the attempt cannot commit

	set     []*Access
	byWord  map[uint64]*Access // of a large set, see find
	worded  int                // how many of the set's first members are in byWord
	writes  int
	entries []entryOf     // of indexes
	found   []store.Entry // by the last scan
	mem     arena
	phase   metrics.Phase

	// Of the attempt that runs, see conflicts.go.
	since   r2.Time // its begin
	waited  r2.Time // for locked records
	culprit uint64  // the record at which it met another one first
	blamed  bool    // there is one

	// Of all attempts together, see Outcome.
	common          Settings // it began with
	attempts        int
	drained         int // of them, those that failed in a drain
	begun, decision r2.Time
	attemptBegin    r2.Time
}

// Rand is the coroutine's own random stream. A body runs again after an abort,
// so inputs are better drawn before Run.
func (tx *Tx) Rand() *r2.Rand { return tx.c.Rand() }

// Co is the coroutine it runs on.
func (tx *Tx) Co() *r2.Co { return tx.c }

func (tx *Tx) scratch() *scratch { return &tx.db.own.Of(tx.c.Machine()).scratch }

// Attempt counts from 1.
func (tx *Tx) Attempt() int { return tx.attempts }

// Read returns the value of a record: the transaction's own write if it made
// one.
func (tx *Tx) Read(table uint8, key uint64) ([]byte, error) {
	a, err := tx.get(table, key, false, false)
	if err != nil {
		return nil, err
	}
	if a.Out != nil {
		return a.Out[a.Table.OutHeaderBytes : a.Table.OutHeaderBytes+a.Table.ValueBytes()], nil
	}
	return a.Value, nil
}

// Update puts a record into the write set and returns its value for writing in
// place; of a table whose values are mutable in part, that part.
func (tx *Tx) Update(table uint8, key uint64) ([]byte, error) {
	a, err := tx.write(table, key, false)
	if err != nil {
		return nil, err
	}
	return a.OutValue(), nil
}

// Inserts announces records that the body will insert: those that have their rows
// from the start are looked up together.
func (tx *Tx) Inserts(refs ...Ref) error {
	first := len(tx.set)
	for _, r := range refs {
		if tx.failed != nil || tx.find(r.Table, r.Key) != nil || tx.insertsBlind(r.Table, r.Key) {
			continue
		}
		if a, err := tx.add(r.Table, r.Key); err == nil {
			a.Insert, a.ToWrite = int(a.Machine) == tx.c.Machine(), true
		}
	}
	if tx.failed != nil {
		return tx.failed
	}
	return tx.run.Fetch(first, true)
}

func (tx *Tx) write(table uint8, key uint64, insert bool) (*Access, error) {
	a, err := tx.get(table, key, true, insert)
	if err == nil {
		err = tx.mayWrite(a)
	}
	if err != nil {
		return nil, err
	}
	if a.Out == nil {
		if err := tx.run.Write(a); err != nil {
			return nil, tx.Fail(err)
		}
		a.Out = tx.mem.alloc(a.Table.OutHeaderBytes + len(a.Value))
		copy(a.OutValue(), a.Value)
		a.Out = a.Out[:a.Table.OutHeaderBytes+a.Table.Written]
		tx.writes++
	}
	return a, nil
}

// Write replaces the value of a record that exists.
func (tx *Tx) Write(table uint8, key uint64, value []byte) error {
	out, err := tx.Update(table, key)
	if err != nil {
		return err
	}
	if len(value) != len(out) {
		return tx.Fail(fmt.Errorf("value of %d bytes for table %d: its values have %d", len(value), table, len(out)))
	}
	copy(out, value)
	return nil
}

// Prefetch announces records that the body will read, and may say which of them it will write. Under speculative
// execution (§4.4.1) they are fetched in parallel, else when they are read.
func (tx *Tx) Prefetch(refs ...Ref) error { return tx.announce(refs, false) }

// Queue is Prefetch of records that the body reads one after the other before it uses a value of any: no speculation
// moves them. A protocol whose requests for records wait for the first use of a value has one message per machine ask
// for them then.
func (tx *Tx) Queue(refs ...Ref) error { return tx.announce(refs, true) }

func (tx *Tx) announce(refs []Ref, queued bool) error {
	if !tx.run.Eager(queued) || tx.failed != nil {
		return tx.failed
	}
	first := len(tx.set)
	for _, r := range refs {
		if tx.find(r.Table, r.Key) == nil {
			a, err := tx.add(r.Table, r.Key)
			if err != nil {
				return err
			}
			a.ToWrite = r.Write
		}
	}
	return tx.run.Fetch(first, true)
}

// Future is a record that has been announced and need not be here yet.
type Future struct {
	tx    *Tx
	table uint8
	key   uint64
}

// Fetch announces a record and does not wait for it. Under speculative execution
// (§4.4.1) the body goes on until it awaits a value; then it waits for all that it
// has announced, together. READs leave at once or, where requests share doorbells,
// when the coroutine waits for something; RPCs then, one per machine with all its
// records. Else the record is fetched when it is awaited. What was announced counts
// as read, awaited or not.
func (tx *Tx) Fetch(table uint8, key uint64) Future {
	f := Future{tx, table, key}
	if !tx.run.Eager(false) || tx.failed != nil || tx.find(table, key) != nil {
		return f
	}
	if a, err := tx.add(table, key); err == nil { // Await says it again
		tx.run.Start(a)
	}
	return f
}

// Await is Tx.Read of the record.
func (f Future) Await() ([]byte, error) { return f.tx.Read(f.table, f.key) }

// Update is Tx.Update of the record.
func (f Future) Update() ([]byte, error) { return f.tx.Update(f.table, f.key) }

// Int is Tx.GetInt of the record.
func (f Future) Int() (int64, error) { return f.tx.GetInt(f.table, f.key) }

// finishReads waits for what was announced and never awaited.
func (tx *Tx) finishReads() error {
	for i := range tx.set {
		if !tx.set[i].Arrived() {
			return tx.run.Fetch(i, true)
		}
	}
	return nil
}

// GetInt reads the first 8 bytes of a record as a little-endian integer.
func (tx *Tx) GetInt(table uint8, key uint64) (int64, error) {
	b, err := tx.Read(table, key)
	if err == nil {
		err = tx.holdsInt(table, b)
	}
	if err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint64(b)), nil
}

// holdsInt fails the transaction over a value that is too short for an integer.
func (tx *Tx) holdsInt(table uint8, value []byte) error {
	if len(value) < 8 {
		return tx.Fail(fmt.Errorf("integer in table %d: its values have %d bytes, at least 8 are needed", table, len(value)))
	}
	return nil
}

// PutInt writes the first 8 bytes of a record as a little-endian integer.
func (tx *Tx) PutInt(table uint8, key uint64, v int64) error {
	b, err := tx.Update(table, key)
	if err == nil {
		err = tx.holdsInt(table, b)
	}
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(b, uint64(v))
	return nil
}

// AddInt adds to the first 8 bytes of a record, a little-endian integer. Unlike GetInt and PutInt it says from the start that the
// record will be written, so that a protocol that locks takes that lock at once.
func (tx *Tx) AddInt(table uint8, key uint64, by int64) error {
	b, err := tx.Update(table, key)
	if err == nil {
		err = tx.holdsInt(table, b)
	}
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)+uint64(by))
	return nil
}

// Rollback gives the transaction up; return its result from the body. A body that drops it cannot
// commit either.
func (tx *Tx) Rollback() error {
	if tx.failed == nil {
		tx.failed = ErrRollback
	}
	return ErrRollback
}

// Fail remembers the first error, so that a body that drops errors cannot
// commit, and returns it.
func (tx *Tx) Fail(err error) error {
	if tx.failed == nil {
		tx.failed = err
	}
	return tx.failed
}

// find looks a record up in the set. A large one has a map: a stock-level over twenty districts has thousands of members.
func (tx *Tx) find(table uint8, key uint64) *Access {
	if len(tx.set) > smallSet {
		return tx.findByWord(table, key)
	}
	for _, a := range tx.set {
		if a.Key == key && a.Table.ID == table {
			return a
		}
	}
	return nil
}

// findByWord puts the members into the map that are not there yet, and looks there. A larger key is in no set.
func (tx *Tx) findByWord(table uint8, key uint64) *Access {
	if key > MaxKey {
		return nil
	}
	if tx.byWord == nil {
		tx.byWord = make(map[uint64]*Access)
	}
	for _, a := range tx.set[tx.worded:] {
		tx.byWord[uint64(a.Table.ID)<<keyBits|a.Key] = a
	}
	tx.worded = len(tx.set)
	return tx.byWord[uint64(table)<<keyBits|key]
}

// clearSet begins an empty one.
func (tx *Tx) clearSet() {
	if tx.worded > 0 {
		clear(tx.byWord)
		tx.worded = 0
	}
	tx.set = tx.set[:0]
}

func (tx *Tx) add(table uint8, key uint64) (*Access, error) {
	t := tx.db.tables[table]
	if t == nil {
		return nil, tx.Fail(fmt.Errorf("table %d does not exist: the tables are %s", table, tx.db.tableNames()))
	}
	if key > MaxKey { // messages would carry another key
		return nil, notFound(t, key)
	}
	if tx.closed {
		return nil, tx.Fail(fmt.Errorf("key %d of table %s is none of the declared records: name all that the body touches in Tx.Declare", key, t.Name))
	}
	if len(tx.set) == MostRecords {
		return nil, tx.Fail(fmt.Errorf("transaction with more than %d records: split it", MostRecords))
	}
	a := tx.run.Add()
	*a = Access{Table: t, Key: key, Machine: int16(t.Store.Primary(key)), at: int16(len(tx.set))}
	tx.set = append(tx.set, a)
	return a, nil
}

// get returns the record, which the transaction may have inserted itself.
func (tx *Tx) get(table uint8, key uint64, write, insert bool) (*Access, error) {
	a, err := tx.look(table, key, write, insert)
	if err == nil && a.isAbsent() {
		err = (*absent)(a)
	}
	return a, err
}

// isAbsent says that the record is not there, as the transaction sees it.
func (a *Access) isAbsent() bool { return a.State == Missing && !a.NewRow || a.Delete }

// look returns the access to a record when it is known whether the record is there.
func (tx *Tx) look(table uint8, key uint64, write, insert bool) (*Access, error) {
	if tx.killable != nil && !tx.snapshot() && tx.failed == nil {
		tx.failed = tx.killable.Killed()
	}
	if tx.failed != nil {
		return nil, tx.failed
	}
	a := tx.find(table, key)
	if a == nil {
		first := len(tx.set)
		added, err := tx.add(table, key)
		if err != nil {
			return nil, err
		}
		added.ToWrite = write
		added.Insert = insert && int(added.Machine) == tx.c.Machine()
		if err := tx.run.Fetch(first, false); err != nil {
			return nil, err
		}
		a = added
	} else if !a.Arrived() {
		if err := tx.finishReads(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// absent is the error over a record that is not there. It costs no memory, for bodies may well look for what is not
// there, and is that of another record when the transaction has ended: see Client.Run.
type absent Access

func (a *absent) Error() string { return notFound(a.Table, a.Key).Error() }

func (a *absent) Is(target error) bool { return target == ErrNotFound }

func notFound(t *Table, key uint64) error {
	return fmt.Errorf("key %d of table %s: %w", key, t.Name, ErrNotFound)
}
