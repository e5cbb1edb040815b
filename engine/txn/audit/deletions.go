package audit

import "drtmx/engine/store"

// deletions counts for the history how often records were deleted. Versions in row headers begin anew with every
// row that a key gets; with the number of deletions in front, the versions of a key only grow:
//
//	deletions 24 bits | counter of the stamp 40 bits
//
// A key that was not there has counter 0, or, where deleted records leave tombstones, the version of the last
// tombstone. An oracle: it is free of time, and nothing of it is in a message. It is told of what happened on all machines when their logs
// are gathered.
type deletions struct {
	byKey map[uint64]*keyDeletions // by key, of those that were deleted at least once
}

// keyDeletions is what happened to a key.
type keyDeletions struct {
	dropped        uint64     // deletions that are not in the list any more
	droppedAbsence uint64     // the absence of the last of them
	list           []deletion // the last ones
	current        store.Ref  // of the record, or of one that is being inserted
}

// deletion is a deletion.
type deletion struct {
	ref store.Ref // the row that held the record
	gap uint32    // the version of the gap from then on
	// The version that absence has from then on; 0: that of a deletion without a tombstone.
	absence uint64
}

const (
	deletionShift = 40
	oneDeletion   = uint64(1) << deletionShift
	keptDeletions = 16 // while an answer that shows a row, or a gap, is on its way there are not as many more
	nowhere       = ^store.Ref(0)
)

// add notes a deletion.
func (l *deletions) add(key uint64, ref store.Ref, gap uint32, last uint64) {
	if l.byKey == nil {
		l.byKey = map[uint64]*keyDeletions{}
	}
	p := l.byKey[key]
	if p == nil {
		p = &keyDeletions{current: nowhere}
		l.byKey[key] = p
	}
	if len(p.list) == 2*keptDeletions {
		p.dropped += keptDeletions
		p.droppedAbsence = p.list[keptDeletions-1].absence
		p.list = p.list[:copy(p.list, p.list[keptDeletions:])]
	}
	p.list = append(p.list, deletion{ref, gap, last})
	if p.current == ref {
		p.current = nowhere
	}
}

// noteInsert notes the row of an insert, which may be taken back.
func (l *deletions) noteInsert(key uint64, ref store.Ref) {
	if p := l.byKey[key]; p != nil {
		p.current = ref
	}
}

// version is the version of a record in a row with that counter.
func (l *deletions) version(key uint64, ref store.Ref, counter uint64) uint64 {
	p := l.byKey[key]
	if p == nil {
		return counter
	}
	return (p.dropped+uint64(p.deletionsBefore(ref)))<<deletionShift | counter
}

// deletionsBefore is how many deletions of the list came before the record in a row.
func (p *keyDeletions) deletionsBefore(ref store.Ref) int {
	if ref != p.current {
		for i := len(p.list) - 1; i >= 0; i-- {
			if p.list[i].ref == ref {
				return i
			}
		}
	}
	return len(p.list)
}

// absentAtGap is the version of a key that was not there when its gap had a version.
func (l *deletions) absentAtGap(key uint64, gap uint32) uint64 {
	p := l.byKey[key]
	if p == nil {
		return 0
	}
	n := len(p.list)
	for n > 0 && int32(p.list[n-1].gap-gap) > 0 {
		n--
	}
	return p.absentVersion(n)
}

// absentBefore is the version of a key that was not there when the record in a row had not been inserted yet.
func (l *deletions) absentBefore(key uint64, ref store.Ref) uint64 {
	p := l.byKey[key]
	if p == nil {
		return 0
	}
	return p.absentVersion(p.deletionsBefore(ref))
}

// absentVersion is the version of a key that was not there after so many deletions of the list.
func (p *keyDeletions) absentVersion(n int) uint64 {
	last := p.droppedAbsence
	if n > 0 {
		last = p.list[n-1].absence
	}
	if last != 0 {
		return last
	}
	return (p.dropped + uint64(n)) << deletionShift
}
