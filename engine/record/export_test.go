package record

import "encoding/binary"

// What only tests of this package use.

// SetLock overwrites the lock word of a row.
func SetLock(row []byte, lock uint64) { binary.LittleEndian.PutUint64(row[LockOffset:], lock) }
