package txn

import (
	"fmt"

	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
)

// The commit phase (§4.3.3): write the records back and release their locks.
// The transaction is decided before, when the backups have the log, so with
// passive ACK nobody waits here.

// writeBack installs the write set at the primaries.
func (tx *Tx) writeBack() error {
	mode := tx.cfg.mode(metrics.Commit, tx.cfg.Commit)
	tx.enter(metrics.Commit, mode)
	tx.c.Compute(tx.db.program.commitRecord * tx.writes)
	tx.writeBackInserts()
	if tx.cfg.Commit == TwoSided {
		tx.writeBackByRPC()
	} else {
		for i := range tx.set {
			if a := &tx.set[i]; toLock(a) {
				tx.writeBackOne(a)
			}
		}
	}
	if mode.Passive {
		return nil
	}
	return tx.c.Wait()
}

// writeBackInserts stores the records that the transaction inserts.
func (tx *Tx) writeBackInserts() {
	for i := range tx.set {
		if a := &tx.set[i]; inserted(a) {
			a.locked = false
			tx.c.Poke(a.loc.Addr+seqAt, a.out)
			tx.c.Poke(a.loc.Addr+lockAt, zero)
		}
	}
}

// writeBackOne posts {WRITE sequence and value, WRITE 0 to the lock}. They
// execute in order, so who finds the lock free finds the new version too.
func (tx *Tx) writeBackOne(a *access) {
	a.locked = false
	if int(a.machine) == tx.c.Machine() && tx.cfg.Lock == TwoSided {
		tx.db.storeRow(tx.c, a.loc.Addr, a.out)
		return
	}
	l := tx.c.List(a.loc.Loc, true)
	switch tx.cfg.Variant {
	case UnlockBeforeWriteBack:
		l.Write(at(a.loc, lockAt), zero)
		l.Post()
		tx.c.Wait()
		l = tx.c.List(a.loc.Loc, true)
		l.Write(at(a.loc, seqAt), a.out)
	case AsPublished:
		l.Write(at(a.loc, valueAt), a.out[8:])
		l.Write(at(a.loc, lockAt), zero)
	default:
		l.Write(at(a.loc, seqAt), a.out)
		l.Write(at(a.loc, lockAt), zero)
	}
	l.Post()
}

var zero = make([]byte, 8)

// writeBackByRPC sends one request per participant with all its records.
func (tx *Tx) writeBackByRPC() {
	tx.participants(toLock)
	for _, m := range tx.parts {
		req := tx.db.req[:0]
		for i := range tx.set {
			a := &tx.set[i]
			if !toLock(a) || int(a.machine) != m {
				continue
			}
			a.locked = false
			req = add64(req, uint64(a.loc.Addr)|uint64(len(a.out)-8)<<addrBits)
			req = append(req, a.out...)
			req = append(req, zero[:pad8(len(a.out))-len(a.out)]...)
		}
		req = padded(req, tx.db.costs.Payload.Commit)
		tx.db.req = req
		tx.db.sendCommit(tx.c, m, rpcCommit, req)
	}
}

// sendCommit counts commits and unlocks on their way: a drain waits for them.
func (db *DB) sendCommit(c *r2.Co, m int, rpc uint8, req []byte) {
	db.commitsOpen++
	c.Call(m, rpc, req)
}

// release gives back the locks that an aborted attempt has won, by the
// primitive that commits.
func (tx *Tx) release() {
	tx.undoEntries()
	held := false
	for i := range tx.set {
		a := &tx.set[i]
		if a.insert && a.locked {
			a.locked = false
			tx.c.Poke(a.loc.Addr+lockAt, zero)
		}
		held = held || a.locked
	}
	if !held {
		return
	}
	mode := tx.cfg.mode(metrics.Commit, tx.cfg.Commit)
	tx.enter(metrics.Lock, mode)
	if tx.cfg.Commit == TwoSided {
		tx.participants(isLocked)
		for _, m := range tx.parts {
			req := tx.db.req[:0]
			for i := range tx.set {
				if a := &tx.set[i]; a.locked && int(a.machine) == m {
					req = add64(req, uint64(a.loc.Addr))
				}
			}
			tx.db.req = req
			tx.db.sendCommit(tx.c, m, rpcUnlock, req)
		}
	} else {
		for i := range tx.set {
			a := &tx.set[i]
			switch {
			case !a.locked:
			case int(a.machine) == tx.c.Machine() && tx.cfg.Lock == TwoSided:
				tx.c.Store64(a.loc.Addr+lockAt, 0)
			default:
				l := tx.c.List(a.loc.Loc, true)
				l.Write(at(a.loc, lockAt), zero)
				l.Post()
			}
		}
	}
	if !mode.Passive {
		if err := tx.c.Wait(); err != nil {
			tx.db.cl.Fail(fmt.Errorf("txn: release of locks: %w", err))
		}
	}
	for i := range tx.set {
		tx.set[i].locked = false
	}
}

func isLocked(a *access) bool { return a.locked }

// storeRow installs a new sequence and value by CPU stores and releases the
// lock. The sequence is odd meanwhile.
func (db *DB) storeRow(c *r2.Co, row r2.Addr, out []byte) {
	switch db.cfg.Variant {
	case AsPublished:
		c.Store(row+valueAt, out[8:])
		c.Store64(row+lockAt, 0)
		return
	case UnlockBeforeWriteBack:
		c.Store64(row+lockAt, 0)
		c.Store(row+seqAt, out)
		return
	}
	seq := u64(out)
	c.Store64(row+seqAt, record.Writing(seq-2))
	c.Store(row+valueAt, out[8:])
	c.Store64(row+seqAt, seq)
	c.Store64(row+lockAt, 0)
}

// serveCommit installs the records of a participant.
func (db *DB) serveCommit(c *r2.Co, from r2.Peer, req, rep []byte) int {
	db.covered(c, db.costs.Commit)
	for len(req) >= commitHead && u64(req) != 0 {
		word := u64(req)
		n := int(word >> addrBits)
		db.storeRow(c, r2.Addr(word&addrMask), req[8:16+n])
		req = req[8+pad8(8+n):]
	}
	db.commitsOpen--
	rep[0] = replyYes
	return 1
}

// serveUnlock releases the locks of an aborted attempt.
func (db *DB) serveUnlock(c *r2.Co, from r2.Peer, req, rep []byte) int {
	for ; len(req) >= unlockItem; req = req[unlockItem:] {
		c.Store64(r2.Addr(u64(req))+lockAt, 0)
	}
	db.commitsOpen--
	rep[0] = replyYes
	return 1
}
