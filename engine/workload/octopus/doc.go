// Package octopus is the data I/O benchmark of thesis §2.3.5.3: each coroutine
// writes a fixed payload to a random place of a random file on a server other than
// its own machine, waits until the write is complete, or durable, and writes the
// next. A write asks the file's server by RPC where its blocks are and then posts
// WRITEs (package rdpma/octopus).
//
// What a byte of a file is when it has been written depends on its place alone, so
// that overlapping writes agree, and the check finds a byte that is where it does
// not belong.
//
// # What is left out
//
// The benchmark's reads, and files of several sizes: the thesis measures writes of
// one size. How many files there are, how large they are and to what their offsets
// are aligned it does not say: Options.Files, 1 MB, Options.Align.
package octopus
