package rococo

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"drtmx/engine/history"
	"drtmx/engine/r2"
	records "drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/txn/audit"
	"drtmx/engine/versions"
)

// piece is what a transaction does to a record of a server.
type piece struct {
	table  *txn.Table
	key    uint64
	op     *txn.Op
	input  []byte
	output []byte // once it has run, in what its transaction's reply will be
}

// perform runs a piece where it belongs in the order.
func (s *server) perform(c *r2.Co, n *node, x *piece) error {
	t, h := x.table, s.p.H
	if x.op.Inserts {
		return s.insert(c, n, x)
	}
	loc, ok, err := t.Store.LookupLocal(c, x.key)
	if err != nil || !ok {
		return fmt.Errorf("piece %s of key %d of table %s: %w", x.op.Name, x.key, t.Name, orMissing(err))
	}
	row := s.buffer(c, t.RowBytes)
	copy(row, c.Load(loc.Addr, len(row)))
	seq, value := h.StampOf(row), h.Value(row)
	if !records.Live(seq) || h.Tomb(seq) {
		return fmt.Errorf("piece %s of key %d of table %s: %w", x.op.Name, x.key, t.Name, txn.ErrNotFound)
	}
	ran := txn.PieceEffect{Table: t, Key: x.key, Version: t.Audit.Version(c.Machine(), x.key, loc.Ref, seq), Sum: s.p.DB.Sum(t, x.key, value)}
	s.compute(x, value)
	switch {
	case x.op.Writes:
		next := s.p.next(seq)
		t.Audit.Touch(c.Machine(), x.key)
		ran.Next, ran.Value = audit.UpdatedVersion(ran.Version, next), value[:t.Written]
		s.put(c, n, t, x.key, loc, next, value[:t.Written])
	case s.p.MV != nil && !t.Constant && s.p.MV.RaisesReads():
		s.p.MV.Raise(c, loc.Addr, n.stamp)
	}
	n.effects.add(c.Now(), &ran) // measured: for the history, which has the effects of all servers in their order
	return nil
}

// put makes a version of a record the present one.
func (s *server) put(c *r2.Co, n *node, t *txn.Table, key uint64, loc store.Location, seq uint64, value []byte) {
	if s.p.MV != nil {
		s.p.MV.Install(c, t, key, loc.Addr, versions.Version{TS: n.stamp, Seq: seq, Value: value})
		return
	}
	h := s.p.H // the value follows on the stamp
	b := s.image(c, h.Bytes-h.Stamp+len(value))
	binary.LittleEndian.PutUint64(b, seq)
	copy(b[h.Bytes-h.Stamp:], value)
	c.Store(loc.Addr+r2.Addr(h.Stamp), b)
}

func orMissing(err error) error {
	if err == nil {
		return txn.ErrNotFound
	}
	return err
}

// insert gives a record its row and value.
func (s *server) insert(c *r2.Co, n *node, x *piece) error {
	t := x.table
	t.Audit.Touch(c.Machine(), x.key)
	b, err := s.insertRow(c, t, x.key)
	if err != nil {
		return fmt.Errorf("piece %s: %w", x.op.Name, err)
	}
	if b.tomb {
		s.reserve(c, t) // for it: it becomes an old version
	}
	value := s.p.H.Value(s.buffer(c, t.RowBytes))
	clear(value)
	s.compute(x, value)
	s.put(c, n, t, x.key, b.loc, b.seq, value)
	s.born(c, &b)
	ran := txn.PieceEffect{Table: t, Key: x.key, Version: b.before, Next: b.next(b.before), Inserted: true, Value: value}
	n.effects.add(c.Now(), &ran) // measured: as in perform
	return nil
}

// OutputChanged is the kind of anomaly of an immediate piece whose output is another one when its transaction is executed.
const OutputChanged = "output-changed"

// compute is what a piece does to a value. An immediate one has said before what comes out.
func (s *server) compute(x *piece, value []byte) {
	if !x.op.Immediate {
		x.op.F(value, x.input, x.output)
		return
	}
	s.output = append(s.output[:0], x.output...)
	x.op.F(value, x.input, s.output)
	if !bytes.Equal(s.output, x.output) {
		s.p.DB.Note(int(s.machine), history.Anomaly{Kind: OutputChanged, Text: fmt.Sprintf("piece %s of key %d of table %s has said %x, and now says %x", x.op.Name, x.key, x.table.Name, x.output, s.output)})
	}
}

// immediately finds out what an immediate piece will give back: it runs on what those before it will leave. The record has
// it when the transaction is executed, as its other pieces: so no transaction reads what may be of half a transaction.
func (s *server) immediately(c *r2.Co, n *node, x *piece, edges []edge) ([]edge, error) {
	loc, ok, err := x.table.Store.LookupLocal(c, x.key)
	if err != nil || !ok {
		return edges, fmt.Errorf("piece %s of key %d of table %s: %w", x.op.Name, x.key, x.table.Name, orMissing(err))
	}
	row := c.Load(loc.Addr, x.table.RowBytes) // from here on no time passes
	if edges, err = s.claim(n, x, edges); err != nil {
		return edges, err
	}
	on := s.claimed.look(x.table, x.key)
	if len(on.ahead) == 0 {
		on.ahead = append(on.ahead, s.p.H.Value(row)...)
	}
	if x.op.Writes {
		x.op.F(on.ahead, x.input, x.output)
	} else {
		x.op.F(append([]byte(nil), on.ahead...), x.input, x.output)
	}
	return edges, nil
}

// claim is that of a piece.
func (s *server) claim(n *node, x *piece, edges []edge) ([]edge, error) {
	on := s.claimed.on(x.table, x.key)
	if !on.empty() && on.immediate != x.op.Immediate {
		return edges, fmt.Errorf("piece %s of key %d of table %s meets one that is not as immediate as it: make all operations of a record immediate, or none", x.op.Name, x.key, x.table.Name)
	}
	on.immediate = x.op.Immediate
	return on.claim(n, s.machine, x.op.Changes(), edges), nil
}
