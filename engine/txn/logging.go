package txn

import (
	"fmt"

	"drtmx/engine/history"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
)

// The logging phase (§4.3.4). Every backup machine of a written record gets the
// whole write set in one entry of the ring that belongs to this thread in its
// memory. The transaction is committed when all of them have it. A backup
// applies the entry to its replica when it is told to reclaim the space.

// logged is the entry of the running transaction at one backup.
type logged struct {
	machine int
	pos     uint64
}

// planLog numbers the log entry, finds the backups and refuses what does not
// fit, before anything is locked.
func (tx *Tx) planLog() error {
	tx.logs = tx.logs[:0]
	if tx.cfg.Replicas == 1 {
		return nil
	}
	tx.th.number++
	tx.logged = tx.th.number
	if n, most := tx.entryBytes(), tx.maxEntry(); n > most {
		return tx.fail(fmt.Errorf("write set takes a log entry of %d bytes, at most %d can be sent: split the transaction", n, most))
	}
	for i := range tx.set {
		if a := &tx.set[i]; a.out != nil {
			for _, b := range tx.db.backups[a.machine] {
				tx.logAt(b)
			}
		}
	}
	return nil
}

// maxEntry is the largest log entry that a ring takes and a message carries.
func (tx *Tx) maxEntry() int {
	room := tx.db.cl.MaxWrite()
	if tx.cfg.Logging == TwoSided {
		room = tx.db.maxPayload - logHead
	}
	return min(record.MaxEntryBytes, room)
}

// logAt adds a backup, once.
func (tx *Tx) logAt(m int) {
	for i := range tx.logs {
		if tx.logs[i].machine == m {
			return
		}
	}
	tx.logs = append(tx.logs, logged{machine: m})
}

// entryBytes is the size of the log entry.
func (tx *Tx) entryBytes() int {
	bytes := 0
	for i := range tx.set {
		if a := &tx.set[i]; a.out != nil {
			bytes += record.UpdateBytes(len(a.out) - 8)
		}
	}
	return max(record.EntryBytes(bytes), pad8(tx.db.costs.Payload.Logging))
}

func (tx *Tx) logID() record.TxnID { return record.TxnID{Owner: tx.th.owner(tx.c), Number: tx.logged} }

// entry is the log entry, valid until the next wait: all transactions encode
// theirs in one place, again if another one came between.
func (tx *Tx) entry() []byte {
	db, id := tx.db, tx.logID()
	if db.logged == id && len(db.entry) > 0 {
		return db.entry
	}
	w := record.BeginEntry(db.entry[:record.MaxEntryBytes], id)
	for i := range tx.set {
		a := &tx.set[i]
		if a.out == nil {
			continue
		}
		u := record.Update{Table: a.table.id, Key: a.key, New: u64(a.out), Value: a.out[8:]}
		if err := w.Add(u); err != nil {
			panic(fmt.Sprintf("txn: planned log entry: %v", err))
		}
	}
	w.Pad(db.costs.Payload.Logging)
	db.entry, db.logged = w.End(), id
	return db.entry
}

// log writes the entry to the backups and waits for all of them.
func (tx *Tx) log() error {
	if len(tx.logs) == 0 {
		return nil
	}
	mode := tx.cfg.mode(metrics.Logging, tx.cfg.Logging)
	tx.enter(metrics.Logging, mode)
	tx.c.Compute(tx.db.program.logging + tx.db.program.loggingRecord*tx.writes)
	for i := range tx.logs {
		tx.c.AheadPost(tx.logs[i].machine)
	}
	tx.reserveAll()
	for i := range tx.logs {
		g := &tx.logs[i]
		switch entry := tx.cut(tx.entry()); {
		case g.machine == tx.c.Machine():
			own := tx.mem.take(len(entry)) // a store waits for the core's local time
			copy(own, entry)
			tx.c.Store(tx.db.ringLoc(g.machine, tx.th, g.pos).Addr, own)
		case tx.cfg.Logging == TwoSided:
			tx.db.req = append(add64(tx.db.req[:0], g.pos), entry...)
			tx.c.Call(g.machine, rpcLog, tx.db.req)
		default:
			tx.c.Write(tx.db.ringLoc(g.machine, tx.th, g.pos), entry)
		}
	}
	if err := tx.c.Wait(); err != nil {
		return tx.fail(err)
	}
	return nil
}

// cut is what is sent of a log entry: all of it, but for two of the planted faults.
func (tx *Tx) cut(entry []byte) []byte {
	if v := tx.cfg.Variant; v != CutLog && v != CutLogAccepted {
		return entry
	}
	return entry[:max(len(entry)-record.LineBytes, header)]
}

// openEntry is record.OpenEntry, but for the planted fault that looks at the front of
// an entry alone.
func (db *DB) openEntry(b []byte) (record.Entry, error) {
	if db.cfg.Variant == CutLogAccepted && len(b) > header {
		size, number := u64(b)&(1<<32-1), u64(b[8:])<<32
		b = append([]byte(nil), b...)
		if size >= 8 && size <= uint64(len(b)) {
			put64(b[size-8:], size|number)
		}
	}
	return record.OpenEntry(b)
}

// reserveAll finds room at all backups, in the order of their numbers: who waits
// for one ring holds room only in rings before it, so coroutines of a thread
// cannot wait for each other in a circle.
func (tx *Tx) reserveAll() {
	for done := -1; ; {
		var next *logged
		for i := range tx.logs {
			if g := &tx.logs[i]; g.machine > done && (next == nil || g.machine < next.machine) {
				next = g
			}
		}
		if next == nil {
			return
		}
		tx.reserve(next)
		done = next.machine
	}
}

// reserve finds room in the ring at a backup. A full ring waits for reclaims;
// the backup's worker applies entries whatever this coroutine holds, so the
// wait ends.
func (tx *Tx) reserve(g *logged) {
	ring := &tx.th.rings[g.machine]
	for {
		pos, ok := ring.Reserve(tx.entryBytes())
		if ok {
			g.pos = pos
			tx.db.logsOpen++
			return
		}
		tx.db.ringFull++
		tx.c.Sleep(r2.Time(tx.db.ringFullNS) * nanosecond)
	}
}

const defaultRingFullNS = 2_000 // between two looks at a full ring

// reclaim tells the backups to apply the entries: one message each, nobody
// waits. The receipt gives the space in the ring back.
func (tx *Tx) reclaim() {
	if len(tx.logs) == 0 {
		return
	}
	tx.enter(metrics.Reclaim, r2.Mode{Outstanding: true, Doorbell: true, Passive: true})
	for i := range tx.logs {
		tx.c.AheadCall(tx.logs[i].machine)
	}
	for i := range tx.logs {
		tx.c.AheadRequest(tx.logs[i].machine)
	}
	for i := range tx.logs {
		g := &tx.logs[i]
		tx.db.req = add64(tx.db.req[:0], g.pos<<16|uint64(tx.entryBytes()))
		tx.c.Call(g.machine, rpcReclaim, tx.db.req)
	}
}

// reclaimed is the receipt of a reclaim.
func (db *DB) reclaimed(m, thread, to int, req []byte) {
	if !db.threads[m][thread].rings[to].Release(u64(req) >> 16) {
		db.cl.Fail(fmt.Errorf("txn: machine %d thread %d got the receipt of a log entry at machine %d that is not open", m, thread, to))
	}
	db.logsOpen--
}

// serveLog copies an entry into the ring, as a WRITE would have.
func (db *DB) serveLog(c *r2.Co, from r2.Peer, req, rep []byte) int {
	db.covered(c, db.costs.Logging)
	c.Store(db.ringAddr(c.Machine(), from.Machine, from.Thread, u64(req)), req[logHead:])
	rep[0] = replyYes
	return 1
}

// serveReclaim applies an entry to the replica. Reclaims of one record may come
// from several machines in any order: an older version never overwrites a newer.
// Nobody else touches the entry or these rows but the machine's own handlers,
// and among them order makes no difference, so nothing here waits for the core's
// local time.
func (db *DB) serveReclaim(c *r2.Co, from r2.Peer, req, rep []byte) int {
	word := u64(req)
	a := db.ringAddr(c.Machine(), from.Machine, from.Thread, word>>16)
	e, err := db.openEntry(c.Peek(a, int(word&0xffff)))
	if err != nil {
		db.note(history.Anomaly{Kind: LogMissing, Text: fmt.Sprintf("machine %d is to apply a log entry of machine %d thread %d: %v", c.Machine(), from.Machine, from.Thread, err)})
		return 0
	}
	c.Compute(db.program.reclaim)
	db.aheadRows(c.Machine(), e)
	for u, ok := e.Next(); ok; u, ok = e.Next() {
		c.Compute(db.program.reclaimRecord)
		row, ok := db.tables[u.Table].store.BackupAddr(c, c.Machine(), u.Key)
		if !ok || u64(c.Peek(row+seqAt, 8)) > u.New {
			continue
		}
		c.Poke(row+valueAt, u.Value)
		put64(db.seqBuf[:], u.New)
		c.Poke(row+seqAt, db.seqBuf[:])
	}
	return 0
}
