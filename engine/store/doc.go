// Package store says what tables are to the transaction layer and to concurrency controls:
// unordered tables of records, and ordered tables of entries. engine/kv implements both; a
// store that implements them too can take its place, without knowing engine/kv.
//
// # Unordered tables
//
// A record is a row in the registered memory of its primary: the header of the concurrency
// control (record.Header), then the value. The table finds the row of a key, by one-sided READs
// from another machine (Search) or on the CPU of the primary (LookupLocal), and says where the
// copies on the backups are. It never looks at the header but for the stamp's incarnation.
//
// A location may be remembered, in a Cache or in a transaction. The row tells whether it still
// holds the record: see Location.Stale.
//
// # Ordered tables
//
// An Index is a set of entries in the order of their keys. Its entries have no versions.
//
// # Left out
//
//   - Scans of unordered tables.
//   - Index nodes in registered memory that others READ.
package store
