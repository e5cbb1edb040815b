package tree

import "drtmx/engine/r2"

// What only tests of this package use.

// ReadLeaf reads the leaf that a key is routed to.
func (t *Tree) ReadLeaf(c *r2.Co, key uint64, l *Leaf) {
	k := t.Cursor(key)
	k.Next(c, l)
}
