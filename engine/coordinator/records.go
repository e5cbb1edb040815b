package coordinator

import (
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/txn/audit"
)

// Access is what all protocols know of a record of an attempt. Their own part embeds it.
type Access struct {
	txn.Access
	Loc     store.Location // where it is, once known; of a record that is missing, its gap
	Located bool           // Loc is that of a record
	HasRow  bool           // the attempt has given it its row
	Tomb    bool           // it is missing, and its row says so
	Entry   int            // its number in the log entry
	Rep     *r2.Reply      // nil: the request for it is not sent yet
	Look    store.Search   // the way to Loc; its memory is kept
}

// Common is the access as all protocols know it.
func (a *Access) Common() *Access { return a }

// Name is its table and key in a message.
func (a *Access) Name() uint64 { return uint64(a.Table.ID)<<56 | a.Key }

// Named undoes it.
func (p *Protocol) Named(word uint64) (t *txn.Table, key uint64) {
	return p.DB.TableOf(uint8(word >> 56)), word & txn.MaxKey
}

// NextStamp is what follows on the stamp that its row had, if the attempt commits, and says so to the history. A new row has none yet.
func (a *Access) NextStamp(had uint64, versions bool) (next uint64) {
	switch {
	case a.NewRow && !a.Tomb:
		return 0
	case a.Delete && !versions:
		next, _ = record.Freed(had)
		a.Next = audit.DeletedVersion(a.Version)
		return next
	case a.Delete:
		next = record.Entomb(had)
	case versions:
		next = record.NextVersion(had)
	default:
		next = record.Next(had)
	}
	a.Next = audit.UpdatedVersion(a.Version, next)
	return next
}

// Update is what a log entry has of it. The place of a new row follows, see Session.Inserted.
func (a *Access) Update(stamp uint64) record.Update {
	u := record.Update{Table: a.Table.ID, Key: a.Key, New: stamp, Value: a.Logged()}
	switch {
	case a.NewRow && !a.Tomb:
		u.Op = record.OpInsert
		return u
	case a.Delete:
		u.Op = record.OpDelete
	}
	if !a.Table.Fixed {
		u.Row = a.Table.Store.LogRow(a.Key, a.Loc.Ref)
	}
	return u
}

// Member is a protocol's own part of an access.
type Member[A any] interface {
	*A
	Common() *Access
}

// Records are those of an attempt.
type Records[A any, P Member[A]] struct {
	Set  []P
	pool txn.Pool[A]

	parts []Part[P]
	msg   Message
}

// Add is a new member of the set. Its memory stays where it is for ever.
func (r *Records[A, P]) Add() *txn.Access {
	a := P(r.pool.At(len(r.Set)))
	x := a.Common()
	look := x.Look
	var fresh A
	*a = fresh
	x.Look = look
	r.Set = append(r.Set, a)
	return &x.Access
}

// Own is the protocol's part of an access.
func (r *Records[A, P]) Own(x *txn.Access) P { return r.Set[x.Index()] }

// Forget empties the set.
func (r *Records[A, P]) Forget() { r.Set = r.Set[:0] }

// Count counts members.
func (r *Records[A, P]) Count(of func(P) bool) (n int) {
	for _, a := range r.Set {
		if of(a) {
			n++
		}
	}
	return n
}

// Part is a participant of a step: a machine, what the step is about there, and the answer to the message that asks for it.
type Part[T any] struct {
	Machine int
	Items   []T
	Rep     *r2.Reply
}

// Participants groups some of the records by their primaries, in the order of the set. The list is valid until the next one.
func (r *Records[A, P]) Participants(of func(P) bool) []Part[P] {
	r.parts = r.parts[:0]
	for _, a := range r.Set {
		if of(a) {
			r.parts = Group(r.parts, int(a.Common().Machine), a)
		}
	}
	return r.parts
}

// Group adds an item to the participant that is on a machine. Those beyond the list's length lend their memory.
func Group[T any](parts []Part[T], m int, item T) []Part[T] {
	for i := range parts {
		if parts[i].Machine == m {
			parts[i].Items = append(parts[i].Items, item)
			return parts
		}
	}
	n := len(parts)
	if n < cap(parts) {
		parts = parts[:n+1]
	} else {
		parts = append(parts, Part[T]{})
	}
	parts[n].Machine, parts[n].Rep, parts[n].Items = m, nil, append(parts[n].Items[:0], item)
	return parts
}

// Cut is the first n items, all if there are fewer, and the rest: what a message carries, and what the next one does.
func Cut[T any](items []T, n int) (first, rest []T) {
	n = min(n, len(items))
	return items[:n], items[n:]
}
