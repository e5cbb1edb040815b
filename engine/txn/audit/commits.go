package audit

import "drtmx/engine/record"

// Versions of records for the history, where the rows of a protocol have none.
//
// A protocol that locks what it reads and writes needs no version in the row, and so the bytes that a
// read brings do not say which version they are. An oracle counts them, free of virtual time: the
// writer takes the next one at its commit decision (Tx.Install), a reader is given the last one when it
// accepts the value (Tx.Latest): as their logs say when they are gathered.
//
// In a correct protocol that is the version of the value: the writer holds the record's exclusive
// lock at its decision and until the value is in place, and the reader holds a lock when it accepts,
// so no decision falls between the value and the version. A wrong protocol gains nothing from the
// oracle: a value that was read before its lock, or written by two at once, comes with a version that
// belongs to another value, or two transactions overwrite the same version. The history compares the
// sums of values and sees both. It cannot see a stale value that is equal to the new one, byte by
// byte; nor could the body.

// commits counts the commits of a table's records. It has memory where there were some.
type commits struct {
	bound  uint64                 // of the keys from the start
	chunks []*[commitChunk]uint32 // of those keys; nil: no protocol counts here
	others map[uint64]uint32      // of the keys beyond
}

const commitChunk = 1 << 9

func newCommits(keys uint64) commits { return commits{bound: keys} }

// last is the version of a record now.
func (v *commits) last(key uint64) uint64 {
	n := uint32(0)
	if key >= v.bound {
		n = v.others[key]
	} else if i := key / commitChunk; v.chunks != nil && v.chunks[i] != nil {
		n = v.chunks[i][key%commitChunk]
	}
	return record.InitialSeq + uint64(n)
}

// next moves a record to its next version.
func (v *commits) next(key uint64) {
	if key >= v.bound {
		if v.others == nil {
			v.others = map[uint64]uint32{}
		}
		v.others[key]++
		return
	}
	if v.chunks == nil {
		v.chunks = make([]*[commitChunk]uint32, (v.bound+commitChunk-1)/commitChunk)
	}
	i := key / commitChunk
	if v.chunks[i] == nil {
		v.chunks[i] = new([commitChunk]uint32)
	}
	v.chunks[i][key%commitChunk]++
}
