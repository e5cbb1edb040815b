package txn

import (
	"fmt"

	"drtmx/engine/history"
	"drtmx/engine/timestamp"
)

// SessionGuarantee is the kind of anomaly of a client that reads less than it has written or seen, although its
// snapshots are not of the kind that may be stale.
const SessionGuarantee = "session-guarantee"

// sessionGuarantees are what a client's snapshots must contain: an oracle, free of time.
type sessionGuarantees struct {
	written [ownWrites]ownWrite // the last ones
	writes  uint64
	point   []uint64 // at which a snapshot has read, by word the largest
}

// ownWrite is a version that the client has written.
type ownWrite struct {
	key     uint64
	version uint64
	table   uint8
}

// ownWrites is how many of its own versions a client is held to.
const ownWrites = 64

func (p *sessionGuarantees) forget() { p.writes, p.point = 0, p.point[:0] }

// noteOwnWrites notes what an attempt that commits has written.
func (tx *Tx) noteOwnWrites() {
	p := tx.guarantees
	for _, a := range tx.set {
		if a.Out != nil {
			p.written[p.writes%ownWrites] = ownWrite{a.Key, a.Next, a.Table.ID}
			p.writes++
		}
	}
}

// ReadsAt says at which point the snapshot that begins reads. The words are those of a timestamp.Point.
func (tx *Tx) ReadsAt(point []uint64) {
	tx.boundNS, tx.bounded = tx.db.staleness.of.Bound()
	if tx.fresh == timestamp.Stale {
		return
	}
	p := tx.guarantees
	for len(p.point) < len(point) {
		p.point = append(p.point, 0)
	}
	for i, w := range point {
		if w < p.point[i] {
			tx.breach(fmt.Sprintf("a snapshot of coroutine %d reads at %d, one before it read at %d", tx.c.ID(), w, p.point[i]))
			return
		}
	}
	copy(p.point, point)
}

// checkOwnWrites checks that a snapshot has what its client has written.
func (tx *Tx) checkOwnWrites() {
	if tx.fresh == timestamp.Stale {
		return
	}
	p := tx.guarantees
	for i := range min(p.writes, ownWrites) {
		w := &p.written[i]
		if a := tx.find(w.table, w.key); a != nil && !a.readNothing() && a.Version < w.version {
			tx.breach(fmt.Sprintf("a snapshot of coroutine %d read version %d of key %d of table %s, and had written version %d itself", tx.c.ID(), a.Version, a.Key, a.Table.Name, w.version))
		}
	}
}

func (tx *Tx) breach(text string) {
	tx.db.Note(history.Anomaly{Kind: SessionGuarantee, Text: text})
}
