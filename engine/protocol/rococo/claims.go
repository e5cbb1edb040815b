package rococo

import (
	"slices"

	"drtmx/engine/txn"
)

// recordOf names a record of a server.
type recordOf struct {
	table uint8
	key   uint64
}

// claims are the transactions that have started on a record and have not been executed: the last one that writes it, and
// those after it that read it. The writer before it comes before these, in the graph.
type claims struct {
	recordOf
	writer    *node
	readers   []*node
	immediate bool   // the pieces are
	ahead     []byte // the value when all immediate ones have run, while there are some
}

func (x *claims) empty() bool { return x.writer == nil && len(x.readers) == 0 }

// claim has a transaction claim a record, and appends the transactions that it comes after.
func (x *claims) claim(n *node, server int16, writes bool, edges []edge) []edge {
	add := func(b *node) {
		if b != nil && b != n {
			edges = append(edges, edge{b.id, server, x.immediate})
		}
	}
	add(x.writer)
	if !writes {
		if x.writer != n && !slices.Contains(x.readers, n) {
			x.readers = append(x.readers, n)
		}
		return edges
	}
	for _, b := range x.readers {
		add(b)
	}
	x.writer, x.readers = n, x.readers[:0]
	return edges
}

// drop takes back what a transaction has claimed.
func (x *claims) drop(n *node) {
	if x.writer == n {
		x.writer = nil
	}
	if i := slices.Index(x.readers, n); i >= 0 {
		x.readers = slices.Delete(x.readers, i, i+1)
	}
}

// against is a transaction that has claimed the record in conflict with a read or a write, nil if there is none.
func (x *claims) against(writes bool) *node {
	switch {
	case x == nil:
		return nil
	case x.writer != nil:
		return x.writer
	case writes && len(x.readers) > 0:
		return x.readers[0]
	}
	return nil
}

// claimed are the claims of a server.
type claimed struct {
	of   map[recordOf]*claims // lookups only
	free []*claims
}

// on are the claims on a record, made if there were none.
func (s *claimed) on(t *txn.Table, key uint64) *claims {
	r := recordOf{t.ID, key}
	x := s.of[r]
	if x == nil {
		x = new(claims)
		if last := len(s.free) - 1; last >= 0 {
			x, s.free = s.free[last], s.free[:last]
		}
		x.recordOf, x.immediate, x.ahead = r, false, x.ahead[:0]
		s.of[r] = x
	}
	return x
}

// look are the claims on a record, nil if there are none.
func (s *claimed) look(t *txn.Table, key uint64) *claims { return s.of[recordOf{t.ID, key}] }

// drop takes a transaction's claims on a record back.
func (s *claimed) drop(t *txn.Table, key uint64, n *node) {
	x := s.look(t, key)
	if x == nil {
		return // it had two pieces here
	}
	if x.drop(n); x.empty() {
		delete(s.of, x.recordOf)
		s.free = append(s.free, x)
	}
}
