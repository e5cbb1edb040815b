package xstore

import (
	"fmt"
	"slices"

	"drtmx/engine/r2"
	"drtmx/engine/wire"
	"drtmx/xstore/tree"
)

// walk is what the learned cache is compared with (§3.2, §3.7.1): a cache of the tree's inner nodes, that clients go down by,
// and READ what is missing. Nodes and leaves have fence keys, for a cached node may be older than what it leads to: where a key
// is not between them, the node above is READ again, and so on upwards, which is the recursive invalidation of such caches.
//
// As the learned one it begins full: nodes of the highest levels are as in the initial tree until they are READ again.
type walk struct {
	p       *part
	root    uint32
	levels  int
	lowest  int      // level that is cached: 1 are the nodes above the leaves
	warm    int      // level from which on initial nodes are there from the start
	at      []uint32 // by node: 1 + index in own; 0: the initial one, or not there
	own     []cachedNode
	room    int // of own
	hand    int // of the clock that looks for a node to give up
	held    int // nodes that are cached, initial ones included
	addr    r2.Addr
	initial tree.Inner
}

// cachedNode is a node that was READ.
type cachedNode struct {
	node   tree.Inner
	number uint32
	used   bool // since the hand passed
	stale  bool
}

// cell is the lowest level that Cell caches: nodes at least four levels above the leaves (§3.7.1, note).
const cell = 4

// newWalk is the cache of a client's machine for a server.
func (s *Store) newWalk(c *r2.Co, p *part, mode Mode) (*walk, error) {
	w := &walk{p: p, lowest: 1}
	switch mode {
	case Tree4:
		w.lowest = cell
	case None:
		w.lowest = 1 << 30
	}
	var err error
	t := p.tree
	if w.addr, err = s.cl.Mem(c.Machine()).Reserve("xcache.nodes", uint64(t.MaxInners())*uint64(t.Inner().NodeBytes()), c.Home()); err != nil {
		return nil, fmt.Errorf("xstore: %w", err)
	}
	w.at = make([]uint32, t.MaxInners())
	w.root, w.levels = t.InitialRoot()
	w.room = int(t.MaxInners())
	if s.opt.CacheBytes > 0 {
		w.room = int(s.opt.CacheBytes / uint64(t.Inner().NodeBytes()))
	}
	w.warm = w.levels + 1
	for left := w.room; w.warm > w.lowest && left >= t.InitialInners(w.warm-1); {
		w.warm--
		left -= t.InitialInners(w.warm)
		w.room = left
	}
	if w.room == 0 && w.warm > w.lowest {
		w.room = 1
	}
	w.lose()
	return w, nil
}

// lose empties the cache: its machine has crashed. It is as at the start.
func (w *walk) lose() {
	w.own, w.hand = w.own[:0], 0
	clear(w.at)
	w.root, w.levels = w.p.tree.InitialRoot()
	w.held = 0
	for level := w.warm; level <= w.levels; level++ {
		w.held += w.p.tree.InitialInners(level)
	}
}

// find is a node that is cached.
func (w *walk) find(number uint32, level int) *tree.Inner {
	if level < w.lowest {
		return nil
	}
	if i := w.at[number]; i > 0 {
		n := &w.own[i-1]
		if n.stale {
			return nil
		}
		n.used = true
		return &n.node
	}
	if level >= w.warm && w.p.tree.InitialInner(number, &w.initial) {
		return &w.initial
	}
	return nil
}

// put remembers a node, in place of one that was not used for long if there is no room.
func (w *walk) put(number uint32, level int, raw []byte) {
	i := w.at[number]
	switch {
	case i > 0:
	case len(w.own) < w.room:
		if level < w.warm || !w.p.tree.InitialInner(number, &w.initial) { // else it replaces the initial one
			w.held++
		}
		w.own = append(w.own, cachedNode{})
		i = uint32(len(w.own))
	default:
		for w.own[w.hand].used {
			w.own[w.hand].used = false
			w.hand = (w.hand + 1) % len(w.own)
		}
		i = uint32(w.hand + 1)
		w.at[w.own[w.hand].number] = 0
		w.hand = (w.hand + 1) % len(w.own)
	}
	w.at[number] = i
	n := &w.own[i-1]
	n.number, n.used, n.stale = number, true, false
	w.p.tree.Inner().Decode(raw, &n.node)
}

// descend finds the position of a key: down to the leaf, and up again where a node turns out to be too old.
func (x *client) descend(p *part, w *walk, key uint64) (at location, o outcome, err error) {
	p.counts(x.c).Lookups++
	x.fetched = false
	at, o = location{}, invalid
	err = x.down(p, w, key, func(n *tree.Inner) (fits bool, err error) {
		at, o, err = x.leaf(p, key, n.Children[n.Child(key)])
		return o != again, err
	})
	if o == again {
		o = invalid
	}
	p.counts(x.c).hit(o != invalid && !x.fetched)
	return at, o, err
}

// down goes to the node above the leaf that a key is routed to, and calls use with it, which says whether the leaves below
// were those that the node expects. If they are not, or a node on the way is not, the node above is READ again.
func (x *client) down(p *part, w *walk, key uint64, use func(n *tree.Inner) (fits bool, err error)) error {
	x.path = x.path[:0]
	number, level, fresh := w.root, w.levels, false
	for range maxWalk {
		n, err := x.node(p, w, number, level, fresh)
		if n == nil || err != nil { // it never came to rest
			return err
		}
		fresh = key < n.Low || key > n.High || n.Level != level
		if !fresh {
			x.path = append(x.path, number)
			if level > 1 {
				number, level = n.Children[n.Child(key)], level-1
				continue
			}
			fits, err := use(n)
			if fits || err != nil {
				return err
			}
			fresh, level = true, 0
		}
		if number, level, err = x.climb(p, w, level); err != nil {
			return err
		}
	}
	return nil
}

// maxWalk bounds the nodes of a lookup.
const maxWalk = 64

// scanNodes goes on with a scan below the node that leads to its next key: whole leaves, as many as the pairs that are missing
// may take if leaves are half full. ok is false if the server has to go on.
func (x *client) scanNodes(p *part) (ok bool, err error) {
	s := &x.scan
	p.counts(x.c).Lookups++
	x.fetched = false
	err = x.down(p, x.walks[p.server], s.next(), func(n *tree.Inner) (fits bool, err error) {
		x.below(p, n)
		if whole, err := x.readWhole(p); !whole {
			return true, err
		}
		for i := range x.leaves {
			l := &x.leaves[i]
			if !p.layout.DecodeKeys(l.buf.B, &x.view) {
				p.counts(x.c).Torn++
				ok = i > 0
				return true, nil
			}
			low, high := x.view.Low, x.view.High
			if next := s.next(); next < low || next > high {
				ok = true
				return i > 0, nil
			}
			l.inca = x.view.INCA
			if ok = x.collect(p, l); !ok || s.need == 0 {
				return true, nil
			}
			s.advancePast(max(low, p.low), min(high, p.high))
			if s.need == 0 || s.next() < p.low || s.next() > p.high {
				return true, nil
			}
		}
		ok = true
		return true, nil
	})
	p.counts(x.c).hit(ok && !x.fetched)
	return ok, err
}

// below lists the leaves below a node that a scan READs, in its order.
func (x *client) below(p *part, n *tree.Inner) {
	s := &x.scan
	first, last := n.Child(max(s.from, n.Low)), n.Child(min(s.to, n.High))
	most := min(s.need/(p.layout.Slots/2), maxScanLeaves-1)
	if s.down {
		first = max(first, last-most)
	} else {
		last = min(last, first+most)
	}
	x.leaves = x.leaves[:0]
	for _, aln := range n.Children[first : last+1] {
		x.leaves = append(x.leaves, leafRead{aln: aln})
	}
	if s.down {
		slices.Reverse(x.leaves)
	}
}

// climb goes back to the node above a level, which has to be READ again. Above the root there is the word that names it.
func (x *client) climb(p *part, w *walk, level int) (number uint32, above int, err error) {
	p.counts(x.c).Mismatches++
	if n := len(x.path); n > 0 {
		number = x.path[n-1]
		x.path = x.path[:n-1]
		return number, level + 1, nil
	}
	x.fetched = true
	buf := x.c.Read(r2.Loc{Machine: p.server, RKey: p.tree.RKey(), Addr: p.tree.RootAddr()}, 8)
	if err := x.c.Wait(); err != nil {
		return 0, 0, err
	}
	w.root, w.levels = tree.DecodeRoot(wire.Get64(buf.B))
	return w.root, w.levels, nil
}

// node is a node from the cache, or READ.
func (x *client) node(p *part, w *walk, number uint32, level int, fresh bool) (n *tree.Inner, err error) {
	l := p.tree.Inner()
	at := w.addr + r2.Addr(number)*r2.Addr(l.NodeBytes())
	if !fresh {
		if n := w.find(number, level); n != nil {
			x.c.Touch(at, l.Bytes())
			x.c.Compute(searchCycles)
			return n, nil
		}
	}
	for range maxAttempts {
		buf := x.c.Read(r2.Loc{Machine: p.server, RKey: p.tree.RKey(), Addr: p.tree.InnerAddr(number)}, l.Bytes())
		if err := x.c.Wait(); err != nil {
			return nil, err
		}
		p.counts(x.c).Fetches++
		x.fetched = true
		x.c.TouchDMA(buf.Addr, len(buf.B))
		x.c.Compute(searchCycles)
		if !l.Decode(buf.B, &x.inner) {
			p.counts(x.c).Torn++
			continue
		}
		if level >= w.lowest {
			w.put(number, level, buf.B)
			x.c.Touch(at, l.Bytes())
		}
		return &x.inner, nil
	}
	return nil, nil
}

// leaf READs the keys of a leaf, with its fence keys. again says that the key is not between them.
func (x *client) leaf(p *part, key uint64, aln uint32) (at location, o outcome, err error) {
	x.leaves = append(x.leaves[:0], leafRead{aln: aln, bytes: p.slotBytes(p.layout.Slots)})
	if whole, err := x.readLeaves(p, p.layout.FencedBytes()); !whole {
		return at, invalid, err
	}
	p.counts(x.c).Leaves++
	x.c.Compute(searchCycles)
	p.layout.DecodeKeys(x.leaves[0].buf.B, &x.view)
	if key < x.view.Low || key > x.view.High {
		return at, again, nil
	}
	if slot, ok := x.view.Find(key); ok {
		return p.locate(aln, slot, key, x.leaves[0].buf.B), found, nil
	}
	return at, missing, nil
}
