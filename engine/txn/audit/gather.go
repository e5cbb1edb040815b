package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"drtmx/engine/history"
	"drtmx/engine/timestamp"
)

// Gather takes in what the machines have written since it was called last. None of them runs.
func (b *Book) Gather() {
	if !b.begin() {
		return
	}
	for {
		machine := 0
		for m, at := range b.heads {
			if at < b.heads[machine] {
				machine = m
			}
		}
		if b.heads[machine] == math.MaxInt64 {
			b.end()
			return
		}
		l := b.logs.Of(machine)
		if l.factIsNext() {
			l.learned++
			b.learn(l, &l.facts[l.learned-1])
		} else {
			b.gather(machine, l)
		}
		b.heads[machine] = l.due()
	}
}

// factIsNext says that a fact comes before the next entry.
func (l *log) factIsNext() bool {
	if l.next < len(l.entries) {
		return l.learned < l.entries[l.next].to.facts
	}
	return l.learned < len(l.facts)
}

// due is when what is to be gathered next happened.
func (l *log) due() int64 {
	switch {
	case l.factIsNext():
		return l.facts[l.learned].at
	case l.next < len(l.entries):
		return l.entries[l.next].at
	}
	return math.MaxInt64
}

// begin says whether there is anything to gather.
func (b *Book) begin() bool {
	b.heads = b.heads[:0]
	for _, l := range b.logs.All() {
		b.heads = append(b.heads, l.due())
	}
	if slices.Min(b.heads) == math.MaxInt64 {
		return false
	}
	if b.recorder != nil {
		b.recorder.Hold()
	}
	return true
}

func (b *Book) end() {
	for _, l := range b.logs.All() {
		l.entries, l.reads, l.writes, l.readSums, l.sums = l.entries[:0], l.reads[:0], l.writes[:0], l.readSums[:0], l.sums[:0]
		l.exportedReads, l.exportedWrites, l.exportedKeys, l.anomalies = l.exportedReads[:0], l.exportedWrites[:0], l.exportedKeys[:0], l.anomalies[:0]
		l.facts, l.learned, l.next, l.done = l.facts[:0], 0, 0, lengths{}
		b.drop(l)
	}
	if b.staleness != nil {
		b.staleness.Prune()
	}
	if b.recorder != nil {
		b.recorder.Release()
	}
}

// keptValues is how many values of facts a machine may keep until it is worth a look which are still asked for.
const keptValues = 1 << 12

// drop forgets the values that no attempt asks for: those from before all that are active.
func (b *Book) drop(l *log) {
	if len(l.values) < keptValues || len(l.values) < cap(l.values)/2 {
		return
	}
	oldest := int64(math.MaxInt64)
	for _, a := range b.active {
		oldest = min(oldest, a.begin)
	}
	n, _ := slices.BinarySearchFunc(l.values, oldest, func(v value, t int64) int { return cmp.Compare(v.at, t) })
	l.values = l.values[:copy(l.values, l.values[n:])]
	l.dropped += uint64(n)
}

// Crashed says that the attempts of a machine do not go on.
func (b *Book) Crashed(machine int) {
	b.Gather()
	for i := range b.active {
		if b.active[i].machine == machine {
			b.active[i].begin = math.MaxInt64
		}
	}
}

// gather takes in the next entry of a log.
func (b *Book) gather(machine int, l *log) {
	e := &l.entries[l.next]
	a, from := &e.attempt, l.done
	switch e.kind {
	case noted:
		if b.recorder != nil {
			b.recorder.Note(l.anomalies[from.anomalies])
		}
	case began:
		for int(a.Coroutine) >= len(b.active) {
			b.active = append(b.active, active{begin: math.MaxInt64})
		}
		b.active[a.Coroutine] = active{e.at, machine}
		if b.recorder != nil {
			b.recorder.Begin(a.Coroutine, a.Begin)
		}
		b.exporter.Begin(a.Coroutine, a.Begin)
	case ended:
		b.attempts++
		b.name(l.reads[from.reads:e.to.reads], l.writes[from.writes:e.to.writes])
		b.txn = history.Txn{
			ID: b.attempts, Type: a.Type, Session: a.Coroutine, Begin: a.Begin, End: a.End, Status: history.Committed, Level: a.level(), Stamp: uint64(a.Stamp),
			Reads: l.reads[from.reads:e.to.reads], Writes: l.writes[from.writes:e.to.writes],
			ReadSums: l.readSums[from.reads:e.to.reads], WriteSums: l.sums[from.writes:e.to.writes],
		}
		if b.exporter != nil {
			b.export(l, e)
		}
		b.attempt(machine, a)
		if int(a.Coroutine) < len(b.active) {
			b.active[a.Coroutine].begin = math.MaxInt64
		}
	}
	l.next, l.done = l.next+1, e.to
}

// name gives accesses the versions that their tokens stand for.
func (b *Book) name(reads []history.Read, writes []history.Write) {
	for i := range reads {
		reads[i].Version = b.version(reads[i].Version)
	}
	for i := range writes {
		w := &writes[i]
		w.Old = b.version(w.Old)
		w.New = b.resolve(b.tables[w.Key.Table()], w.Key.Row(), w.Old, w.New)
	}
}

// attempt takes in an attempt whose accesses are in txn.
func (b *Book) attempt(machine int, a *Attempt) {
	if a.Committed && b.staleness != nil {
		switch {
		case a.Snapshot:
			b.measure(machine, a)
			b.checkOwnWrites(a)
		case a.Versions:
			for _, w := range b.txn.Writes {
				b.staleness.Decided(w.Key, w.New, a.End, a.Stamp)
				a.Own.Wrote(OwnWrite{Key: w.Key, Version: w.New})
			}
		}
	}
	switch {
	case b.recorder == nil:
	case a.Committed:
		b.recorder.Add(&b.txn)
	default:
		b.recorder.End(a.Coroutine)
	}
}

// measure looks at how old what a snapshot has read is.
func (b *Book) measure(machine int, a *Attempt) {
	if !b.staleness.Begin(a.Since) {
		return
	}
	for _, r := range b.txn.Reads {
		age := b.staleness.Read(&a.Since, b.tableName(r.Key.Table()), r.Key, r.Version)
		if b.onRead != nil {
			b.onRead(machine, age)
		}
	}
}

// checkOwnWrites checks that a snapshot has what its client has written.
func (b *Book) checkOwnWrites(a *Attempt) {
	if a.Fresh == timestamp.Stale {
		return
	}
	for _, w := range a.Own.Written() {
		i := slices.IndexFunc(b.txn.Reads, func(r history.Read) bool { return r.Key == w.Key })
		if i < 0 || b.txn.Reads[i].Version >= w.Version || b.recorder == nil {
			continue
		}
		b.recorder.Note(Anomaly{Kind: SessionGuarantee, Text: fmt.Sprintf("a snapshot of coroutine %d read version %d of key %d of table %s, and had written version %d itself",
			a.Coroutine, b.txn.Reads[i].Version, w.Key.Row(), b.tableName(w.Key.Table()), w.Version)})
	}
}

// export writes an attempt out. Its number is the one that anomalies name.
func (b *Book) export(l *log, e *entry) {
	x, a := &b.exported, &e.attempt
	x.ID, x.Node, x.Thread, x.Session, x.Type = b.attempts, a.Machine, a.Thread, a.Coroutine, a.Type
	x.Begin, x.End, x.Snapshot, x.Status = a.Begin, a.End, a.Snapshot, history.Aborted
	x.Reads, x.Writes = l.exportedReads[l.done.exportedReads:e.to.exportedReads], l.exportedWrites[l.done.exportedWrites:e.to.exportedWrites]
	for i := range x.Reads {
		x.Reads[i].Version = b.version(x.Reads[i].Version)
	}
	for i, key := range l.exportedKeys[l.done.exportedWrites:e.to.exportedWrites] {
		if j := slices.IndexFunc(b.txn.Writes, func(w history.Write) bool { return w.Key == key }); a.Committed && j >= 0 {
			x.Writes[i].Version = b.txn.Writes[j].New
		}
	}
	switch {
	case a.Committed:
		x.Status = history.Committed
	case a.RolledBack:
		x.Status = history.RolledBack
	}
	b.exporter.Add(x)
}
