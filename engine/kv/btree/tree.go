package btree

import "drtmx/engine/store"

// Fanout is how many entries a node has at most.
const Fanout = 16

const none = int32(-1)

// Entry is one entry of a tree.
type Entry = store.Entry

// node is a leaf with its entries, or an inner node with its children: vals has their numbers, keys the least key that
// belongs to each; that of the first counts as 0.
type node struct {
	n          int
	leaf       bool
	next, prev int32 // of leaves
	keys, vals [Fanout]uint64
}

// Tree is a B+tree. Nodes are numbered.
type Tree struct {
	pages   []*page
	count   int // of nodes
	free    []int32
	root    int32
	entries int
	visited []int32
	looked  int
	path    []step // to the leaf, from the root
	leaf    int32  // of the last insert

	// Watch is told which leaves take over keys of others; nil: no watch. Skip says which entries scans pass over
	// as if they were not there, nil: none.
	Watch Watch
	Skip  func(key uint64) bool

	// What it begins with.
	size   uint64
	fill   int
	at     func(i uint64) Entry
	counts []int
}

// Watch is told of the leaf that a key is in, or would be if it is not there: it changes when another leaf
// splits or goes.
type Watch interface {
	// Split says that a leaf was made to take some of the keys of another one.
	Split(leaf, right int32)
	// Gone says that a leaf is no more, and that some of its keys, or all, belong to another one now.
	Gone(leaf, into int32)
}

// page is nodes with consecutive numbers; nil: as at the start, and not visited.
type page [256]*node

// step is an inner node on the way down, and which child was taken.
type step struct {
	node int32
	i    int
}

// New makes a tree of size entries, of which at(i) is the one with the i-th lowest key. Its nodes have fill entries, or children, but
// for the last of each level. With fill = Fanout it is as small as can be: what inserting the entries in order leaves behind. The
// leaves have the first numbers, in order, then the nodes of each level above. Each is made when it is first visited.
func New(size uint64, fill int, at func(i uint64) Entry) *Tree {
	t := &Tree{entries: int(size), size: size, fill: fill, at: at, counts: levels(size, fill)}
	for _, n := range t.counts {
		t.count += n
	}
	t.root = int32(t.count - 1)
	t.pages = make([]*page, (t.count+len(page{})-1)/len(page{}))
	return t
}

// levels is the number of nodes of each level of a new tree, from the leaves up.
func levels(size uint64, fill int) []int {
	n := max(1, (int(size)+fill-1)/fill)
	list := []int{n}
	for n > 1 {
		n = (n + fill - 1) / fill
		list = append(list, n)
	}
	return list
}

// Len is the number of entries.
func (t *Tree) Len() int { return t.entries }

// Visited are the nodes that the last operation went to, for the code that charges it, and Looked how many of their keys it compared on
// its way down. The list is valid until the next operation.
func (t *Tree) Visited() []int32 { return t.visited }

// Leaf is the leaf that the last insert put an entry in.
func (t *Tree) Leaf() int32 { return t.leaf }

// IsLeaf says that a node is one.
func (t *Tree) IsLeaf(i int32) bool { return t.node(i).leaf }

// Put replaces the value of a key that is there.
func (t *Tree) Put(key, val uint64) {
	n := t.node(t.descend(key))
	if i := n.lower(key); i < n.n && n.keys[i] == key {
		n.vals[i] = val
	}
}

// Looked is beside Visited.
func (t *Tree) Looked() int { return t.looked }

// made is a node that was visited, or nil.
func (t *Tree) made(i int32) *node {
	if p := t.pages[int(i)/len(page{})]; p != nil {
		return p[int(i)%len(page{})]
	}
	return nil
}

// set gives a number a node.
func (t *Tree) set(i int32, x *node) {
	k := int(i) / len(page{})
	if k == len(t.pages) {
		t.pages = append(t.pages, nil)
	}
	if t.pages[k] == nil {
		t.pages[k] = new(page)
	}
	t.pages[k][int(i)%len(page{})] = x
}

// node is a node to look at or to change.
func (t *Tree) node(i int32) *node {
	x := t.made(i)
	if x == nil {
		x = t.initial(int(i))
		t.set(i, x)
	}
	return x
}

// initial makes a node as it is at the start.
func (t *Tree) initial(i int) *node {
	counts, fill := t.counts, uint64(t.fill)
	x := &node{leaf: i < counts[0], next: none, prev: none}
	if x.leaf {
		if x.prev = int32(i - 1); i+1 < counts[0] {
			x.next = int32(i + 1)
		}
		for k := uint64(i) * fill; k < min(uint64(i+1)*fill, t.size); k++ {
			e := t.at(k)
			x.insert(x.n, e.Key, e.Value)
		}
		return x
	}
	below, under := 0, fill // first node of the level below, entries under one of it
	i -= counts[0]
	level := 1
	for ; i >= counts[level]; level++ {
		i -= counts[level]
		below += counts[level-1]
		under *= fill
	}
	for k := i * t.fill; k < min((i+1)*t.fill, counts[level-1]); k++ {
		key := uint64(0)
		if k > 0 {
			key = t.at(uint64(k) * under).Key
		}
		x.insert(x.n, key, uint64(below+k))
	}
	return x
}

func (t *Tree) allocNode(leaf bool) int32 {
	fresh := &node{leaf: leaf, next: none, prev: none}
	if k := len(t.free); k > 0 {
		i := t.free[k-1]
		t.free = t.free[:k-1]
		t.set(i, fresh)
		return i
	}
	t.count++
	t.set(int32(t.count-1), fresh)
	return int32(t.count - 1)
}

// pop is the last step of the path, which is one shorter then.
func (t *Tree) pop() step {
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
func (t *Tree) descend(key uint64) int32 {
	t.visited, t.path, t.looked = t.visited[:0], t.path[:0], 0
	at := t.root
	for {
		t.visited = append(t.visited, at)
		n := t.node(at)
		if n.leaf {
			t.looked += min(n.lower(key)+1, n.n)
			return at
		}
		i := n.child(key)
		t.looked += min(i+2, n.n)
		t.path = append(t.path, step{at, i})
		at = int32(n.vals[i])
	}
}

// Get is the value of a key.
func (t *Tree) Get(key uint64) (val uint64, ok bool) {
	n := t.node(t.descend(key))
	i := n.lower(key)
	if i == n.n || n.keys[i] != key {
		return 0, false
	}
	return n.vals[i], true
}

// Peek is Get that leaves the tree and what Visited says as they are. known is false where no operation has come before: there the key has
// what it had at the start.
func (t *Tree) Peek(key uint64) (val uint64, ok, known bool) {
	for at := t.root; ; {
		n := t.made(at)
		switch {
		case n == nil:
			return 0, false, false
		case n.leaf:
			i := n.lower(key)
			if i == n.n || n.keys[i] != key {
				return 0, false, true
			}
			return n.vals[i], true, true
		}
		at = int32(n.vals[n.child(key)])
	}
}

// EachMade calls f with the entries of the leaves that were visited, in rising order.
func (t *Tree) EachMade(f func(Entry)) {
	t.eachMade(t.root, f)
}

func (t *Tree) eachMade(at int32, f func(Entry)) {
	n := t.made(at)
	if n == nil {
		return
	}
	for i := range n.n {
		if n.leaf {
			f(Entry{Key: n.keys[i], Value: n.vals[i]})
		} else {
			t.eachMade(int32(n.vals[i]), f)
		}
	}
}

// Insert adds an entry; false if the key is there.
func (t *Tree) Insert(key, val uint64) bool {
	at := t.descend(key)
	n := t.node(at)
	i := n.lower(key)
	if i < n.n && n.keys[i] == key {
		return false
	}
	t.entries++
	if t.leaf = at; n.n < Fanout {
		n.insert(i, key, val)
		return true
	}
	right := t.split(at, i == n.n && n.next == none)
	target := at
	if r := t.node(right); r.n == 0 || key >= r.keys[0] {
		target = right
	}
	t.leaf = target
	n = t.node(target)
	n.insert(n.lower(key), key, val)
	t.addChild(t.node(right).keys[0], right)
	return true
}

// split makes a right sibling and moves half of the node there; nothing if keys only ever come at the end.
func (t *Tree) split(at int32, atEnd bool) (right int32) {
	right = t.allocNode(t.node(at).leaf)
	n, r := t.node(at), t.node(right)
	if !atEnd {
		r.n = copy(r.keys[:], n.keys[Fanout/2:])
		copy(r.vals[:], n.vals[Fanout/2:])
		n.n = Fanout / 2
	}
	if n.leaf {
		r.next, r.prev = n.next, at
		if n.next != none {
			t.node(n.next).prev = right
		}
		n.next = right
		if t.Watch != nil {
			t.Watch.Split(at, right)
		}
	}
	t.visited = append(t.visited, right)
	return right
}

// addChild hangs a new node behind the child that the path took.
func (t *Tree) addChild(key uint64, child int32) {
	if len(t.path) == 0 {
		root := t.allocNode(false)
		n := t.node(root)
		n.insert(0, 0, uint64(t.root))
		n.insert(1, key, uint64(child))
		t.root = root
		return
	}
	s := t.pop()
	n := t.node(s.node)
	if n.n < Fanout {
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

// Remove takes an entry out; false if it is not there.
func (t *Tree) Remove(key uint64) bool {
	at := t.descend(key)
	n := t.node(at)
	i := n.lower(key)
	if i == n.n || n.keys[i] != key {
		return false
	}
	t.entries--
	n.remove(i)
	if n.n == 0 && len(t.path) > 0 {
		t.unlink(at, n)
		t.dropChild(at)
	}
	return true
}

// unlink takes an empty leaf out of the list of leaves. Its keys belong to the one before it, or to the one behind it where
// the node above begins with it.
func (t *Tree) unlink(at int32, n *node) {
	if n.prev != none {
		t.node(n.prev).next = n.next
		t.reportMerge(at, n.prev)
	}
	if n.next != none {
		t.node(n.next).prev = n.prev
		t.reportMerge(at, n.next)
	}
}

func (t *Tree) reportMerge(leaf, into int32) {
	if t.Watch != nil {
		t.Watch.Gone(leaf, into)
	}
}

// dropChild frees the node that the path led to, and inner nodes that have no child left.
func (t *Tree) dropChild(at int32) {
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

// Up appends the entries from from to to in rising order, limit at most.
func (t *Tree) Up(from, to uint64, limit int, dst []Entry) []Entry {
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
		if t.Skip == nil || !t.Skip(n.keys[i]) {
			dst = append(dst, Entry{Key: n.keys[i], Value: n.vals[i]})
			limit--
		}
		i++
	}
	return dst
}

// Each calls f with all entries in rising order. It makes no leaf that was not visited.
func (t *Tree) Each(f func(Entry)) {
	for at := t.descend(0); at != none; {
		n := t.made(at)
		if n != nil {
			for i := range n.n {
				f(Entry{Key: n.keys[i], Value: n.vals[i]})
			}
			at = n.next
			continue
		}
		k := uint64(at) * uint64(t.fill)
		for end := min(k+uint64(t.fill), t.size); k < end; k++ {
			f(t.at(k))
		}
		if at++; k == t.size {
			at = none
		}
	}
}

// Down appends the entries from to down to from, limit at most.
func (t *Tree) Down(from, to uint64, limit int, dst []Entry) []Entry {
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
		if t.Skip == nil || !t.Skip(n.keys[i]) {
			dst = append(dst, Entry{Key: n.keys[i], Value: n.vals[i]})
			limit--
		}
	}
	return dst
}
