package txn

import "drtmx/engine/store"

// lives counts for the history how often records were deleted. Versions in row headers begin anew with every
// row that a key gets; with the number of deletions in front, the versions of a key only grow:
//
//	deletions 24 bits | counter of the stamp 40 bits
//
// A key that was not there has counter 0, or, where deleted records leave tombstones, the version of the last
// tombstone. An oracle: it is free of time, nothing of it is in a message, and all machines share it as they
// share the recorder.
type lives struct {
	ended map[uint64]*past // by key, of those that were deleted at least once
}

// past is what happened to a key.
type past struct {
	before uint64    // deletions that are not in the list any more
	last   uint64    // the absence of the last of them
	list   []ending  // the last ones
	now    store.Ref // of the record, or of one that is being inserted
}

// ending is a deletion.
type ending struct {
	ref store.Ref // the row that held the record
	gap uint32    // the version of the gap from then on
	// The version that absence has from then on; 0: that of a deletion without a tombstone.
	last uint64
}

const (
	lifeShift  = 40
	oneLife    = uint64(1) << lifeShift
	keptDeaths = 16 // while an answer that shows a row, or a gap, is on its way there are not as many more
	nowhere    = ^store.Ref(0)
)

// end notes a deletion.
func (l *lives) end(key uint64, ref store.Ref, gap uint32, last uint64) {
	if l.ended == nil {
		l.ended = map[uint64]*past{}
	}
	p := l.ended[key]
	if p == nil {
		p = &past{now: nowhere}
		l.ended[key] = p
	}
	if len(p.list) == 2*keptDeaths {
		p.before += keptDeaths
		p.last = p.list[keptDeaths-1].last
		p.list = p.list[:copy(p.list, p.list[keptDeaths:])]
	}
	p.list = append(p.list, ending{ref, gap, last})
	if p.now == ref {
		p.now = nowhere
	}
}

// begin notes the row of an insert, which may be taken back.
func (l *lives) begin(key uint64, ref store.Ref) {
	if p := l.ended[key]; p != nil {
		p.now = ref
	}
}

// of is the version of a record in a row with that counter.
func (l *lives) of(key uint64, ref store.Ref, counter uint64) uint64 {
	p := l.ended[key]
	if p == nil {
		return counter
	}
	return (p.before+uint64(p.life(ref)))<<lifeShift | counter
}

// life is how many deletions of the list came before the record in a row.
func (p *past) life(ref store.Ref) int {
	if ref != p.now {
		for i := len(p.list) - 1; i >= 0; i-- {
			if p.list[i].ref == ref {
				return i
			}
		}
	}
	return len(p.list)
}

// absent is the version of a key that was not there when its gap had a version.
func (l *lives) absent(key uint64, gap uint32) uint64 {
	p := l.ended[key]
	if p == nil {
		return 0
	}
	n := len(p.list)
	for n > 0 && int32(p.list[n-1].gap-gap) > 0 {
		n--
	}
	return p.absence(n)
}

// unborn is the version of a key that was not there when the record in a row had not been inserted yet.
func (l *lives) unborn(key uint64, ref store.Ref) uint64 {
	p := l.ended[key]
	if p == nil {
		return 0
	}
	return p.absence(p.life(ref))
}

// absence is the version of a key that was not there after so many deletions of the list.
func (p *past) absence(n int) uint64 {
	last := p.last
	if n > 0 {
		last = p.list[n-1].last
	}
	if last != 0 {
		return last
	}
	return (p.before + uint64(n)) << lifeShift
}
