package history

import (
	"strconv"
	"strings"
)

// step is a transaction of a cycle and the version behind its edge.
func (r *Recorder) step(id uint64, e Edge, k Key, seq uint64) Step {
	return Step{Txn: id, Edge: e, Key: k, Record: r.opt.KeyName(k), Version: seq}
}

func (r *Recorder) txn(id uint64, typ uint8) string {
	s := "T" + strconv.FormatUint(id, 10)
	if r.opt.TypeName != nil {
		s += " (" + r.opt.TypeName(typ) + ")"
	}
	return s
}

func (r *Recorder) name(t int32) string { return r.txn(r.now.txns[t].id, r.now.txns[t].typ) }

func (r *Recorder) at(k Key, seq uint64) string {
	return r.opt.KeyName(k) + " at version " + strconv.FormatUint(seq, 10)
}

// both names two transactions, which may be one that did a thing twice.
func (r *Recorder) both(a, b int32) string {
	if a == b {
		return r.name(a) + " twice"
	}
	return r.name(a) + " and " + r.name(b) + " both"
}

// version is the key and the sequence of version n.
func (r *Recorder) version(n int32) (Key, uint64) {
	v := &r.now.versions[n]
	return r.keys.states[v.key].key, v.seq
}

// staleShown is how many stale snapshots are listed: where snapshots may be old, most are.
const staleShown = 2

func (r *Recorder) last() int32 { return int32(len(r.now.txns) - 1) }

// noteStale reports that the newest transaction read or overwrote a version that
// had been overwritten before the window.
func (r *Recorder) noteStale(ks *keyState, seq uint64, wrote bool) {
	t := r.last()
	n := &r.now.txns[t]
	verb, kind := " read ", RealTime
	if wrote {
		verb, kind = " overwrote ", LostUpdate
	}
	text := r.name(t) + verb + r.at(ks.key, seq)
	if ks.baseEnd == unborn {
		if r.forgot || r.overflowed {
			return // the base was a guess
		}
		r.Note(Anomaly{
			Kind: UnknownVersion,
			Text: text + ", older than its initial version " + strconv.FormatUint(ks.base, 10),
		})
		return
	}
	if n.level != LevelStrict && r.needed != nil {
		if !r.unheld {
			r.Note(Anomaly{
				Kind: VersionLost, Text: text + ", although no snapshot needs a version older than " + strconv.FormatUint(ks.base, 10) + " of T" +
					strconv.FormatUint(ks.baseID, 10) + " any more",
				Cycle: []Step{r.step(n.id, RW, ks.key, seq), {Txn: ks.baseID}},
			})
		}
		return
	}
	if ks.baseEnd >= n.begin {
		return // it may have been active then, and was not waited for
	}
	r.judge(n.level, r.opt.Writers, Anomaly{
		Kind: kind,
		Text: text + ", although version " + strconv.FormatUint(ks.base, 10) + " was there: T" +
			strconv.FormatUint(ks.baseID, 10) + " installed it and ended at " + clock(ks.baseEnd) +
			", before " + r.name(t) + " began at " + clock(n.begin),
		Cycle: []Step{r.step(n.id, RW, ks.key, seq), {Txn: ks.baseID, Edge: RT}},
	})
}

// judge records that a transaction comes before something that ended before it began. A snapshot may be told to be
// as new as that, or to be old: then it is counted, and the first few are listed. Else it depends on a claim.
func (r *Recorder) judge(l Level, claim Claim, a Anomaly) {
	switch l {
	case LevelStrict:
		r.note(a, claim)
		return
	case LevelSnapshot:
		a.Text += ": a stale snapshot"
		r.stale++
	case LevelFresh:
		a.Breaks = true
	}
	r.list(a)
}

// shown says that one more misfit of a transaction of this level would be listed or decide anything.
func (r *Recorder) shown(l Level) bool {
	if l == LevelSnapshot {
		return len(r.anomalies) < r.opt.Anomalies && r.stale < staleShown
	}
	return r.wanted()
}

func (r *Recorder) noteNotAdvanced(ks *keyState, old, seq uint64) {
	t := r.last()
	r.Note(Anomaly{
		Kind: DuplicateVersion,
		Text: r.name(t) + " overwrote " + r.at(ks.key, old) + " without advancing it: its own version is " +
			strconv.FormatUint(seq, 10),
		Cycle: []Step{r.step(r.now.txns[t].id, WW, ks.key, seq)},
	})
}

func (r *Recorder) noteDuplicateBase(ks *keyState) {
	t := r.last()
	text := r.name(t) + " installed " + r.at(ks.key, ks.base)
	if ks.baseEnd == unborn {
		text += ", which was there already"
	} else {
		text += ", which T" + strconv.FormatUint(ks.baseID, 10) + " had already installed"
	}
	r.Note(Anomaly{
		Kind:  DuplicateVersion,
		Text:  text,
		Cycle: []Step{r.step(r.now.txns[t].id, WW, ks.key, ks.base)},
	})
}

func (r *Recorder) noteDuplicate(v, by, t int32) {
	k, seq := r.version(v)
	r.Note(Anomaly{
		Kind: DuplicateVersion,
		Text: r.both(by, t) + " installed " + r.at(k, seq),
		Cycle: []Step{
			r.step(r.now.txns[by].id, WW, k, seq), r.step(r.now.txns[t].id, WW, k, seq),
		},
	})
}

func (r *Recorder) noteLostUpdate(o, by, t int32, seq uint64) {
	k, old := r.version(o)
	r.Note(Anomaly{
		Kind: LostUpdate,
		Text: r.both(by, t) + " overwrote " + r.at(k, old) + ", with versions " +
			strconv.FormatUint(r.successor(by, o), 10) + " and " + strconv.FormatUint(seq, 10) +
			": one of the updates is lost",
		Cycle: []Step{
			r.step(r.now.txns[by].id, RW, k, old), r.step(r.now.txns[t].id, RW, k, old),
		},
	})
}

// successor is the version with which transaction t overwrote version o.
func (r *Recorder) successor(t, o int32) uint64 {
	w := &r.now
	for _, a := range w.accs[w.txns[t].first:w.txns[t].last] {
		if a.write && a.other == o {
			return w.versions[a.version].seq
		}
	}
	return 0
}

func (r *Recorder) noteIntermediate(v, reader int32) {
	k, seq := r.version(v)
	by := r.now.versions[v].writer
	r.Note(Anomaly{
		Kind: G1b,
		Text: r.name(reader) + " read " + r.at(k, seq) + ", an intermediate one: its writer " + r.name(by) +
			" overwrote it with version " + strconv.FormatUint(r.successor(by, v), 10),
		Cycle: []Step{
			r.step(r.now.txns[by].id, WR, k, seq), r.step(r.now.txns[reader].id, RW, k, seq),
		},
	})
}

// noteWrongValue reports that the newest transaction has another value of version n than
// its writer or an earlier reader.
func (r *Recorder) noteWrongValue(n int32) {
	v := &r.now.versions[n]
	if v.reported {
		return
	}
	v.reported = true
	k, seq := r.version(n)
	r.Note(Anomaly{
		Kind:  WrongValue,
		Text:  r.name(r.last()) + " has another value of " + r.at(k, seq) + " than those before it",
		Cycle: []Step{r.step(r.now.txns[r.last()].id, "", k, seq)},
	})
}

// noteUnknown reports that t touched version n, which no committed transaction installed.
func (r *Recorder) noteUnknown(n, t int32, wrote bool) {
	k, seq := r.version(n)
	verb := " read "
	if wrote {
		verb = " overwrote "
	}
	a := Anomaly{Kind: UnknownVersion, Text: r.name(t) + verb + r.at(k, seq) + ", which no transaction installed"}
	step := r.step(r.now.txns[t].id, "", k, seq)
	if r.now.versions[n].flags&isAborted != 0 {
		a.Kind = G1a
		if wrote {
			a.Kind = DirtyWrite
		}
		for i := range r.now.aborts {
			if b := &r.now.aborts[i]; b.version == n {
				a.Text = r.name(t) + verb + r.at(k, seq) + ", which T" + strconv.FormatUint(b.id, 10) +
					" installed although it did not commit"
				a.Cycle = append(a.Cycle, r.step(b.id, WR, k, seq))
				break
			}
		}
	}
	a.Cycle = append(a.Cycle, step)
	r.Note(a)
}

// explainMisfit reports that t must precede something that ended before t began, by a path through transactions
// of level via.
func (r *Recorder) explainMisfit(t int32, via Level) {
	n := &r.now.txns[t]
	if n.reported&toldTime != 0 {
		return
	}
	path := r.pathBack(t, via)
	if path == nil {
		return
	}
	n.reported |= toldTime
	if !r.shown(n.level) {
		if r.count++; n.level == LevelSnapshot {
			r.stale++
		}
		return
	}
	end := &r.now.txns[path[len(path)-1].to]
	steps, texts := r.describe(path)
	steps = append(steps, Step{Txn: end.id, Edge: RT})
	texts = append(texts, r.txn(end.id, end.typ)+" ended at "+clock(end.end)+", before "+r.name(t)+
		" began at "+clock(n.begin))
	a := Anomaly{Kind: RealTime, Text: strings.Join(texts, "; "), Cycle: steps}
	if via == LevelStrict || n.level == LevelSnapshot {
		r.judge(n.level, r.opt.Writers, a)
	} else { // what follows from another snapshot is promised only where all are as strict as read-write transactions
		r.note(a, r.opt.Claim)
	}
}

// pathBack is the shortest path of dependencies from t to a transaction that
// ended before t began, through transactions of level via. There is none where it would run through
// a cycle, which has been reported, along another level. Of a snapshot it is one step where writers have no order: what one of them did
// not see says nothing of when it was.
func (r *Recorder) pathBack(t int32, via Level) []link {
	w := &r.now
	from := map[int32]link{}
	queue := []int32{t}
	for len(queue) > 0 {
		u := queue[0]
		queue = queue[1:]
		for _, l := range w.links(u, nil) {
			if _, ok := from[l.to]; ok || l.to == t || !w.txns[l.to].level.within(via) {
				continue
			}
			from[l.to] = l
			if w.txns[l.to].end < w.txns[t].begin {
				return unwind(from, t, l.to)
			}
			if r.opt.Writers.orders() || w.txns[t].level == LevelStrict {
				queue = append(queue, l.to)
			}
		}
	}
	return nil
}

// unwind is the path from s to t that a search left in from.
func unwind(from map[int32]link, s, t int32) []link {
	var path []link
	for t != s {
		l := from[t]
		path = append(path, l)
		t = l.from
	}
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path
}

// describe puts a path into steps and sentences.
func (r *Recorder) describe(path []link) (steps []Step, texts []string) {
	for _, l := range path {
		k, seq := r.version(l.version)
		steps = append(steps, r.step(r.now.txns[l.from].id, l.edge, k, seq))
		text := r.name(l.from)
		switch l.edge {
		case WW, WR:
			text += " wrote " + r.at(k, seq) + ", which " + r.name(l.to)
		case RW:
			text += " read " + r.at(k, seq) + ", which " + r.name(l.to)
		}
		if l.edge == WR {
			text += " read"
		} else {
			text += " overwrote with version " + strconv.FormatUint(r.successor(l.to, l.version), 10)
		}
		texts = append(texts, text)
	}
	return steps, texts
}

// clock prints ps as us.
func clock(ps int64) string {
	sign := ""
	if ps < 0 {
		sign, ps = "-", -ps
	}
	s := sign + strconv.FormatInt(ps/1_000_000, 10)
	if f := ps % 1_000_000; f != 0 {
		digits := strconv.FormatInt(1_000_000+f, 10)[1:]
		s += "." + strings.TrimRight(digits, "0")
	}
	return s + " µs"
}
