// Package memcached is a server-centric store in the manner of RDMA-Memcached, which XStore is compared with (thesis §3.7.1):
// memcached's hash table and LRU list at the server, of which every operation is an RPC (package service). It has no order,
// and so no scans.
//
// # What is modelled
//
// A hash table of chained items with 8,192 locks for its buckets, and one LRU list of all items with a lock of its own,
// which also guards the free chunks, as cache_lock of memcached 1.4 does. GET moves an item to the front of the list unless
// that was done in the last minute (ITEM_UPDATE_INTERVAL); UPDATE writes a new item in place of the old one. The knob
// memcached.locks takes the locks of buckets back: then one lock is held from the begin of each operation to its end.
//
// Locks are words in memory that cores change by compare-and-swap and spin on, as memcached's trylock loops do: how the
// list's lock saturates follows from the lines that travel between cores, and from what is done while it is held.
//
// As RDMA-Memcached cannot use two RNICs at once, there is one instance on each socket, with a part of the keys by hash.
//
// # The start
//
// All initial keys are items of equal size, in memory in the order of keys; in the table and in the LRU list they lie in
// random order, and none was used in the last minute. A bucket has at most two of them, more evenly than a hash function would
// have it. All of that is computed when it is first touched.
//
// # Left out
//
//   - Eviction and expiry: the memory is enough for all keys, and an INSERT beyond says so.
//   - Growing the table.
//   - Reference counts: a value is copied while its bucket is locked.
//   - RDMA-Memcached's own messages by WRITE for large values.
package memcached
