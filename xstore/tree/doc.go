// Package tree is XTree, the concurrent B+ tree of an XStore server (thesis §3.4.1, §3.4.3).
package tree
