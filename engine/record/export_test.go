package record

import "encoding/binary"

// What only tests of this package use.

// SetLock overwrites the lock word of a row.
func SetLock(row []byte, lock uint64) { binary.LittleEndian.PutUint64(row[LockSeq.Lock:], lock) }

// Lock, Seq and SetSeq are of rows with LockSeq.
func Lock(row []byte) uint64        { return LockSeq.LockOf(row) }
func Seq(row []byte) uint64         { return LockSeq.StampOf(row) }
func Value(row []byte) []byte       { return LockSeq.Value(row) }
func SetSeq(row []byte, seq uint64) { LockSeq.SetStamp(row[LockSeq.Stamp:], seq) }
