package txn

import "fmt"

// Variant is a known fault planted into the protocol. The checkers have to
// tell each from the correct protocol; that is how we know that they work.
type Variant uint8

const (
	// Correct is the protocol of §4.1.
	Correct Variant = iota
	// SkipVersionCheck locks and validates without comparing the sequence.
	SkipVersionCheck
	// UnlockBeforeWriteBack releases the lock, then writes the record.
	UnlockBeforeWriteBack
	// SequenceNotAdvanced writes the record back with the sequence it had.
	SequenceNotAdvanced
	// CommitBeforeLog writes back before the backups have the log.
	CommitBeforeLog
	// CASIgnoresExpected takes a lock whatever the lock word holds.
	CASIgnoresExpected
	// UnlockNotWon makes an abort zero every lock word it tried.
	UnlockNotWon
	// AsPublished is the write-back of the released code: WRITE of the value
	// alone, then of 0 to the lock; the sequence never moves.
	AsPublished
	// IgnoreAborts is a switch of the released code, under which its TPC-C/no
	// ran: a transaction commits whatever its locks and its validation say, and
	// reads records that are locked.
	IgnoreAborts
	// InsertNotLocked inserts records without locking them.
	InsertNotLocked
	// ValidateBeforeLock validates the read set, then locks the write set.
	ValidateBeforeLock
	// IgnoreLockWord validates by the sequence alone, though the record may be locked.
	IgnoreLockWord
	// ReadLocked takes a record that is locked as if it were free.
	ReadLocked
	// ReadTorn takes a row of several lines as if it had come in one piece: it skips the
	// validation that finds parts of two versions, and does not look whether a CPU or an
	// RNIC is writing the row.
	ReadTorn
	// CutLog sends log entries without their last line.
	CutLog
	// CutLogAccepted is CutLog, and the backups know a log entry by the size and the
	// number in front alone. A reclaim follows the acknowledgement of the log, so
	// that without CutLog there would be nothing wrong with that.
	CutLogAccepted
	numVariants
)

var variantNames = [...]string{
	"correct", "skip-version-check", "unlock-before-write-back", "sequence-not-advanced",
	"commit-before-log", "cas-ignores-expected", "unlock-not-won", "as-published", "ignore-aborts",
	"insert-not-locked", "validate-before-lock", "ignore-lock-word", "read-locked", "read-torn", "cut-log", "cut-log-accepted",
}

func (v Variant) String() string {
	if v < numVariants {
		return variantNames[v]
	}
	return fmt.Sprintf("variant(%d)", v)
}
