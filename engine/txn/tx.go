package txn

import (
	"encoding/binary"
	"errors"
	"fmt"

	"drtmx/engine/kv"
	"drtmx/engine/kv/ordered"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
)

// ErrRollback is what a body returns to give a transaction up: nothing of it
// happens and it is not tried again.
var ErrRollback = errors.New("transaction rolled back")

// ErrNotFound says that a key is not in its table.
var ErrNotFound = errors.New("key not found")

// errAborted ends an attempt that met a conflict. Client.Run tries again.
var errAborted = errors.New("transaction aborted by a conflict; return this error from the body")

// Ref names a record.
type Ref struct {
	Table uint8
	Key   uint64
}

// access is one record of a transaction's read set. If out is set it is in the
// write set too.
type access struct {
	table   *table
	key     uint64
	loc     kv.Location // where it is, once known
	seq     uint64      // the version that was read
	sum     uint64      // of its value, for the history; 0: nobody asks
	machine int16       // its primary
	state   accessState
	located bool // loc is valid
	direct  bool // value was read where no torn READ is possible
	locked  bool
	insert  bool          // see Insert
	added   bool          // by Insert, on whatever machine
	served  bool          // dealt with in the loop over participants
	buf     r2.Addr       // where a READ puts what it brings of it
	value   []byte        // private copy of what was read; while reading, the row that the READ will fill
	out     []byte        // new sequence (8 bytes) and value, as the write-back sends them
	word    *[8]byte      // what CAS found
	head    *[header]byte // lock and sequence as validation finds them
	rep     *r2.Reply
	look    *kv.Lookup // the way to loc; its memory is kept
}

type accessState uint8

const (
	wanted  accessState = iota // not fetched yet
	asked                      // the answer of an RPC will tell
	looking                    // a READ of the index is under way
	reading                    // a READ of the row is under way
	fetched
	missing
)

// here says that nothing is awaited for the record any more.
func (a *access) here() bool { return a.state >= fetched }

// Tx is a transaction: what its body reads and writes.
//
// What Read returns belongs to the transaction and is valid until its body
// returns. Nothing is visible to others before commit. A body may see records
// of different moments; validation finds that out afterwards and the attempt is
// repeated, so a body must not loop or panic on values that make no sense.
type Tx struct {
	db    *DB
	th    *thread
	c     *r2.Co
	cache *kv.Cache

	cfg      *Config // it began with
	typ      uint8
	readOnly bool
	open     bool  // it has begun and not ended
	failed   error // why the attempt cannot commit

	set     []access
	writes  int
	entries []entryOf       // of indexes
	found   []ordered.Entry // by the last scan
	mem     arena
	logs    []logged
	logged  uint32 // number of the log entry
	phase   metrics.Phase
	reads   r2.Mode // of what fetches by READ
	trips   int
	parts   []int // primaries, of the two-sided phases
	calls   []*r2.Reply

	// Of the attempt that runs, see conflicts.go.
	since   r2.Time // its begin
	waited  r2.Time // for locked records
	culprit uint64  // the record at which it met another one first
	blamed  bool    // there is one

	lockedAt r2.Time // when it had its locks; 0: it has none

	// Of all attempts together, see Outcome.
	attempts        int
	begun, decision r2.Time
	attemptBegin    r2.Time
	roundTrips      [metrics.NumPhases]uint32
}

// Rand is the coroutine's own random stream. A body runs again after an abort,
// so inputs are better drawn before Run.
func (tx *Tx) Rand() *r2.Rand { return tx.c.Rand() }

// Co is the coroutine it runs on.
func (tx *Tx) Co() *r2.Co { return tx.c }

// Attempt counts from 1.
func (tx *Tx) Attempt() int { return tx.attempts }

// Read returns the value of a record: the transaction's own write if it made
// one.
func (tx *Tx) Read(table uint8, key uint64) ([]byte, error) {
	a, err := tx.get(table, key, false)
	if err != nil {
		return nil, err
	}
	if a.out != nil {
		return a.out[8 : 8+a.table.rowBytes-valueAt], nil
	}
	return a.value, nil
}

// Update puts a record into the write set and returns its value for writing in
// place; of a table whose values are mutable in part, that part.
func (tx *Tx) Update(table uint8, key uint64) ([]byte, error) {
	a, err := tx.write(table, key, false)
	if err != nil {
		return nil, err
	}
	return a.out[8:], nil
}

// Insert is Update of a record that nobody else can be about to write, as the
// order that belongs to the number which this transaction takes from a counter.
// If it is on the coroutine's own machine the CPU locks and writes it, without
// an atomic, whoever locks elsewhere; see lockInserts.
func (tx *Tx) Insert(table uint8, key uint64) ([]byte, error) {
	a, err := tx.write(table, key, true)
	if err != nil {
		return nil, err
	}
	if a.table.written != a.table.rowBytes-valueAt {
		// The backup may see a later update of the mutable part first, and then
		// would skip the insert.
		return nil, tx.fail(fmt.Errorf("insert of key %d of table %s, of whose values only %d bytes are mutable: declare all mutable", key, a.table.name, a.table.written))
	}
	a.insert, a.added = int(a.machine) == tx.c.Machine(), true
	return a.out[8:], nil
}

// Inserts announces records that the body will insert: they are looked up
// together.
func (tx *Tx) Inserts(refs ...Ref) error {
	first := len(tx.set)
	for _, r := range refs {
		if tx.failed != nil || tx.find(r.Table, r.Key) != nil {
			continue
		}
		if a, err := tx.add(r.Table, r.Key); err == nil {
			a.insert = int(a.machine) == tx.c.Machine()
		}
	}
	if tx.failed != nil {
		return tx.failed
	}
	return tx.fetch(first, true)
}

func (tx *Tx) write(table uint8, key uint64, insert bool) (*access, error) {
	a, err := tx.get(table, key, insert)
	switch {
	case err != nil:
		return nil, err
	case tx.readOnly:
		return nil, tx.fail(fmt.Errorf("write of key %d of table %d in a read-only transaction: run it as read-write", key, table))
	case a.table.constant:
		return nil, tx.fail(fmt.Errorf("write of key %d of table %s, which is declared constant", key, a.table.name))
	}
	if a.out == nil {
		a.out = tx.mem.take(8 + len(a.value))
		copy(a.out[8:], a.value)
		a.out = a.out[:8+a.table.written]
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
		return tx.fail(fmt.Errorf("value of %d bytes for table %d: its values have %d", len(value), table, len(out)))
	}
	copy(out, value)
	return nil
}

// Prefetch announces records that the body will read. Under speculative
// execution (§4.4.1) they are fetched in parallel, else when they are read.
func (tx *Tx) Prefetch(refs ...Ref) error {
	if !tx.cfg.Speculative || tx.failed != nil {
		return tx.failed
	}
	first := len(tx.set)
	for _, r := range refs {
		if tx.find(r.Table, r.Key) == nil {
			if _, err := tx.add(r.Table, r.Key); err != nil {
				return err
			}
		}
	}
	return tx.fetch(first, true)
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
	if !tx.cfg.Speculative || tx.failed != nil || tx.find(table, key) != nil {
		return f
	}
	if a, err := tx.add(table, key); err == nil { // Await says it again
		tx.begin(a, tx.enterFetch(true))
	}
	return f
}

// Await is Tx.Read of the record.
func (f Future) Await() ([]byte, error) { return f.tx.Read(f.table, f.key) }

// Update is Tx.Update of the record.
func (f Future) Update() ([]byte, error) { return f.tx.Update(f.table, f.key) }

// Int is Tx.GetInt of the record.
func (f Future) Int() (int64, error) { return f.tx.GetInt(f.table, f.key) }

// settle waits for what was announced and never awaited.
func (tx *Tx) settle() error {
	for i := range tx.set {
		if !tx.set[i].here() {
			return tx.fetch(i, true)
		}
	}
	return nil
}

// abandon waits for requests whose answers nobody wants: they write into buffers
// that the next attempt uses.
func (tx *Tx) abandon() {
	for i := range tx.set {
		if !tx.set[i].here() {
			_ = tx.c.Wait() // the attempt has failed already
			return
		}
	}
}

// GetInt reads the first 8 bytes of a record as a little-endian integer.
func (tx *Tx) GetInt(table uint8, key uint64) (int64, error) {
	b, err := tx.Read(table, key)
	if err != nil {
		return 0, err
	}
	if len(b) < 8 {
		return 0, tx.fail(fmt.Errorf("integer in table %d: its values have %d bytes, at least 8 are needed", table, len(b)))
	}
	return int64(binary.LittleEndian.Uint64(b)), nil
}

// PutInt writes the first 8 bytes of a record as a little-endian integer.
func (tx *Tx) PutInt(table uint8, key uint64, v int64) error {
	b, err := tx.Update(table, key)
	if err != nil {
		return err
	}
	if len(b) < 8 {
		return tx.fail(fmt.Errorf("integer in table %d: its values have %d bytes, at least 8 are needed", table, len(b)))
	}
	binary.LittleEndian.PutUint64(b, uint64(v))
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

// fail remembers the first error, so that a body that drops errors cannot
// commit.
func (tx *Tx) fail(err error) error {
	if tx.failed == nil {
		tx.failed = err
	}
	return tx.failed
}

func (tx *Tx) find(table uint8, key uint64) *access {
	for i := range tx.set {
		if a := &tx.set[i]; a.key == key && a.table.id == table {
			return a
		}
	}
	return nil
}

func (tx *Tx) add(table uint8, key uint64) (*access, error) {
	t := tx.db.tables[table]
	if t == nil {
		return nil, tx.fail(fmt.Errorf("table %d does not exist: the tables are %s", table, tx.db.tableNames()))
	}
	if key > keyMask { // messages would carry another key
		return nil, notFound(t, key)
	}
	if len(tx.set) == maxSet {
		return nil, tx.fail(fmt.Errorf("transaction with more than %d records: split it", maxSet))
	}
	n := len(tx.set)
	if n == cap(tx.set) {
		tx.set = append(tx.set, access{})
	} else {
		tx.set = tx.set[:n+1]
	}
	a := &tx.set[n]
	*a = access{table: t, key: key, machine: int16(t.store.Primary(key)), look: a.look}
	return a, nil
}

// get returns the fetched record.
func (tx *Tx) get(table uint8, key uint64, insert bool) (*access, error) {
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
		added.insert = insert && int(added.machine) == tx.c.Machine()
		if err := tx.fetch(first, false); err != nil {
			return nil, err
		}
		a = &tx.set[first]
	} else if !a.here() {
		if err := tx.settle(); err != nil {
			return nil, err
		}
	}
	if a.state == missing {
		return nil, notFound(a.table, key)
	}
	return a, nil
}

func notFound(t *table, key uint64) error {
	return fmt.Errorf("key %d of table %s: %w", key, t.name, ErrNotFound)
}

// arena hands out memory that stays where it is until reset.
type arena struct {
	first [128]byte // most transactions need no more
	more  [][]byte
	block int // in more, behind first
	used  int
}

const arenaBlock = 512

func (m *arena) reset() { m.block, m.used = 0, 0 }

func (m *arena) take(n int) []byte {
	for {
		b := m.first[:]
		if m.block > 0 {
			b = m.more[m.block-1]
		}
		if end := m.used + pad8(n); end <= len(b) {
			b = b[m.used : m.used+n : m.used+n]
			m.used = end
			return b
		}
		if m.block == len(m.more) {
			m.more = append(m.more, make([]byte, max(arenaBlock, pad8(n))))
		}
		m.block, m.used = m.block+1, 0
	}
}
