// Package btree is a B+tree of entries of 8 bytes each way: the structure, not its memory. Its owner gives its nodes addresses, and
// charges those that an operation has visited.
//
// What a tree begins with is a pure function: its nodes are made when they are first visited.
//
// # Left out
//
//   - Latches: operations come one after the other.
//   - Merging of leaves: a leaf goes when its last entry does.
package btree
