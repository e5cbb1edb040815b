// Package store says what tables are to the transaction layer and to concurrency controls:
// unordered tables of records, and ordered tables of entries. engine/kv implements both; a
// store that implements them too can take its place, without knowing engine/kv, as xstore does with the latter.
//
// # Unordered tables
//
// A record is a row in the registered memory of its primary: the header of the concurrency
// control (record.Layout), then the value. The table finds the row of a key, by one-sided READs
// from another machine (Search) or on the CPU of the primary (LookupLocal), and says where the
// copies on the backups are. Whether a row is free, live or stale it asks the layout.
//
// Records come and go by one of two halves, or both (Kind.Halves): on the CPU of their server, where others ask by RPC
// (Table.Insert, Remove and Free), or by one-sided requests of any machine (Claimed), also where servers have no CPU.
//
// A location may be remembered, in a Cache or in a transaction. The row tells whether it still
// holds the record: see Location.Stale.
//
// # Ordered tables
//
// An Index is a set of entries in the order of their keys. Its entries have no versions. A workload makes its own by Indexes, from
// an IndexSpec: the list Ordered says what there is for that, and for key-value workloads, which send their requests to a KV.
//
// # Left out
//
//   - Scans of unordered tables.
package store
