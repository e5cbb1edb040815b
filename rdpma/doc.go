// Package rdpma is remote persistent memory (thesis §2.3.5.1): a library on
// engine/r2 that allocates, reads and writes the NVM of other machines with
// one-sided or two-sided RDMA, applies the hints of Table 2-4, and can wait until
// what was written is persistent.
//
// # Use
//
// Open makes pools on the servers. Alloc returns a fat pointer, a Ptr; there is
// no other way to come by one. Read, Write and PWrite take it with an offset and
// the primitive, and are called by a coroutine, which waits. A Batch has several
// operations under way at once. CompareSwap and FetchAdd work on words from
// AllocAtomic.
//
// Caveats, those first that bite first:
//
//   - A completed one-sided Write is visible, and says nothing about persistence
//     (figure 2-7): PWrite waits for that. It needs DDIO off (H3) or hardware whose
//     caches are persistent; PWrite refuses a one-sided write that could not become
//     persistent (ErrVolatile), rather than to return early.
//   - DDIO is a switch of the whole socket: with H3 everything a server receives,
//     the messages of two-sided RDMA included, goes past its cache and is slower
//     to read there (§2.3.4.1). Config.KeepDDIO is the other form of H3.
//   - Padding costs room and bytes on the wire. It happens only inside of an
//     allocation's own room, and only where the bytes up to the end of the room
//     are padding: a write in the middle of an allocation is never padded.
//   - Neither reads nor writes are atomic beyond what the hardware gives: a
//     concurrent reader may see a part of a write, by lines.
//
// # The hints
//
// Each is one field of Hints and can be switched while the cluster runs;
// operations that begin later follow it. What H2, H5, H6, H7 and H8 do at
// allocation holds for later allocations.
//
//	H1  AllocFor places memory on the socket whose RNIC the caller's requests go
//	    to, and so whose cores serve them. A one-sided access to a pointer of
//	    another socket goes through a queue pair of that socket's RNIC.
//	H2  AllocFor gives a thread's allocations of up to 4 KB to one DIMM, in turn
//	    by thread: two-sided writes, which the server's thread of the same index
//	    carries out, then reach a DIMM from a few cores only.
//	H3  Open switches DDIO off on the servers' sockets. With Config.KeepDDIO it
//	    stays on and large one-sided writes are sent as two-sided ones instead.
//	H4  A server stores large payloads with ntstore.
//	H5  Writes are aligned and padded to 256 bytes.
//	H6  One-sided writes below 256 bytes are aligned and padded to 64 bytes; it
//	    takes the place of H5 for them.
//	H7  As H6 for two-sided writes, stored with ntstore. The server pads: nothing
//	    more is sent.
//	H8  Words for atomics lie in DRAM.
//	H9  The WRITE and the READ that flushes it are one list with one doorbell: one
//	    round trip. Without it the READ is posted when the WRITE is complete.
//
// # What is left out
//
//   - Allocation is not charged: it is the control plane, done once. The table of
//     allocations is shared by all machines of the cluster; clients of a real one
//     would learn of frees by message, or keep leases.
//   - The allocator reuses a freed block for requests of the same rounded size
//     only, and never merges neighbours.
//   - Two-sided RDMA whose messages are themselves in NVM: it is a one-sided WRITE
//     in disguise (§2.3.2.2, footnote).
//   - An explanation of H5 for small two-sided writes. Table 2-4 says that it helps; here
//     it more than halves them (figure 2-13a), for what is padded to 256 bytes is stored
//     with plain stores until H7 takes its place: four lines that the LLC reads before and
//     evicts after. Were it large enough for H4, ntstore would take as many requests as
//     H7 does, and H7 would bring nothing, where the thesis has 1.8 times. Its 19 M/s
//     before H7 lie between the two, and above what its own figure 2-13b has for stores. No
//     source decides. H1 improves these writes, as it says.
//   - The contents of the table of allocations do not survive a crash by
//     themselves; a system that recovers keeps the encoded pointers where it finds
//     them again.
package rdpma
