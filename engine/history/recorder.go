package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Options of a Recorder. The zero value checks everything against strict
// serialisability.
type Options struct {
	// Mode: Full (default) checks every access, Sampled only those to one key in
	// SampleEvery (default 16), at a fraction of the cost.
	Mode        Mode
	SampleEvery uint64

	// Claim is what the protocol promises; default StrictSerializable. Anomalies
	// that it allows are reported and leave the report OK.
	Claim Claim

	// Writers is what it promises to read-write transactions among one another; default Claim. It is
	// stronger where those that only read have a snapshot: what runs through one is held against Claim.
	Writers Claim

	// Window (ps, default 20 us) is how much history is kept behind the oldest
	// active transaction. It has to cover how far the clocks of cores may be ahead
	// of one another; more of it costs memory and names cycles instead of stale reads.
	Window int64

	// Capacity (default 1<<20) bounds the transactions in the window. A session
	// that never ends holds it open; beyond the capacity such sessions are no
	// longer waited for, and the report says Overflowed and is Incomplete. Where snapshots are read,
	// the window has room for what they may miss too, see Recorder.Needs: about 200 bytes for a
	// transaction of a few records.
	Capacity int

	// Keys (default 4<<20) bounds the records whose last version is remembered.
	// Beyond it those not touched lately are forgotten: a stale read of one of them
	// passes unseen.
	Keys int

	// Initial is the version of a record that no transaction has written yet. With
	// 0 it is, for each record, the oldest version seen. With another value the insert
	// of a record (over version 0) has to be added before the transactions that read it.
	Initial uint64

	Anomalies int                // reported with text and cycle at most; default 16
	KeyName   func(Key) string   // for texts; default Key.String
	TypeName  func(uint8) string // for texts; default none
}

// idle marks a session without an active attempt.
const idle = math.MaxInt64

// newTxns is the least number of new transactions worth a check: enough to make
// what is kept from the last check cheap, few enough for the caches.
const newTxns = 4096

// abortsKept bounds the remembered installs of attempts that did not commit.
const abortsKept = 4096

// Recorder takes in the history of a run and checks it as it grows.
type Recorder struct {
	opt  Options
	keys keyTable

	// Two windows take turns: a check moves what must stay from one to the other.
	now, spare window
	graph      graph
	segment    int // new transactions worth a check
	limit      int // transactions in the window at which it is checked

	active []int64 // per session: begin of the active attempt
	stuck  []bool  // per session: no longer waited for
	nStuck int
	begun  bool  // Begin is in use
	forgot bool  // keys were dropped
	newest int64 // latest time seen
	fresh  int   // transactions added since the last check
	round  uint32
	purged uint32 // round of the last forgetting

	source     func()                  // of what is not added yet; nil: there is none
	held       bool                    // no check yet, see Hold
	needed     func(stamp uint64) bool // nil: there are no snapshots
	lackLess   string                  // what to do where they lack too much
	unheld     bool                    // no longer asked
	hash       uint64
	stale      uint64 // snapshots older than their begin
	seen       uint64
	checked    uint64
	count      uint64
	broken     bool
	overflowed bool
	anomalies  []Anomaly
}

// New starts a recorder.
func New(o Options) *Recorder {
	if o.Mode == "" {
		o.Mode = Full
	}
	if o.Claim == "" {
		o.Claim = StrictSerializable
	}
	if o.Writers == "" {
		o.Writers = o.Claim
	}
	if o.SampleEvery == 0 {
		o.SampleEvery = 16
	}
	if o.Window == 0 {
		o.Window = 20_000_000
	}
	if o.Capacity == 0 {
		o.Capacity = 1 << 20
	}
	if o.Keys == 0 {
		o.Keys = 4 << 20
	}
	if o.Anomalies == 0 {
		o.Anomalies = 16
	}
	if o.KeyName == nil {
		o.KeyName = Key.String
	}
	return &Recorder{opt: o, keys: newKeyTable(), segment: newTxns, limit: newTxns}
}

// Begin says that a session starts an attempt at time at. Every attempt has one;
// its Add or End ends it. It is what makes the window safe: an attempt that has
// begun and is not recorded yet holds back everything it may still depend on.
func (r *Recorder) Begin(session uint32, at int64) {
	if r.opt.Mode == Off {
		return
	}
	for int(session) >= len(r.active) {
		r.active = append(r.active, idle)
		r.stuck = append(r.stuck, false)
	}
	r.leave(session)
	r.begun = true
	r.active[session] = at
	r.newest = max(r.newest, at)
}

// End says that a session's attempt is over and there is nothing to record.
func (r *Recorder) End(session uint32) {
	if r.opt.Mode != Off {
		r.leave(session)
	}
}

func (r *Recorder) leave(session uint32) {
	if int(session) >= len(r.active) {
		return
	}
	r.active[session] = idle
	if r.stuck[session] {
		r.stuck[session] = false
		r.nStuck--
	}
}

// Add records a finished attempt; t and its slices may be reused afterwards. A
// committed one is recorded before another transaction can see what it wrote, or
// its session is still between Begin and Add when that happens.
func (r *Recorder) Add(t *Txn) {
	if t.Status == Committed {
		r.seen++
	}
	if r.opt.Mode == Off {
		return
	}
	r.fold(t)
	r.newest = max(r.newest, t.End)
	if t.Status != Committed {
		r.addAbort(t)
	} else if r.insert(t) {
		r.checked++
		r.fresh++
		r.checkIfDue()
	}
	r.leave(t.Session)
}

func (r *Recorder) checkIfDue() {
	if !r.held && len(r.now.txns) >= r.limit {
		r.check(r.horizon(), r.begun)
	}
}

// Source says who adds what has happened and is not added yet: it is called before anything is said of all that has.
func (r *Recorder) Source(f func()) { r.source = f }

func (r *Recorder) pull() {
	if r.source != nil {
		r.source()
	}
}

// Hold says that what follows until Release happened before now. Which stamps snapshots may lack is asked as of now, when those that
// follow may have ended: so nothing is checked before Release.
func (r *Recorder) Hold() { r.held = r.needed != nil }

// Release ends that.
func (r *Recorder) Release() {
	r.held = false
	r.checkIfDue()
}

// Hash is over all attempts that were added, in their order; 0 before the first and of a nil
// recorder.
func (r *Recorder) Hash() uint64 {
	if r == nil {
		return 0
	}
	r.pull()
	return r.hash
}

func (r *Recorder) fold(t *Txn) {
	const prime = 0x9e3779b97f4a7c15
	h := r.hash
	add := func(x uint64) {
		h = (h ^ x) * prime
		h ^= h >> 29
	}
	if t.Level != LevelStrict || t.Stamp != 0 {
		add(uint64(t.Level))
		add(t.Stamp)
	}
	add(uint64(t.Type)<<40 | uint64(t.Status)<<32 | uint64(t.Session))
	add(uint64(t.Begin))
	add(uint64(t.End))
	for i, x := range t.Reads {
		add(uint64(x.Key))
		add(x.Version)
		add(sumAt(t.ReadSums, i))
	}
	for i, x := range t.Writes {
		add(uint64(x.Key))
		add(x.Old)
		add(x.New)
		add(sumAt(t.WriteSums, i))
	}
	r.hash = max(h, 1)
}

// Wants says that accesses to k are checked: the caller may spare itself the sum
// of its value otherwise.
func (r *Recorder) Wants(k Key) bool { return r.opt.Mode != Off && r.keep(k) }

func (r *Recorder) keep(k Key) bool {
	return r.opt.Mode == Full || sampled(k, r.opt.SampleEvery)
}

// insert puts a committed transaction into the window, unless it touched no key
// that is checked.
func (r *Recorder) insert(t *Txn) bool {
	w := &r.now
	first := int32(len(w.accs))
	w.txns = append(w.txns, node{id: t.ID, begin: t.Begin, end: t.End, first: first, last: first, stamp: t.Stamp, typ: t.Type, level: t.Level})
	touched := false
	for i := range t.Reads {
		if a := &t.Reads[i]; r.keep(a.Key) {
			touched = true
			r.read(r.key(a.Key), a.Version, sumAt(t.ReadSums, i))
		}
	}
	for i := range t.Writes {
		if a := &t.Writes[i]; r.keep(a.Key) {
			touched = true
			r.write(r.key(a.Key), a.Old, a.New, sumAt(t.WriteSums, i))
		}
	}
	switch {
	case !touched:
		w.txns = w.txns[:len(w.txns)-1]
	case t.Level == LevelFresh:
		w.fresh++
	}
	return touched
}

// sumAt is the i-th of the sums, 0 if there are none.
func sumAt(sums []uint64, i int) uint64 {
	if sums == nil {
		return 0
	}
	return sums[i]
}

// key is the state of k, marked as touched now.
func (r *Recorder) key(k Key) int32 {
	i := r.keys.find(k)
	r.keys.states[i].round = r.round
	return i
}

// adoptBase makes seq the base of a record without one, if it can be its initial
// version without looking further.
func (r *Recorder) adoptBase(ks *keyState, seq uint64) {
	if !ks.hasBase() && r.opt.Initial != 0 && !r.forgot && (seq == r.opt.Initial || seq == 0) {
		ks.base, ks.baseEnd = seq, unborn
	}
}

// read makes the newest transaction a reader.
func (r *Recorder) read(key int32, seq, sum uint64) {
	w, ks := &r.now, &r.keys.states[key]
	r.adoptBase(ks, seq)
	if ks.hasBase() && seq < ks.base {
		r.noteStale(ks, seq, false)
		return
	}
	v := w.find(ks, key, seq)
	if w.versions[v].flags&intermediate != 0 {
		r.noteIntermediate(v, int32(len(w.txns)-1))
	}
	w.addRead(v)
	if w.say(ks, v, sum) {
		r.noteWrongValue(v)
	}
}

// write makes the newest transaction a writer, and reports what one look at the
// versions before and after shows.
func (r *Recorder) write(key int32, old, seq, sum uint64) {
	w, ks := &r.now, &r.keys.states[key]
	t := int32(len(w.txns) - 1)
	r.adoptBase(ks, old)
	if seq <= old {
		r.noteNotAdvanced(ks, old, seq)
		return
	}
	if ks.hasBase() && old < ks.base {
		r.noteStale(ks, old, true)
	}
	if ks.hasBase() && seq == ks.base {
		r.noteDuplicateBase(ks)
	}
	if ks.hasBase() && seq <= ks.base {
		return
	}
	o := none
	if !ks.hasBase() || old >= ks.base {
		o = w.find(ks, key, old)
	}
	v := w.find(ks, key, seq)
	if by := w.versions[v].writer; by != none {
		r.noteDuplicate(v, by, t)
	}
	if o != none {
		if by := w.versions[o].over; by != none {
			r.noteLostUpdate(o, by, t, seq)
		}
	}
	w.addWrite(v, o)
	if w.say(ks, v, sum) {
		r.noteWrongValue(v)
	}
	for _, i := range [2]int32{v, o} {
		if i == none || w.versions[i].flags&intermediate == 0 {
			continue
		}
		for a := w.versions[i].readers; a != none; a = w.accs[a].other {
			if rd := w.accs[a].txn; rd != t {
				r.noteIntermediate(i, rd)
			}
		}
	}
}

// addAbort remembers what an attempt that did not commit left in records.
func (r *Recorder) addAbort(t *Txn) {
	for i := range t.Writes {
		a := &t.Writes[i]
		if !r.keep(a.Key) || a.New <= a.Old {
			continue
		}
		key := r.key(a.Key)
		r.adoptBase(&r.keys.states[key], a.Old)
		r.insertAbort(abort{id: t.ID, key: key, seq: a.New})
	}
}

func (r *Recorder) insertAbort(a abort) {
	w, ks := &r.now, &r.keys.states[a.key]
	if (ks.hasBase() && a.seq <= ks.base) || len(w.aborts) == abortsKept {
		return
	}
	a.version = w.find(ks, a.key, a.seq)
	w.versions[a.version].flags |= isAborted
	w.aborts = append(w.aborts, a)
}

// horizon is the earliest time at which an attempt may have begun that is not
// recorded yet, as far as clocks agree within the window.
func (r *Recorder) horizon() int64 {
	h := r.newest - r.opt.Window
	for s, at := range r.active {
		if !r.stuck[s] {
			h = min(h, at)
		}
	}
	return h
}

// check looks for anomalies in the window and then drops every transaction that
// ended before the horizon and that none of those that stay has to precede.
// Final says that all attempts that began before the horizon are recorded.
func (r *Recorder) check(horizon int64, final bool) {
	r.look(horizon, final)
	r.graph.hold(&r.now)
	r.turn()
	if len(r.now.txns) > r.opt.Capacity {
		r.overflow()
	}
	if len(r.keys.states) > r.opt.Keys {
		r.forget()
	}
	if r.limit != math.MaxInt {
		r.limit = max(len(r.now.txns)+r.segment, 3*len(r.now.txns))
	}
	r.fresh = 0
	r.round++
}

// look looks for anomalies in the window.
func (r *Recorder) look(horizon int64, final bool) {
	w, g := &r.now, &r.graph
	for t := range w.txns {
		n := &w.txns[t]
		n.held = n.end >= horizon || n.stamp != 0 && r.missable(n.stamp)
	}
	r.decide(horizon, final)
	g.walk(w, LevelStrict)
	for _, c := range g.cycles {
		r.explainCycle(g.order[c[0]:c[1]])
	}
	for _, t := range g.misfits {
		r.explainMisfit(t, LevelStrict)
	}
	if w.fresh == 0 {
		return
	}
	if !r.opt.Writers.orders() {
		for t := range w.txns {
			if w.txns[t].level == LevelFresh && w.lacks(int32(t)) {
				r.explainMisfit(int32(t), LevelStrict)
			}
		}
		return
	}
	g.walk(w, LevelFresh)
	for _, t := range g.misfits {
		r.explainMisfit(t, LevelFresh)
	}
}

// missable says that a snapshot which is not recorded yet may lack what was written with a stamp.
func (r *Recorder) missable(stamp uint64) bool {
	return r.needed != nil && !r.unheld && r.needed(stamp)
}

// decide looks at the versions that were touched but not installed. One of them
// per record may be the initial version; of the others it is unknown where they
// come from, once every attempt is recorded that can have installed them.
func (r *Recorder) decide(horizon int64, final bool) {
	w := &r.now
	for _, n := range w.open {
		v := &w.versions[n]
		if v.installed() {
			continue
		}
		t, wrote := w.firstToucher(n)
		if t == none || w.txns[t].end >= horizon {
			continue
		}
		if !final && !r.overflowed {
			w.holdTouchers(n)
			continue
		}
		ks := &r.keys.states[v.key]
		oldest := !ks.hasBase() && v.older == none && v.flags&isAborted == 0
		unsure := r.nStuck > 0 || !final
		if oldest && (r.opt.Initial == 0 || r.forgot || unsure) {
			ks.base, ks.baseEnd, ks.baseSum = v.seq, unborn, v.sum
		} else if !unsure && w.txns[t].reported&toldOrigin == 0 {
			w.txns[t].reported |= toldOrigin
			r.noteUnknown(n, t, wrote)
		}
		v.flags |= isBase
	}
}

// turn moves what must stay to the other window.
func (r *Recorder) turn() {
	old := &r.now
	for i := range old.versions {
		r.keys.states[old.versions[i].key].newest = none
	}
	for t := range old.txns {
		n := &old.txns[t]
		if n.held {
			continue
		}
		for _, a := range old.accs[n.first:n.last] {
			if !a.write {
				continue
			}
			v := &old.versions[a.version]
			if ks := &r.keys.states[v.key]; !ks.hasBase() || v.seq > ks.base {
				ks.base, ks.baseEnd, ks.baseID, ks.baseSum = v.seq, n.end, n.id, v.sum
			}
		}
	}
	r.passedBy()
	r.now, r.spare = r.spare, r.now
	w, old := &r.now, &r.spare
	w.reset()
	for t := range old.txns {
		if old.txns[t].held {
			r.move(&old.txns[t])
		}
	}
	for _, a := range old.aborts {
		r.insertAbort(a)
	}
}

// passedBy looks at the versions that were never installed and that are older than one which is about
// to leave the window. They never will be: a transaction that overwrote such a version would have to follow those that
// read it, and have stayed with them. It is the last chance, for they are left out of the next window.
func (r *Recorder) passedBy() {
	w := &r.now
	if r.nStuck > 0 {
		return
	}
	for _, n := range w.open {
		v := &w.versions[n]
		ks := &r.keys.states[v.key]
		if v.installed() || !ks.hasBase() || ks.baseEnd == unborn || v.seq >= ks.base {
			continue
		}
		if t, wrote := w.firstToucher(n); t != none && w.txns[t].reported&toldOrigin == 0 {
			w.txns[t].reported |= toldOrigin
			r.noteUnknown(n, t, wrote)
		}
	}
}

// move puts a transaction of the spare window into the other one. What is wrong
// with it was noted when it first came.
func (r *Recorder) move(n *node) {
	w, old := &r.now, &r.spare
	first := int32(len(w.accs))
	w.txns = append(w.txns, *n)
	if n.level == LevelFresh {
		w.fresh++
	}
	t := &w.txns[len(w.txns)-1]
	t.first, t.last = first, first
	for _, a := range old.accs[n.first:n.last] {
		from := &old.versions[a.version]
		ks := &r.keys.states[from.key]
		if !a.write {
			if !ks.hasBase() || from.seq >= ks.base {
				w.addRead(w.findFrom(ks, from))
			}
			continue
		}
		if ks.hasBase() && from.seq <= ks.base {
			continue
		}
		o := none
		if a.other != none {
			if was := &old.versions[a.other]; !ks.hasBase() || was.seq >= ks.base {
				o = w.findFrom(ks, was)
			}
		}
		w.addWrite(w.findFrom(ks, from), o)
	}
}

// overflow stops waiting for sessions that hold the window open for too long, and for snapshots where half of it
// is what they may lack.
func (r *Recorder) overflow() {
	r.overflowed = true
	missable := 0
	for t := range r.now.txns {
		if s := r.now.txns[t].stamp; s != 0 && r.missable(s) {
			missable++
		}
	}
	if missable > r.opt.Capacity/2 {
		r.unheld = true
		return
	}
	for s, at := range r.active {
		if at < r.newest-r.opt.Window && !r.stuck[s] {
			r.stuck[s] = true
			r.nStuck++
		}
	}
}

// forget drops the records that were not touched in the younger half of the
// time since it was last called.
func (r *Recorder) forget() {
	r.forgot = true
	since := r.purged + (r.round-r.purged)/2
	r.purged = r.round
	moved := r.keys.forget(func(ks *keyState) bool { return ks.round > since || ks.newest != none })
	for i := range r.now.versions {
		v := &r.now.versions[i]
		v.key = moved[v.key]
	}
	for i := range r.now.aborts {
		a := &r.now.aborts[i]
		a.key = moved[a.key]
	}
}

// Needs says which stamps of committed transactions some snapshot that is not recorded yet may lack: they stay in
// the window. A snapshot that reads what only a transaction overwrote of which that was denied is VersionLost. Nil:
// there are no snapshots. lackLess says what to do where the window has no room for all that they may lack.
func (r *Recorder) Needs(f func(stamp uint64) bool, lackLess string) {
	r.needed, r.lackLess = f, lackLess
}

// Restamp says that snapshots which begin from now on have everything that is recorded, whatever its stamps, as if
// it had been there from the start. None is under way.
func (r *Recorder) Restamp() {
	for t := range r.now.txns {
		r.now.txns[t].stamp = 0
	}
}

// Weaken has everything held against claims that are no stronger than these, from now on: a cycle may run through what
// was promised less and what was promised more.
func (r *Recorder) Weaken(all, writers Claim) {
	r.pull()
	r.opt.Claim = Weaker(r.opt.Claim, all)
	r.opt.Writers = Weaker(r.opt.Writers, writers)
}

// Claims says that all transactions are held against this claim, or a stronger one.
func (r *Recorder) Claims(c Claim) bool { return r.opt.Claim.level() >= c.level() }

// Note records an anomaly that an oracle saw. Kinds other than those of this
// package break every claim.
func (r *Recorder) Note(a Anomaly) { r.note(a, r.opt.Claim) }

// note records an anomaly that is held against a claim.
func (r *Recorder) note(a Anomaly, against Claim) {
	a.Breaks = against.breaks(a.Kind)
	r.list(a)
}

// list takes in an anomaly of which it is known whether it breaks a claim.
func (r *Recorder) list(a Anomaly) {
	r.count++
	if len(r.anomalies) < r.opt.Anomalies || (a.Breaks && !r.broken) {
		r.anomalies = append(r.anomalies, a)
	}
	r.broken = r.broken || a.Breaks
}

// wanted says whether one more anomaly would be listed or decide anything.
func (r *Recorder) wanted() bool {
	return len(r.anomalies) < r.opt.Anomalies || !r.broken
}

// Finish checks everything recorded so far. Call it when no session is active;
// if some are, what they may still contradict stays undecided. More may be
// recorded afterwards.
func (r *Recorder) Finish() Report {
	r.pull()
	if r.opt.Mode != Off {
		h := int64(idle)
		for _, at := range r.active {
			h = min(h, at)
		}
		r.check(h, true)
	}
	return r.Report()
}

// Report says what the checks have found so far: everything but the last few
// thousand transactions. It changes nothing, so it may be called at any time.
func (r *Recorder) Report() Report {
	r.pull()
	return r.report(r.checked - uint64(r.fresh))
}

// report is one over so many transactions.
func (r *Recorder) report(judged uint64) Report {
	rep := Report{
		Mode: r.opt.Mode, Claimed: r.opt.Claim, Transactions: judged, Seen: r.seen,
		Anomalies: append([]Anomaly{}, r.anomalies...), Count: r.count,
		Overflowed: r.overflowed, Stale: r.stale,
	}
	if r.opt.Writers != r.opt.Claim {
		rep.Writers = r.opt.Writers
	}
	switch {
	case r.broken:
		rep.OK = Violated
	case judged > 0 && !r.overflowed:
		rep.OK = Holds
	}
	switch {
	case r.unheld:
		rep.Incomplete = fmt.Sprintf("snapshots may lack what the last %d transactions and more wrote, and the window has no room for as many, so an anomaly that a snapshot is part of may be missed; %s, or set check=sampled", r.opt.Capacity, r.lackLess)
	case r.overflowed:
		rep.Incomplete = fmt.Sprintf("an attempt went on while more than %d others ended and was no longer waited for, so an anomaly that it is part of may be missed; look for what takes so long, or set check=sampled", r.opt.Capacity)
	}
	return rep
}

// Check checks a complete history, whatever its order.
func Check(txns []Txn, o Options) Report {
	r := New(o)
	r.limit = math.MaxInt
	for _, i := range byEnd(txns) {
		r.Add(&txns[i])
	}
	return r.Finish()
}

// byEnd is the order in which the transactions ended.
func byEnd(txns []Txn) []int {
	order := make([]int, len(txns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if c := cmp.Compare(txns[a].End, txns[b].End); c != 0 {
			return c
		}
		return cmp.Compare(txns[a].ID, txns[b].ID)
	})
	return order
}
