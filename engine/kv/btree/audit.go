package btree

import "fmt"

// Audit says what is wrong with the nodes that were visited; nil: nothing. It makes none.
func (t *Tree) Audit() error {
	depth, seen, untouched := -1, 0, false
	var walk func(at int32, low, high uint64, d int) error
	walk = func(at int32, low, high uint64, d int) error {
		n := t.made(at)
		if n == nil { // as at the start
			untouched = true
			return nil
		}
		seen++
		if n.n == 0 && at != t.root {
			return fmt.Errorf("node %d is empty", at)
		}
		if n.leaf {
			if depth < 0 {
				depth = d
			}
			if d != depth {
				return fmt.Errorf("leaves at depths %d and %d", d, depth)
			}
			for i := range n.n {
				if n.keys[i] < low || n.keys[i] >= high || i > 0 && n.keys[i] <= n.keys[i-1] {
					return fmt.Errorf("leaf %d of %d to %d has keys %v", at, low, high, n.keys[:n.n])
				}
			}
			return nil
		}
		for i := range n.n {
			l, h := low, high
			if i > 0 {
				l = n.keys[i]
			}
			if i+1 < n.n {
				h = n.keys[i+1]
			}
			if err := walk(int32(n.vals[i]), l, h, d+1); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(t.root, 0, ^uint64(0), 0); err != nil {
		return err
	}
	if !untouched && seen+len(t.free) != t.count {
		return fmt.Errorf("%d nodes in use, %d free, %d in all", seen, len(t.free), t.count)
	}
	return nil
}
