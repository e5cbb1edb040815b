// Package host is a machine without its RNICs: sockets with cores, last-level caches and translation caches, memory in
// DRAM and NVM, the disk, and what all of it costs. Bytes are real (type Memory); the caches know lines, not bytes.
//
//   - Cores access memory by Machine.Access, and store past the caches through their write-combining buffers.
//   - An RNIC has a Port at a socket, by which it reads and writes, with DDIO into some ways of the cache or without. Writes
//     are posted: the RNIC goes on until too many of them have not been taken by memory.
//   - NVM is a Device behind a socket's memory controllers. Which bytes of it are persistent is known line by line, if that is
//     asked for (Config.Durability): a crash keeps those, and some of what was in flight.
//   - A hardware transaction of a core is a Speculation: it ends when another core or a device touches one of its lines.
//
// Package fabric gives hosts their RNICs and connects them.
package host
