package rolex

import "drtmx/engine/store"

// scanBatch is how many leaves a scan READs at once, at most.
const scanBatch = 32

// Scan appends the first n pairs with keys from key on. Each leaf's are of one moment.
func (x *client) Scan(key uint64, n int, dst []store.Pair) ([]store.Pair, error) {
	for want := len(dst) + n; len(dst) < want; {
		p := x.s.part(key)
		var next uint64
		var err error
		if dst, next, err = x.some(p, key, want, dst); err != nil {
			return dst, err
		}
		if next == 0 {
			break
		}
		key = next
	}
	return dst, nil
}

// some appends the pairs of the leaves that one prediction leads to, until there are want, and of their synonyms. next is the key to
// go on with, 0 if there is none behind.
func (x *client) some(p *part, key uint64, want int, dst []store.Pair) (_ []store.Pair, next uint64, err error) {
	i := x.segmentOf(p, key)
	m := x.model(p, i, key)
	first, last := m.span(key)
	more := (want-len(dst))/x.s.opt.Fill + 1
	last = max(last, min(last+more, first+scanBatch-1, m.leaves-1))
	if err := x.fetch(p, i, m, first, last); err != nil {
		return dst, 0, err
	}
	at, ok := x.begun(key)
	if !ok {
		return dst, 0, x.beyond(p, key)
	}
	for l, look := x.leaves[at], true; ; look = false {
		if key <= l.n.high() {
			dst = x.pairs(l.n, key, want, dst)
			if len(dst) == want || l.n.high() == ^uint64(0) {
				return dst, 0, nil
			}
			key = l.n.high() + 1
		}
		for at+1 < len(x.leaves) && x.leaves[at+1].n.low() == key {
			at++
			l = x.leaves[at]
			if dst = x.pairs(l.n, key, want, dst); len(dst) == want || l.n.high() == ^uint64(0) {
				return dst, 0, nil
			}
			key = l.n.high() + 1
		}
		if key > p.highest(i) || at+1 == len(x.leaves) && last+1 < m.leaves && l.n.link() == m.leaf(last+1) {
			return dst, key, nil // a new prediction READs many at once
		}
		if l, err = x.synonym(p, i, &l, look); err != nil {
			return dst, 0, err
		}
	}
}

// pairs appends those of a leaf from a key on.
func (x *client) pairs(n node, key uint64, want int, dst []store.Pair) []store.Pair {
	lay := &x.s.layout
	i, _ := x.search(n, key)
	for ; i < n.count() && len(dst) < want; i++ {
		dst = append(dst, store.Pair{Key: n.key(lay, i), Value: n.value(lay, i)})
	}
	return dst
}
