// Package kv is the record store of chapter 4: DrTM-KV, a cluster-chaining hash table in registered memory that
// other machines read with one-sided READs, its replicas, and the location cache.
//
// # A table
//
// A Partition divides the keys among servers. A server's part is split over its sockets; such a shard has its own
// hash table and rows in that socket's memory, so each record has a home RNIC. Backups keep the rows of the next
// servers' shards, at the same row numbers.
//
// A bucket is a node of slots of key, row number and incarnation, with the number of the next node: 384 bytes and four slots, which is what
// the released code READs (kv.node=wide), or 128 bytes and eight (packed); the thesis does not say. Buckets are 75 % full, at which a lookup takes
// 1.10 or 1.05 READs on average. The caller READs the row with one more (section 4.3.1); the location cache saves the first.
//
// A table may have a B+tree for each server in the place of hash tables (store.Spec.Tree). No READ finds its records: a machine that does
// not have a record asks by one RPC, and READs the row then. Each operation on a tree is charged as one region of hardware transactional memory:
// its begin and end (cpu.htm_region), the lines of the nodes on its way, and the cycles of searching them. A tree of a hundred million keys has eight levels then,
// and a core finds 1.79 million keys a second; row s3-core-lookups of the reference has 1.8.
//
// # Finding, changing, and both at once
//
// Only the server's CPU changes its hash table: Insert and Remove run there, in a handler or in a local
// transaction, under a latch per chain. READs take no latch. A node carries a version, odd
// while it is being changed, and what else shows that a READ met a change (see bucket): it is repeated. Records never move
// between slots, so a lookup that passes intact nodes to the end of the chain is right that the key is missing: there
// was a moment during the lookup when it was.
//
// The version of a chain's first node changes with every change of the chain. A lookup that finds nothing says
// which one it saw: the key's gap. As long as the gap has that version, the key is missing. Of a tree, sixteen entries that follow each other
// share a version, which lies apart, so that other machines can name it; tree and version change at one instant.
//
// Insert gives a key a free row and a slot, and leaves it to the caller to make a record of it: until then the row is not
// live. Remove takes the slot away and Free the row. Both leave the caller's lock in the row.
//
// Between finding a row and reading it, or for as long as a location stays in a cache, the record may be deleted and
// its row given to another. Deletes count in the row's incarnation, the upper bits of its sequence. Slots, replies
// and cache entries carry the incarnation they mean, and Location.Stale compares: no key in the row, no second READ.
//
// # Memory
//
// Nothing is computed or stored for untouched records. The hash function is a keyed bijection, so the
// content of a bucket is the inverse images of its hash values, and a block of buckets, of overflow buckets or of rows
// is a pure function of its number. A table of 1.6 million records of 24 bytes on four machines, three replicas, costs
// 115 MB for rows and 390 MB for buckets when all is touched, 70 MB if they are packed; nothing at the start. A server's own lookups in a table
// that never changes (Spec.Fixed) touch no bucket: they compute what they would find, and charge for it.
//
// A table whose records are used in the order of their keys can say so (Spec.Sequential): then the buckets of a page
// hold a block of neighbours, in an order as random as everywhere, instead of records from all over the table, and a
// table that grows costs memory for what came, not a page for each record.
//
// The location cache costs two bits per record, whatever its budget; see Cache.
//
// # Limits and simplifications
//
//   - Regions do not meet each other: a handler that comes to a tree while another one works there does not wait. Nodes of trees are no registered
//     bytes. An inner node is as near to each socket, whose cache has it; leaves are dealt to the sockets.
//   - Keys have 55 bits, row and node numbers 32; values of a table have one length.
//   - Nodes that were added to a chain are never taken out again. Their slots are reused.
//   - Servers and clients agree on addresses, sizes and initial counts without messages.
//   - Free lists are kept in private memory: charged, not in registered bytes.
//   - A row holds 65,535 records one after the other and is not used again then.
//   - A lookup that walks a chain of several nodes while it changes may be told that a key is missing in a version of the
//     gap that only the first node had: see store.Unsettled.
//   - Hash values of records that were there from the start, and of keys that may come and are numbered
//     (store.Growing), come from the bijection, those of other keys from an ordinary hash function. Hash values are sparse (1 in 8 to 16 used), which makes bucket occupancy slightly more
//     even than independent hashing: 1.043 READs per lookup instead of 1.047.
//   - Backups find rows by key with a charged lookup of one line, of two in wide nodes, or as in the primary's tree, without what the
//     split of a node takes; of records that were inserted the log says which row.
package kv
