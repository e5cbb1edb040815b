// Package wire reads and writes the words of messages, records and logs: numbers of fixed width, little-endian, and bytes that are
// padded to whole words of eight.
//
// Put writes in place, Add appends. None of them checks lengths beyond what slices do: a message that is too short is a bug of
// the sender, which is the same program.
package wire

import "encoding/binary"

// Get16 is the number that b begins with.
func Get16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }

// Get32 is the number that b begins with.
func Get32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// Get64 is the number that b begins with.
func Get64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// Put16 writes a number to the begin of b.
func Put16(b []byte, v uint16) { binary.LittleEndian.PutUint16(b, v) }

// Put32 writes a number to the begin of b.
func Put32(b []byte, v uint32) { binary.LittleEndian.PutUint32(b, v) }

// Put64 writes a number to the begin of b.
func Put64(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }

// Add32 appends a number.
func Add32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }

// Add64 appends a number.
func Add64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }

// Padded is what n bytes take as whole words.
func Padded(n int) int { return (n + 7) &^ 7 }

// AddPadded appends x, and zeros up to a whole word.
func AddPadded(b, x []byte) []byte {
	return append(append(b, x...), zeros[:Padded(len(x))-len(x)]...)
}

var zeros [8]byte
