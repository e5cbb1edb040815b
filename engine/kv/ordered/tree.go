package ordered

// Entry is one entry of an ordered table.
type Entry struct{ Key, Value uint64 }

const (
	fanout = 16
	none   = int32(-1)
)

// node is a leaf with its entries, or an inner node with its children: vals has their numbers, keys the least key that
// belongs to each; that of the first counts as 0.
type node struct {
	n          int
	leaf       bool
	next, prev int32 // of leaves
	keys, vals [fanout]uint64
}

// tree is a B+tree. Nodes are numbered, and visited lists those of the last operation, for whoever charges.
type tree struct {
	nodes   []node
	free    []int32
	root    int32
	entries int
	visited []int32
	path    []step // to the leaf, from the root
}

// step is an inner node on the way down, and which child was taken.
type step struct {
	node int32
	i    int
}

// newTree makes a tree of entries in rising order, of full nodes but for the last of each level, as small as can be:
// what inserting them in order leaves behind.
func newTree(list []Entry) *tree {
	leaves := max(1, (len(list)+fanout-1)/fanout)
	t := &tree{nodes: make([]node, 0, leaves+leaves/(fanout-1)+4), entries: len(list)}
	for i := range leaves {
		leaf := node{leaf: true, next: int32(i + 1), prev: int32(i - 1)}
		for _, e := range list[i*fanout : min((i+1)*fanout, len(list))] {
			leaf.insert(leaf.n, e.Key, e.Value)
		}
		t.nodes = append(t.nodes, leaf)
	}
	t.nodes[leaves-1].next = none
	least := func(i int) uint64 { return t.nodes[i].keys[0] }
	for level, n := 0, leaves; n > 1; {
		from, parents := len(t.nodes), (n+fanout-1)/fanout
		for i := range parents {
			inner := node{next: none, prev: none}
			for k := i * fanout; k < min((i+1)*fanout, n); k++ {
				key := least(level + k)
				if k == 0 {
					key = 0
				}
				inner.insert(inner.n, key, uint64(level+k))
			}
			t.nodes = append(t.nodes, inner)
		}
		level, n = from, parents
	}
	t.root = int32(len(t.nodes) - 1)
	return t
}

func (t *tree) take(leaf bool) int32 {
	fresh := node{leaf: leaf, next: none, prev: none}
	if k := len(t.free); k > 0 {
		i := t.free[k-1]
		t.free = t.free[:k-1]
		t.nodes[i] = fresh
		return i
	}
	t.nodes = append(t.nodes, fresh)
	return int32(len(t.nodes) - 1)
}

// pop is the last step of the path, which is one shorter then.
func (t *tree) pop() step {
	s := t.path[len(t.path)-1]
	t.path = t.path[:len(t.path)-1]
	return s
}

// lower is the place of the first key that is at least key.
func (n *node) lower(key uint64) int {
	i := 0
	for i < n.n && n.keys[i] < key {
		i++
	}
	return i
}

// child is the place of the child that key belongs to.
func (n *node) child(key uint64) int {
	i := 1
	for i < n.n && n.keys[i] <= key {
		i++
	}
	return i - 1
}

func (n *node) insert(i int, key, val uint64) {
	copy(n.keys[i+1:n.n+1], n.keys[i:n.n])
	copy(n.vals[i+1:n.n+1], n.vals[i:n.n])
	n.keys[i], n.vals[i] = key, val
	n.n++
}

func (n *node) remove(i int) {
	copy(n.keys[i:], n.keys[i+1:n.n])
	copy(n.vals[i:], n.vals[i+1:n.n])
	n.n--
}

// descend goes to the leaf of a key.
func (t *tree) descend(key uint64) int32 {
	t.visited, t.path = t.visited[:0], t.path[:0]
	at := t.root
	for {
		t.visited = append(t.visited, at)
		n := &t.nodes[at]
		if n.leaf {
			return at
		}
		i := n.child(key)
		t.path = append(t.path, step{at, i})
		at = int32(n.vals[i])
	}
}

// insert adds an entry; false if the key is there.
func (t *tree) insert(key, val uint64) bool {
	at := t.descend(key)
	n := &t.nodes[at]
	i := n.lower(key)
	if i < n.n && n.keys[i] == key {
		return false
	}
	t.entries++
	if n.n < fanout {
		n.insert(i, key, val)
		return true
	}
	right := t.split(at, i == n.n && n.next == none)
	target := at
	if r := &t.nodes[right]; r.n == 0 || key >= r.keys[0] {
		target = right
	}
	n = &t.nodes[target]
	n.insert(n.lower(key), key, val)
	t.addChild(t.nodes[right].keys[0], right)
	return true
}

// split makes a right sibling and moves half of the node there; nothing if keys only ever come at the end.
func (t *tree) split(at int32, atEnd bool) (right int32) {
	right = t.take(t.nodes[at].leaf)
	n, r := &t.nodes[at], &t.nodes[right]
	if !atEnd {
		r.n = copy(r.keys[:], n.keys[fanout/2:])
		copy(r.vals[:], n.vals[fanout/2:])
		n.n = fanout / 2
	}
	if n.leaf {
		r.next, r.prev = n.next, at
		if n.next != none {
			t.nodes[n.next].prev = right
		}
		n.next = right
	}
	t.visited = append(t.visited, right)
	return right
}

// addChild hangs a new node behind the child that the path took.
func (t *tree) addChild(key uint64, child int32) {
	if len(t.path) == 0 {
		root := t.take(false)
		n := &t.nodes[root]
		n.insert(0, 0, uint64(t.root))
		n.insert(1, key, uint64(child))
		t.root = root
		return
	}
	s := t.pop()
	n := &t.nodes[s.node]
	if n.n < fanout {
		n.insert(s.i+1, key, uint64(child))
		return
	}
	right := t.split(s.node, s.i == n.n-1)
	n, r := &t.nodes[s.node], &t.nodes[right]
	if s.i+1 > n.n || r.n == 0 {
		r.insert(s.i+1-n.n, key, uint64(child))
	} else {
		n.insert(s.i+1, key, uint64(child))
	}
	t.addChild(r.keys[0], right)
}

// remove takes an entry out; false if it is not there.
func (t *tree) remove(key uint64) bool {
	at := t.descend(key)
	n := &t.nodes[at]
	i := n.lower(key)
	if i == n.n || n.keys[i] != key {
		return false
	}
	t.entries--
	n.remove(i)
	if n.n == 0 && len(t.path) > 0 {
		t.unlink(n)
		t.dropChild(at)
	}
	return true
}

// unlink takes an empty leaf out of the list of leaves.
func (t *tree) unlink(n *node) {
	if n.prev != none {
		t.nodes[n.prev].next = n.next
	}
	if n.next != none {
		t.nodes[n.next].prev = n.prev
	}
}

// dropChild frees the node that the path led to, and inner nodes that have no child left.
func (t *tree) dropChild(at int32) {
	t.free = append(t.free, at)
	s := t.pop()
	n := &t.nodes[s.node]
	n.remove(s.i)
	switch {
	case n.n == 0:
		t.dropChild(s.node) // an inner root has two children at least
	case s.node == t.root && n.n == 1:
		t.free = append(t.free, t.root)
		t.root = int32(n.vals[0])
		for r := &t.nodes[t.root]; !r.leaf && r.n == 1; r = &t.nodes[t.root] {
			t.free = append(t.free, t.root)
			t.root = int32(r.vals[0])
		}
	}
}

// up appends the entries from from to to in rising order, limit at most.
func (t *tree) up(from, to uint64, limit int, dst []Entry) []Entry {
	at := t.descend(from)
	i := t.nodes[at].lower(from)
	for limit > 0 {
		n := &t.nodes[at]
		if i == n.n {
			if n.next == none {
				break
			}
			at, i = n.next, 0
			t.visited = append(t.visited, at)
			continue
		}
		if n.keys[i] > to {
			break
		}
		dst = append(dst, Entry{n.keys[i], n.vals[i]})
		i++
		limit--
	}
	return dst
}

// down appends the entries from to down to from, limit at most.
func (t *tree) down(from, to uint64, limit int, dst []Entry) []Entry {
	at := t.descend(to)
	n := &t.nodes[at]
	i := n.lower(to)
	if i < n.n && n.keys[i] == to {
		i++
	}
	for limit > 0 {
		if i == 0 {
			if n.prev == none {
				break
			}
			at = n.prev
			n = &t.nodes[at]
			i = n.n
			t.visited = append(t.visited, at)
			continue
		}
		i--
		if n.keys[i] < from {
			break
		}
		dst = append(dst, Entry{n.keys[i], n.vals[i]})
		limit--
	}
	return dst
}
