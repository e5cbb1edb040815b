package audit

import "drtmx/engine/history"

// Gather takes in what the machines have written since it was called last. None of them runs.
func (b *Book) Gather() {
	if !b.begin() {
		return
	}
	for {
		var first *log
		machine := 0
		for m, l := range b.logs.All() {
			if l.next < len(l.entries) && (first == nil || l.entries[l.next].at < first.entries[first.next].at) {
				first, machine = l, m
			}
		}
		if first == nil {
			break
		}
		b.gather(machine, first)
	}
	b.end()
}

// begin says whether there is anything to gather.
func (b *Book) begin() bool {
	for _, l := range b.logs.All() {
		if len(l.entries) > 0 {
			if b.recorder != nil {
				b.recorder.Hold()
			}
			return true
		}
	}
	return false
}

func (b *Book) end() {
	for _, l := range b.logs.All() {
		l.entries, l.reads, l.writes, l.readSums, l.sums = l.entries[:0], l.reads[:0], l.writes[:0], l.readSums[:0], l.sums[:0]
		l.exportedReads, l.exportedWrites, l.anomalies = l.exportedReads[:0], l.exportedWrites[:0], l.anomalies[:0]
		l.next, l.done = 0, lengths{}
	}
	if b.staleness != nil {
		b.staleness.Prune()
	}
	if b.recorder != nil {
		b.recorder.Release()
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
		if b.recorder != nil {
			b.recorder.Begin(a.Coroutine, a.Begin)
		}
		b.exporter.Begin(a.Coroutine, a.Begin)
	case ended:
		b.attempts++
		if b.exporter != nil {
			b.export(l, e)
		}
		b.txn = history.Txn{
			ID: b.attempts, Type: a.Type, Session: a.Coroutine, Begin: a.Begin, End: a.End, Status: history.Committed, Level: a.level(), Stamp: uint64(a.Stamp),
			Reads: l.reads[from.reads:e.to.reads], Writes: l.writes[from.writes:e.to.writes],
			ReadSums: l.readSums[from.reads:e.to.reads], WriteSums: l.sums[from.writes:e.to.writes],
		}
		b.attempt(machine, a)
	}
	l.next, l.done = l.next+1, e.to
}

// attempt takes in an attempt whose accesses are in txn.
func (b *Book) attempt(machine int, a *Attempt) {
	if a.Committed && b.staleness != nil {
		switch {
		case a.Snapshot:
			b.measure(machine, a)
		case a.Versions:
			for _, w := range b.txn.Writes {
				b.staleness.Decided(w.Key, w.New, a.End, a.Stamp)
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

// export writes an attempt out. Its number is the one that anomalies name.
func (b *Book) export(l *log, e *entry) {
	x, a := &b.exported, &e.attempt
	x.ID, x.Node, x.Thread, x.Session, x.Type = b.attempts, a.Machine, a.Thread, a.Coroutine, a.Type
	x.Begin, x.End, x.Snapshot, x.Status = a.Begin, a.End, a.Snapshot, history.Aborted
	x.Reads, x.Writes = l.exportedReads[l.done.exportedReads:e.to.exportedReads], l.exportedWrites[l.done.exportedWrites:e.to.exportedWrites]
	switch {
	case a.Committed:
		x.Status = history.Committed
	case a.RolledBack:
		x.Status = history.RolledBack
	}
	b.exporter.Add(x)
}
