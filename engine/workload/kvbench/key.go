package kvbench

import (
	"encoding/binary"

	"drtmx/engine/knob"
	"drtmx/engine/store"
)

// MinKeyBytes and MaxKeyBytes bound workload.key_bytes, 0 excepted.
const MinKeyBytes, MaxKeyBytes = 16, 1024

// realKeys are keys of different lengths: that of a number has from MinKeyBytes to most bytes, each length as likely, and ends with the
// number. What is in front of it is random, as the length is.
func realKeys(most int) *store.RealKeys {
	if most == 0 {
		return nil
	}
	return &store.RealKeys{Most: most, Append: func(dst []byte, number uint64) []byte {
		h := hash(number)
		front := MinKeyBytes - 8 + int(h%uint64(most-MinKeyBytes+1))
		for ; front >= 8; front -= 8 {
			h = hash(h)
			dst = binary.LittleEndian.AppendUint64(dst, h)
		}
		for h = hash(h); front > 0; front-- {
			dst = append(dst, byte(h>>(8*front)))
		}
		return binary.BigEndian.AppendUint64(dst, number)
	}}
}

// validRealKeys holds that keys of different lengths are long enough, and that there are no scans.
func validRealKeys(v knob.Values, scans bool) error {
	n := v.Int("workload.key_bytes")
	switch {
	case n == 0:
		return nil
	case n < MinKeyBytes:
		return knob.Invalid("workload.key_bytes", n, "use 0, or 16 and more", "keys of different lengths have %d bytes at least", MinKeyBytes)
	case scans && v.Int("workload.mix.scan") > 0:
		return knob.Invalid("workload.key_bytes", n, "set workload.mix.scan=0, or workload.key_bytes=0", "the store keeps such keys by their hashes, which have no order to SCAN in")
	}
	return nil
}
