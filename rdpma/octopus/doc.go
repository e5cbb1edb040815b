// Package octopus is the data I/O of Octopus on rdpma (thesis §2.3.5.2): files of
// blocks in the memory of servers; a client asks the file's server by RPC where
// the blocks are, and then reads or writes them itself with one-sided RDMA
// (client-active data I/O).
//
// # Use
//
// Open makes the file system with a Setup: DRAM or NVM, the hints, and whether
// writes are durable, of which figure 2-19 has five. Create a file, Write and Read
// are called by a coroutine.
//
// Bytes of a file lie side by side, so that a write is padded by none of the hints:
// what is behind it is the file's.
//
// # What is left out
//
//   - The distributed transactions on metadata: the thesis measures data I/O, and
//     the code it ports has none. Files are created before the run and keep their
//     size.
//   - Names and directories: a file is a number. Its server follows from the number.
//   - Caching of block addresses: every operation asks, as in the benchmark of
//     §2.3.5.3.
//   - Concurrent writes to the same bytes are not ordered.
package octopus
