package coordinator

import (
	"errors"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// Inserts and deletes of records that do not have their rows from the start. Only the CPU of a record's
// primary changes the table: other machines ask it by RPC, whatever the primitives of the phases
// are, one request per participant with all its records.
//
// An insert is placed before the log: the record gets a row that is locked, and the table's index knows it. The commit writes the row
// back as it does others; an abort takes the record out again. A delete holds the record's lock. When the transaction is committed, the
// record is taken out and its row freed.

// ErrGapTaken says that the gap of an insert is locked by another transaction.
var ErrGapTaken = errors.New("the gap is locked")

const (
	// InsertBack is what a server answers of an insert: status 8 bits | location, version of the gap before and after.
	InsertBack = 8 + 8

	removeItem = 8 + 8 // table 8 bits | key 56 bits, deleted 1 bit | location
	deletedBit = 1 << 63
	statusAt   = 56
)

// statuses are what an answer can say of an insert; the place of an error is its code.
var statuses = [...]error{nil, store.ErrExists, store.ErrChanged, ErrGapTaken, store.ErrFull, store.ErrFixed, store.ErrBusy}

func statusOf(err error) uint64 {
	for i, x := range statuses {
		if errors.Is(err, x) {
			return uint64(i)
		}
	}
	return uint64(len(statuses) - 1)
}

// PutInsert writes into an answer what became of an insert.
func PutInsert(rep []byte, x store.Change, err error) {
	wire.Put64(rep, uint64(x.Ref)|statusOf(err)<<statusAt)
	wire.Put64(rep[8:], uint64(x.Before)|uint64(x.After)<<32)
}

// GetInsert reads it.
func GetInsert(rep []byte) (x store.Change, err error) {
	word, versions := wire.Get64(rep), wire.Get64(rep[8:])
	x = store.Change{Ref: store.Ref(word & (1<<statusAt - 1)), Before: uint32(versions), After: uint32(versions >> 32)}
	return x, statuses[min(word>>statusAt, uint64(len(statuses)-1))]
}

func addItem(req []byte, name, word uint64) []byte { return wire.Add64(wire.Add64(req, name), word) }

// TakeOut takes a record of the machine out of its table.
func (p *Protocol) TakeOut(c *r2.Co, t *txn.Table, key uint64, at store.Ref, deleted bool) error {
	x, err := t.Store.Remove(c, key, at)
	if err != nil {
		return fmt.Errorf("key %d of table %s cannot be taken out: %w", key, t.Name, err)
	}
	if deleted {
		t.Audit.NoteDeletion(c.Machine(), key, x)
	}
	return nil
}

// Taker is a protocol's own function that takes a record of the machine out of its table.
type Taker func(c *r2.Co, t *txn.Table, key uint64, at store.Ref, deleted bool)

// ServeRemove takes records out for Session.Remove.
func (p *Protocol) ServeRemove(take Taker) r2.Handler {
	return func(c *r2.Co, _ r2.Peer, req, rep []byte) int {
		for ; len(req) >= removeItem; req = req[removeItem:] {
			t, key := p.Named(wire.Get64(req))
			word := wire.Get64(req[8:])
			take(c, t, key, store.Ref(word&^deletedBit), word&deletedBit != 0)
		}
		return p.Ended(c, rep)
	}
}
