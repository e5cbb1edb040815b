package ordered

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
	nodes   []*node // nil: as at the start, and nobody has visited it
	free    []int32
	root    int32
	entries int
	visited []int32
	path    []step // to the leaf, from the root

	// What it begins with.
	size uint64
	at   func(i uint64) Entry
}

// step is an inner node on the way down, and which child was taken.
type step struct {
	node int32
	i    int
}

// newTree makes a tree of size entries, of which at(i) is the one with the i-th lowest key. It has full nodes but for the
// last of each level, and is as small as can be: what inserting the entries in order leaves behind. The leaves have the
// first numbers, in order, then the nodes of each level above. Each is made when somebody visits it.
func newTree(size uint64, at func(i uint64) Entry) *tree {
	nodes := 0
	for _, n := range levels(size) {
		nodes += n
	}
	return &tree{nodes: make([]*node, nodes, nodes+4), root: int32(nodes - 1), entries: int(size), size: size, at: at}
}

// levels is the number of nodes of each level of a new tree, from the leaves up.
func levels(size uint64) []int {
	n := max(1, (int(size)+fanout-1)/fanout)
	list := []int{n}
	for n > 1 {
		n = (n + fanout - 1) / fanout
		list = append(list, n)
	}
	return list
}

// node is a node to look at or to change.
func (t *tree) node(i int32) *node {
	if t.nodes[i] == nil {
		t.nodes[i] = t.initial(int(i))
	}
	return t.nodes[i]
}

// initial makes a node as it is at the start.
func (t *tree) initial(i int) *node {
	counts := levels(t.size)
	x := &node{leaf: i < counts[0], next: none, prev: none}
	if x.leaf {
		if x.prev = int32(i - 1); i+1 < counts[0] {
			x.next = int32(i + 1)
		}
		for k := uint64(i) * fanout; k < min(uint64(i+1)*fanout, t.size); k++ {
			e := t.at(k)
			x.insert(x.n, e.Key, e.Value)
		}
		return x
	}
	below, under := 0, uint64(fanout) // first node of the level below, entries under one of it
	i -= counts[0]
	level := 1
	for ; i >= counts[level]; level++ {
		i -= counts[level]
		below += counts[level-1]
		under *= fanout
	}
	for k := i * fanout; k < min((i+1)*fanout, counts[level-1]); k++ {
		key := uint64(0)
		if k > 0 {
			key = t.at(uint64(k) * under).Key
		}
		x.insert(x.n, key, uint64(below+k))
	}
	return x
}

func (t *tree) take(leaf bool) int32 {
	fresh := &node{leaf: leaf, next: none, prev: none}
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
		n := t.node(at)
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
	n := t.node(at)
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
	if r := t.node(right); r.n == 0 || key >= r.keys[0] {
		target = right
	}
	n = t.node(target)
	n.insert(n.lower(key), key, val)
	t.addChild(t.node(right).keys[0], right)
	return true
}

// split makes a right sibling and moves half of the node there; nothing if keys only ever come at the end.
func (t *tree) split(at int32, atEnd bool) (right int32) {
	right = t.take(t.node(at).leaf)
	n, r := t.node(at), t.node(right)
	if !atEnd {
		r.n = copy(r.keys[:], n.keys[fanout/2:])
		copy(r.vals[:], n.vals[fanout/2:])
		n.n = fanout / 2
	}
	if n.leaf {
		r.next, r.prev = n.next, at
		if n.next != none {
			t.node(n.next).prev = right
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
		n := t.node(root)
		n.insert(0, 0, uint64(t.root))
		n.insert(1, key, uint64(child))
		t.root = root
		return
	}
	s := t.pop()
	n := t.node(s.node)
	if n.n < fanout {
		n.insert(s.i+1, key, uint64(child))
		return
	}
	right := t.split(s.node, s.i == n.n-1)
	n, r := t.node(s.node), t.node(right)
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
	n := t.node(at)
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
		t.node(n.prev).next = n.next
	}
	if n.next != none {
		t.node(n.next).prev = n.prev
	}
}

// dropChild frees the node that the path led to, and inner nodes that have no child left.
func (t *tree) dropChild(at int32) {
	t.free = append(t.free, at)
	s := t.pop()
	n := t.node(s.node)
	n.remove(s.i)
	switch {
	case n.n == 0:
		t.dropChild(s.node) // an inner root has two children at least
	case s.node == t.root && n.n == 1:
		t.free = append(t.free, t.root)
		t.root = int32(n.vals[0])
		for r := t.node(t.root); !r.leaf && r.n == 1; r = t.node(t.root) {
			t.free = append(t.free, t.root)
			t.root = int32(r.vals[0])
		}
	}
}

// up appends the entries from from to to in rising order, limit at most.
func (t *tree) up(from, to uint64, limit int, dst []Entry) []Entry {
	at := t.descend(from)
	i := t.node(at).lower(from)
	for limit > 0 {
		n := t.node(at)
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
		dst = append(dst, Entry{Key: n.keys[i], Value: n.vals[i]})
		i++
		limit--
	}
	return dst
}

// each calls f with all entries in rising order. It makes no leaf that nobody has visited.
func (t *tree) each(f func(Entry)) {
	for at := t.descend(0); at != none; {
		n := t.nodes[at]
		if n != nil {
			for i := range n.n {
				f(Entry{Key: n.keys[i], Value: n.vals[i]})
			}
			at = n.next
			continue
		}
		k := uint64(at) * fanout
		for end := min(k+fanout, t.size); k < end; k++ {
			f(t.at(k))
		}
		if at++; k == t.size {
			at = none
		}
	}
}

// down appends the entries from to down to from, limit at most.
func (t *tree) down(from, to uint64, limit int, dst []Entry) []Entry {
	at := t.descend(to)
	n := t.node(at)
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
			n = t.node(at)
			i = n.n
			t.visited = append(t.visited, at)
			continue
		}
		i--
		if n.keys[i] < from {
			break
		}
		dst = append(dst, Entry{Key: n.keys[i], Value: n.vals[i]})
		limit--
	}
	return dst
}
