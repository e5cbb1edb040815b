package rococo

import (
	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// effects are what the pieces of a transaction did on a server, for the history, in words: when, table and key, versions before and after, the
// sum of the value before, then flags and length of the value that was written, and the value. They travel beside the reply to its commit.
type effects []uint64

const (
	insertedEffect = 1 << iota
	lengthOfEffect // times the bytes of its value
)

// add appends one.
func (e *effects) add(at r2.Time, x *txn.PieceEffect) {
	flags := uint64(len(x.Value)) * lengthOfEffect
	if x.Inserted {
		flags |= insertedEffect
	}
	*e = append(*e, uint64(at), item(x.Table.ID, x.Key), x.Version, x.Next, x.Sum, flags)
	for b := x.Value; len(b) > 0; b = b[min(word, len(b)):] {
		var last [word]byte
		copy(last[:], b)
		*e = append(*e, wire.Get64(last[:]))
	}
}

// annotate has them travel beside a reply.
func (e effects) annotate(c *r2.Co) {
	for _, w := range e {
		c.Annotate(w)
	}
}

// effectsBeside tells the history what came beside the replies of all servers, in the order in which it was done.
func (s *session) effectsBeside() {
	for i := range s.calls {
		s.calls[i].nextEffect()
	}
	for {
		var first *call
		for i := range s.calls {
			if x := &s.calls[i]; x.has && (first == nil || x.effectAt < first.effectAt) {
				first = x
			}
		}
		if first == nil {
			return
		}
		s.effect(first.rep)
		first.nextEffect()
	}
}

// nextEffect looks when the next effect beside the reply was.
func (x *call) nextEffect() { x.effectAt, x.has = x.rep.Note() }

// effect takes one.
func (s *session) effect(r *r2.Reply) {
	var x txn.PieceEffect
	next := func() uint64 { w, _ := r.Note(); return w }
	x.Table, x.Key = s.p.Named(next())
	x.Version, x.Next, x.Sum = next(), next(), next()
	flags := next()
	x.Inserted = flags&insertedEffect != 0
	s.written = s.written[:0]
	for left := int(flags / lengthOfEffect); left > 0; left -= word {
		s.written = wire.Add64(s.written, next())
	}
	x.Value = s.written[:flags/lengthOfEffect]
	s.Tx.AddPieceEffect(x)
}
