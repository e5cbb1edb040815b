package txn

import (
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
)

// The validation phase (§4.3.2): lock the records of the write set and check
// that their versions are those that were read, then check the versions of the
// rest of the read set. The second must not begin before the first is done.

// lock locks the write set and compares versions in the same round trip.
func (tx *Tx) lock() error {
	mode := tx.cfg.mode(metrics.Lock, tx.cfg.Lock)
	tx.enter(metrics.Lock, mode)
	tx.c.Compute(tx.db.program.lock + tx.db.program.lockRecord*tx.writes)
	tx.countLocks()
	var err error
	if tx.cfg.Lock == TwoSided {
		err = tx.lockByRPC(mode)
	} else {
		err = tx.lockByRNIC(mode)
	}
	if err == nil {
		tx.lockInserts()
	}
	return tx.failed
}

// countLocks counts the records to lock, for the Auto rule.
func (tx *Tx) countLocks() {
	n := &tx.db.locks
	for i := range tx.set {
		if a := &tx.set[i]; toLock(a) {
			n.All++
			if int(a.machine) == tx.c.Machine() {
				n.Local++
			}
		}
	}
}

// lockInserts locks the records that the transaction inserts, for readers to see
// that somebody is at it. Nobody else can be about to write them, so the CPU
// stores the lock word even where the RNIC locks. For the same reason it need not
// wait for the core's local time, here and in writeBackInserts: a reader finds the
// record locked, or sees all of it, a little earlier than it would.
func (tx *Tx) lockInserts() {
	if tx.cfg.Variant == InsertNotLocked {
		return
	}
	word := tx.db.seqBuf[:]
	put64(word, tx.th.owner(tx.c).LockWord())
	for i := range tx.set {
		a := &tx.set[i]
		if !inserted(a) {
			continue
		}
		head := tx.c.Peek(a.loc.Addr, header)
		if (record.Lock(head) != 0 || record.Seq(head) != a.seq) && tx.cfg.Variant != IgnoreAborts {
			tx.met(a, 0)
			tx.fail(errAborted)
			return
		}
		tx.c.Poke(a.loc.Addr+lockAt, word)
		a.locked = true
	}
}

// lockByRNIC posts {CAS lock, READ header} per record. They execute in order,
// so the version read is that of the locked record and cannot change any more.
// The own machine's records are locked through the RNIC too: its atomics are
// not atomic with the CPU's.
func (tx *Tx) lockByRNIC(mode r2.Mode) error {
	word := tx.th.owner(tx.c).LockWord()
	tx.aheadPosts()
	for i := range tx.set {
		a := &tx.set[i]
		if !toLock(a) {
			continue
		}
		l := tx.c.List(a.loc.Loc, true)
		if tx.cfg.Variant == CASIgnoresExpected {
			a.word = nil
			put64(tx.db.seqBuf[:], word)
			l.Write(at(a.loc, lockAt), tx.db.seqBuf[:])
		} else {
			a.word = (*[8]byte)(l.CAS(at(a.loc, lockAt), 0, word).B)
		}
		head := l.Read(a.loc.Loc, header)
		a.head, a.buf, a.served = (*[header]byte)(head.B), head.Addr, true
		l.Post()
		if !mode.Outstanding && !tx.won(a) && tx.cfg.Variant != IgnoreAborts {
			break // no use in trying the others
		}
	}
	err := tx.c.Wait()
	for i := range tx.set {
		if a := &tx.set[i]; a.served {
			a.served = false
			tx.c.Brought(a.buf, header) // what CAS found is beside it
			a.locked = tx.won(a)
			if !a.locked || tx.cfg.Variant != SkipVersionCheck && record.Seq(a.head[:]) != a.seq {
				tx.met(a, 0)
				tx.conflict()
			}
			a.locked = a.locked || tx.cfg.Variant == UnlockNotWon
		}
	}
	if err != nil {
		tx.fail(err)
	}
	return tx.failed
}

// won reports whether the CAS found the lock free.
func (tx *Tx) won(a *access) bool {
	return a.word == nil || u64(a.word[:]) == 0
}

// lockByRPC sends one request per participant with all its records. The
// participant locks all or none.
func (tx *Tx) lockByRPC(mode r2.Mode) error {
	tx.participants(toLock)
	n := 0
	for _, m := range tx.parts {
		items, _ := tx.verifyItems(m, toLock, 0) // fits has seen to it that one message does
		tx.calls[n] = tx.c.Call(m, rpcLock, items)
		n++
		if !mode.Outstanding && !saysYes(tx.calls[n-1]) && tx.cfg.Variant != IgnoreAborts {
			break
		}
	}
	if err := tx.c.Wait(); err != nil {
		tx.fail(err)
	}
	for k := range n {
		if !saysYes(tx.calls[k]) {
			tx.conflict()
			continue
		}
		for i := range tx.set {
			if a := &tx.set[i]; toLock(a) && int(a.machine) == tx.parts[k] {
				a.locked = true
			}
		}
	}
	return tx.failed
}

func saysYes(r *r2.Reply) bool { return len(r.B) == 1 && r.B[0] == replyYes }

// validate checks that the records that were only read have kept their version
// and nobody has locked them.
func (tx *Tx) validate(phase metrics.Phase, prim Prim) error {
	n := tx.count(readOnlySet)
	if n == 0 || tx.cfg.Variant == SkipVersionCheck {
		return nil
	}
	tx.enter(phase, tx.cfg.mode(phase, prim))
	tx.c.Compute(tx.db.program.validation + tx.db.program.validationRec*n)
	if prim == TwoSided {
		return tx.validateByRPC()
	}
	for i := range tx.set {
		a := &tx.set[i]
		switch {
		case !readOnlySet(a):
		case int(a.machine) == tx.c.Machine():
			a.head = (*[header]byte)(tx.mem.take(header))
			copy(a.head[:], tx.c.Load(a.loc.Addr, header))
		default:
			b := tx.c.Read(a.loc.Loc, header)
			a.head, a.buf = (*[header]byte)(b.B), b.Addr
		}
	}
	if err := tx.c.Wait(); err != nil {
		return tx.fail(err)
	}
	for i := range tx.set {
		a := &tx.set[i]
		if !readOnlySet(a) {
			continue
		}
		if int(a.machine) != tx.c.Machine() {
			tx.c.Brought(a.buf, header)
		}
		if tx.cfg.changed(a.head[:], a.seq) {
			tx.met(a, 0)
			return tx.conflict()
		}
	}
	return nil
}

// changed says of a row's header that somebody holds the record or has overwritten
// the version that was read.
func (c *Config) changed(head []byte, seq uint64) bool {
	held := record.Lock(head) != 0 && c.Variant != IgnoreLockWord
	return held || record.Seq(head) != seq
}

// conflict ends the attempt: somebody else was at a record.
func (tx *Tx) conflict() error {
	if tx.cfg.Variant == IgnoreAborts {
		return tx.failed
	}
	return tx.fail(errAborted)
}

func (tx *Tx) validateByRPC() error {
	tx.participants(readOnlySet)
	calls := tx.calls[:0]
	for _, m := range tx.parts {
		for next := 0; next < len(tx.set); {
			var items []byte
			if items, next = tx.verifyItems(m, readOnlySet, next); len(items) > 0 {
				calls = append(calls, tx.c.Call(m, rpcValidate, items))
			}
		}
	}
	tx.calls = calls
	if err := tx.c.Wait(); err != nil {
		return tx.fail(err)
	}
	for _, rep := range calls {
		if !saysYes(rep) {
			return tx.conflict()
		}
	}
	return nil
}

// alreadyConsistent reports whether a transaction without writes saw one
// moment without validation: when it read one record, in one piece (§4.3.5).
func (tx *Tx) alreadyConsistent() bool {
	n := 0
	for i := range tx.set {
		if a := &tx.set[i]; a.state == fetched && !a.table.constant {
			n++
			if !a.direct {
				return false
			}
		}
	}
	return n <= 1
}

func inWriteSet(a *access) bool  { return a.out != nil }
func toLock(a *access) bool      { return a.out != nil && !a.insert }
func inserted(a *access) bool    { return a.out != nil && a.insert } // what was only announced is read
func readOnlySet(a *access) bool { return a.out == nil && a.state == fetched && !a.table.constant }

func (tx *Tx) count(of func(*access) bool) (n int) {
	for i := range tx.set {
		if of(&tx.set[i]) {
			n++
		}
	}
	return n
}

// participants lists the primaries of some of the records, each once, in the
// order of the set.
func (tx *Tx) participants(of func(*access) bool) {
	tx.parts = tx.parts[:0]
	for i := range tx.set {
		if of(&tx.set[i]) {
			tx.parts = addOnce(tx.parts, int(tx.set[i].machine))
		}
	}
	for len(tx.calls) < len(tx.parts) {
		tx.calls = append(tx.calls, nil)
	}
}

func addOnce(list []int, m int) []int {
	for _, x := range list {
		if x == m {
			return list
		}
	}
	return append(list, m)
}

// verifyItems builds the request of lock and validate: of the records of the set
// from index from on, as many as a message carries. next is where it ended.
func (tx *Tx) verifyItems(m int, of func(*access) bool, from int) (req []byte, next int) {
	req = tx.db.req[:0]
	for next = from; next < len(tx.set) && len(req)+verifyItem <= tx.db.maxPayload; next++ {
		if a := &tx.set[next]; int(a.machine) == m && of(a) {
			req = add64(add64(req, uint64(a.loc.Addr)), a.seq)
		}
	}
	if len(req) > 0 {
		req = padded(req, tx.db.costs.Payload.Validation)
	}
	tx.db.req = req
	return req, next
}

// unpadded is the items of such a request: no record has address 0.
func unpadded(req []byte) []byte {
	n := 0
	for n+verifyItem <= len(req) && u64(req[n:]) != 0 {
		n += verifyItem
	}
	return req[:n]
}

// serveLock locks the records by CPU compare-and-swap and then reads their
// versions; on a conflict it releases what it has locked.
func (db *DB) serveLock(c *r2.Co, from r2.Peer, req, rep []byte) int {
	db.covered(c, db.costs.Validation)
	word := ownerOf(from).LockWord()
	variant := db.cfg.Variant
	req = unpadded(req)
	rep[0] = replyYes
	got := 0
	for ; got < len(req) && rep[0] == replyYes; got += verifyItem {
		addr, seq := r2.Addr(u64(req[got:])), u64(req[got+8:])
		prev := c.LocalCAS(addr+lockAt, 0, word)
		if prev != 0 {
			if variant != CASIgnoresExpected {
				rep[0] = replyNo
				db.metBy(from, c.Machine(), addr)
				break
			}
			c.Store64(addr+lockAt, word)
		}
		if now := c.Load64(addr + seqAt); now != seq && variant != SkipVersionCheck {
			rep[0] = replyNo
			db.metBy(from, c.Machine(), addr)
		}
	}
	if rep[0] == replyYes {
		return 1
	}
	if variant == UnlockNotWon {
		got = len(req)
	}
	for i := 0; i < got; i += verifyItem {
		c.Store64(r2.Addr(u64(req[i:]))+lockAt, 0)
	}
	return 1
}

// serveValidate compares versions.
func (db *DB) serveValidate(c *r2.Co, from r2.Peer, req, rep []byte) int {
	db.covered(c, db.costs.Validation)
	rep[0] = replyYes
	for req = unpadded(req); len(req) > 0; req = req[verifyItem:] {
		head := c.Load(r2.Addr(u64(req)), header)
		if db.cfg.changed(head, u64(req[8:])) {
			rep[0] = replyNo
			db.metBy(from, c.Machine(), r2.Addr(u64(req)))
			break
		}
	}
	return 1
}
