package txn

import (
	"fmt"

	"drtmx/engine/r2"
)

// A protocol that reorders transactions has to know what they will do before it is done. For it a transaction is a set of
// pieces: each does something to one record, on the server that has it, and what it does is a registered operation with an
// input. A body that is written in pieces runs under any protocol: where the session knows nothing of them, they are reads,
// updates and inserts at once.

// Op is what a piece does to its record.
type Op struct {
	Name   string
	Output int // bytes that it gives back
	// Immediate says that the body needs the output to go on. Of the pieces that meet on a record all are immediate, or none.
	Immediate bool
	Writes    bool // it changes the value
	Inserts   bool // it makes a record that is missing, whose value is zeros before
	// F does it. value is written in place; it must depend on nothing but the value and the input, for it runs on another
	// machine, later.
	F func(value, input, output []byte)

	number uint16
}

// ops are all of them, by number.
var ops []*Op // program: a list

// NewOp registers an operation; package variables hold what it returns.
func NewOp(o Op) *Op {
	o.number = uint16(len(ops))
	ops = append(ops, &o)
	return &o
}

// Number names an operation in messages.
func (o *Op) Number() uint16 { return o.number }

// OpOf is the operation of a number.
func OpOf(number uint16) *Op { return ops[number] }

// Changes says that a piece writes its record.
func (o *Op) Changes() bool { return o.Writes || o.Inserts }

// Pieces is a Session that wants its read-write transactions in pieces.
type Pieces interface {
	// Apply adds a piece to the next step. output is the transaction's, and is filled in later.
	Apply(table uint8, key uint64, op *Op, input, output []byte) error
	// Step starts the pieces that were added, and waits: the outputs of immediate ones are there then.
	Step() error
	// Whole runs a body that touches nothing but records of one server, there, as one piece. It is the transaction's only one.
	Whole(server int, inputBytes int, body func() error) error
}

// Holder is a protocol that has other means than words in rows to say that a transaction is about to write a record: Held is
// an oracle, free of time.
type Holder interface {
	Held(t *Table, key uint64) bool
}

// Pieced says that the protocol wants read-write transactions in pieces.
func (tx *Tx) Pieced() bool {
	_, ok := tx.run.(Pieces)
	return ok
}

// Apply does something to a record. The output is there at the next Step if the operation is immediate, else when the
// transaction has committed; it is valid until the client's next transaction.
func (tx *Tx) Apply(table uint8, key uint64, op *Op, input []byte) (output []byte, err error) {
	if tx.failed != nil {
		return nil, tx.failed
	}
	output = tx.mem.alloc(op.Output)
	clear(output)
	if s, ok := tx.run.(Pieces); ok {
		if tx.db.tables[table] == nil || key > MaxKey {
			return nil, tx.Fail(fmt.Errorf("piece %s of key %d of table %d, which does not exist: the tables are %s", op.Name, key, table, tx.db.tableNames()))
		}
		return output, s.Apply(table, key, op, input, output)
	}
	var value []byte
	switch {
	case op.Inserts:
		value, err = tx.Insert(table, key)
	case op.Writes:
		if _, err = tx.Update(table, key); err == nil {
			value, err = tx.Read(table, key) // all of it, as at a server
		}
	default:
		value, err = tx.Read(table, key)
	}
	if err == nil {
		op.F(value, input, output)
	}
	return output, err
}

// Step ends a step of pieces that do not need each other's outputs.
func (tx *Tx) Step() error {
	if s, ok := tx.run.(Pieces); ok && tx.failed == nil {
		return s.Step()
	}
	return tx.failed
}

// Whole runs a body on one server whose records it alone touches. inputBytes are what the server has to be told.
func (tx *Tx) Whole(server, inputBytes int, body func(tx *Tx) error) error {
	if s, ok := tx.run.(Pieces); ok && tx.failed == nil {
		return s.Whole(server, inputBytes, func() error { return body(tx) })
	}
	return body(tx)
}

// What a session that runs pieces says of them.

// RunAt makes the transaction's accesses by another coroutine while f runs: one of the server that f runs on.
func (tx *Tx) RunAt(c *r2.Co, f func() error) error {
	own := tx.c
	tx.c = c
	defer func() { tx.c = own }()
	return f()
}

// ResetSet empties the set of an attempt whose body runs once more.
func (tx *Tx) ResetSet() {
	tx.clearSet()
	tx.writes, tx.entries, tx.empty = 0, tx.entries[:0], false
}

// PieceEffect is what a piece did to a record, for the history.
type PieceEffect struct {
	Table         *Table
	Key           uint64
	Version, Next uint64 // Next 0: it has only read
	Sum           uint64 // of the value before, see DB.Sum
	Inserted      bool
	Value         []byte // that was written
}

// AddPieceEffect adds what a piece did at a server to the transaction's set: an oracle, free of time.
func (tx *Tx) AddPieceEffect(x PieceEffect) {
	a := tx.find(x.Table.ID, x.Key)
	if a == nil {
		a = tx.run.Add()
		*a = Access{Table: x.Table, Key: x.Key, Machine: int16(x.Table.Store.Primary(x.Key)), at: int16(len(tx.set)), State: Fetched, Version: x.Version, sum: x.Sum}
		if x.Inserted {
			a.State, a.NewRow, a.Blind = Missing, true, true
		}
		tx.set = append(tx.set, a)
	}
	if x.Next == 0 {
		return
	}
	if a.Out == nil {
		a.Out = tx.mem.alloc(a.Table.OutHeaderBytes + x.Table.ValueBytes())
		tx.writes++
	}
	a.Out, a.Next = a.Out[:a.Table.OutHeaderBytes+len(x.Value)], a.Table.Audit.Follow(tx.c.Machine(), a.Key, x.Version, x.Next)
	copy(a.OutValue(), x.Value)
}
