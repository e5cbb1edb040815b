package kv

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/kv/btree"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

const (
	treeFill   = 11  // of 16: ln 2, what inserts in random order leave; a hundred million keys then take eight levels
	treeNode   = 320 // distance of two nodes: 8 bytes, 16 keys and as many values, in whole lines
	treeTouch  = 2 * lineBytes
	gapEntries = 16 // of neighbours in the order share the version of a gap, as those of a leaf would

	foundBit = uint64(1) << 63 // of an answer, beside the Ref

	// What searching a node costs a core beside its loads, assumed: a key that is compared is a load from the first-level cache, a
	// compare and a branch that is predicted, one in two cycles; leaving the loop is a branch that is not predicted, some 15
	// cycles on Broadwell (Fog, The microarchitecture of Intel, AMD and VIA CPUs). Package xstore/rivals/service has the same.
	cyclesPerKey  = 2
	cyclesPerNode = 15
)

// tree is the B+tree that finds the records of a server, those of all its sockets. An entry's key is where the record's stands in the
// table's order, its value the Ref and, above, the socket.
type tree struct {
	*btree.Tree
	order store.Order
	nodes space
	gaps  region
	words uint64
}

// space is where nodes are in a machine's memory. Leaves are dealt to its sockets in turn. Inner nodes are read by all and hardly
// written, so that the cache of each socket has them: to a thread they are in its own socket's memory.
type space struct {
	base  []r2.Addr // by socket
	nodes uint64
}

func reserveNodes(cl *r2.Cluster, machine int, name string, nodes uint64) (p space, err error) {
	p.nodes = nodes
	for k := range len(cl.Fabric().Machine(machine).NICs) {
		a, err := cl.Mem(machine).Reserve(name, nodes*treeNode, k)
		if err != nil {
			return p, err
		}
		p.base = append(p.base, a)
	}
	return p, nil
}

// inner is where a thread finds a node. More nodes than there is room for share addresses.
func (p *space) inner(c *r2.Co, node int32) r2.Addr { return p.addr(c.Thread(), node) } // threads go round the sockets

// leaf is where a leaf is.
func (p *space) leaf(node int32) r2.Addr { return p.addr(int(node), node) }

func (p *space) addr(k int, node int32) r2.Addr {
	return p.base[k%len(p.base)] + r2.Addr(uint64(node)%p.nodes*treeNode)
}

// addTree makes the tree of a server's records.
func (t *Table) addTree(m int) error {
	x := &tree{order: t.order()}
	size, room := uint64(0), uint64(0)
	for _, s := range t.shards[m] {
		size, room, s.tree = size+s.records, room+uint64(s.rowEnd), x
	}
	x.Tree = btree.New(size, treeFill, func(i uint64) store.Entry {
		key := x.order.Key(m, i)
		s, j, _ := t.shardOf(key)
		return store.Entry{Key: x.order.Of(key), Value: entryOf(s, homeRef(j))}
	})
	var err error
	name := fmt.Sprintf("kv.%s.tree", t.spec.Name)
	// Leaves that have split are half full.
	if x.nodes, err = reserveNodes(t.cl, m, name, room/(btree.Fanout/2)*8/7+64); err != nil {
		return err
	}
	x.words = room/gapEntries + 1
	x.gaps, err = newRegion(t.cl, m, host.Alloc{Name: name + ".gaps", Bytes: x.words * 8}, host.LocalWrite|host.RemoteRead)
	return err
}

// order is that of the entries of the table's trees.
func (t *Table) order() store.Order {
	if o := t.spec.Order; o != nil {
		return *o
	}
	return store.Order{Of: func(key uint64) uint64 { return key }, Key: t.placement.Partition.Key}
}

func entryOf(s *shard, r Ref) uint64     { return uint64(r) | uint64(s.socket)<<48 }
func refOf(entry uint64) Ref             { return Ref(entry & (1<<48 - 1)) }
func (s *shard) entry(key uint64) uint64 { return s.tree.order.Of(key) }

// charge is the way of the tree's last operation, in one region, through nodes at their places in a machine's memory. had is how much
// of the last one the core has loaded before.
func (x *tree) charge(c *r2.Co, at *space, had int) {
	way := x.Visited()
	for _, n := range way[:len(way)-1] {
		c.Touch(at.inner(c, n), treeTouch)
	}
	c.Touch(at.leaf(way[len(way)-1]), treeTouch-had)
	c.ChargeRegion(cyclesPerNode*len(way) + cyclesPerKey*x.Looked())
}

// gap is where the version is that counts the changes near an entry. It stands for that of a leaf, of which other machines cannot know
// which it is; so its line is charged in the place of one of the leaf's.
func (s *shard) gap(entry uint64) Location {
	x := s.tree
	return Location{Loc: r2.Loc{Machine: s.machine, RKey: x.gaps.rkey, Addr: x.gaps.base + r2.Addr(entry/gapEntries%x.words*8)}}
}

// lookupTree is LookupLocal in a tree. It finds what the tree has when the core's local time has come, unless the table is fixed and has
// it for ever.
func (s *shard) lookupTree(c *r2.Co, key uint64) (loc Location, ok bool) {
	x, at, had := s.tree, s.entry(key), 0
	gap := s.gap(at)
	if !s.table.spec.Fixed {
		gap.Ref, had = Ref(uint32(c.Load64(gap.Addr))), lineBytes
	}
	v, ok := x.Get(at)
	x.charge(c, &x.nodes, had)
	if ok {
		return s.location(refOf(v)), true
	}
	return gap, false
}

// insertTree is Insert into a tree. Tree and version change at one instant, when the core's local time has come.
func (t *Table) insertTree(c *r2.Co, key uint64, own []byte, seen uint64) (store.Change, error) {
	s, _ := t.locateOwn(c, key)
	x, at := s.tree, s.entry(key)
	gap := s.gap(at)
	version := uint32(c.Load64(gap.Addr))
	v, ok := x.Get(at)
	same := store.Change{Ref: refOf(v), Before: version, After: version}
	switch {
	case ok:
		x.charge(c, &x.nodes, lineBytes)
		return same, store.ErrExists
	case seen != store.AnyVersion && uint32(seen) != version:
		x.charge(c, &x.nodes, lineBytes)
		return same, store.ErrChanged
	}
	row, err := s.allocRow(c)
	if err != nil {
		return same, err
	}
	a, layout := s.rowAddr(row), &t.rows.Layout
	word := binary.LittleEndian.Uint64(c.Peek(a+r2.Addr(layout.Incarnation), 8))
	layout.MarkInserted(own, word)
	c.Poke(a, own) // the row is free, and its lock word stays one that is taken
	ref := NewRef(row, record.Incarnation(word))
	x.Insert(at, entryOf(s, ref))
	x.charge(c, &x.nodes, lineBytes)
	c.Poke(gap.Addr, c.Word(uint64(version+2)))
	return store.Change{Ref: ref, Before: version, After: version + 2}, nil
}

// removeTree is Remove from a tree.
func (t *Table) removeTree(c *r2.Co, key uint64, ref Ref) (store.Change, error) {
	s, _ := t.locateOwn(c, key)
	x, at := s.tree, s.entry(key)
	gap := s.gap(at)
	version := uint32(c.Load64(gap.Addr))
	if v, ok := x.Get(at); !ok || refOf(v) != ref {
		x.charge(c, &x.nodes, lineBytes)
		return store.Change{}, store.ErrMissing
	}
	x.Remove(at)
	x.charge(c, &x.nodes, lineBytes)
	c.Poke(gap.Addr, c.Word(uint64(version+2)))
	return store.Change{Ref: ref, Before: version, After: version + 2}, nil
}

// findTree is Find in a tree.
func (s *shard) findTree(key, j uint64, initial bool) (Location, bool) {
	v, ok, known := s.tree.Peek(s.entry(key))
	if !known {
		return s.location(homeRef(j)), initial
	}
	return s.location(refOf(v)), ok
}

// ask is a search for a record of another machine's tree: by one RPC, as DrTM+H reaches what it keeps in trees (thesis section 6.1.1).
type ask struct {
	t   *Table
	key uint64
	rep *r2.Reply
}

// searchTree asks the server of a key for its location. The request is the key, the answer the Ref, or the version of the gap.
func (t *Table) searchTree(c *r2.Co, key uint64, used store.Search) store.Search {
	q, ok := used.(*ask)
	if !ok {
		q = new(ask)
	}
	*q = ask{t, key, c.Call(t.Primary(key), t.rpcFind, binary.LittleEndian.AppendUint64(c.Request(), key))}
	return q
}

// Next takes the answer.
func (q *ask) Next(*r2.Co) (Location, store.State, error) {
	if len(q.rep.B) < 8 {
		return Location{}, store.Failed, fmt.Errorf("table %s key %d: machine %d refuses to look it up", q.t.spec.Name, q.key, q.t.Primary(q.key))
	}
	word := binary.LittleEndian.Uint64(q.rep.B)
	if word&foundBit == 0 {
		s, _, _ := q.t.shardOf(q.key)
		gap := s.gap(s.entry(q.key))
		gap.Ref = Ref(word)
		return gap, store.Missing, nil
	}
	return q.t.Location(q.key, Ref(word&^foundBit)), store.Found, nil
}

func (t *Table) serveFind(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	if len(req) != 8 {
		return 0
	}
	key := binary.LittleEndian.Uint64(req)
	if key > MaxKey || t.Primary(key) != c.Machine() {
		return 0
	}
	s, _, _ := t.shardOf(key)
	loc, ok := s.lookupTree(c, key)
	word := uint64(loc.Ref)
	if ok {
		word |= foundBit
	}
	binary.LittleEndian.PutUint64(rep, word)
	return 8
}

// backupTree charges what a backup's own tree takes that has the entries of its primary's, and so its shape.
func (b *backup) backupTree(c *r2.Co, s *shard, key uint64) {
	s.tree.Get(s.entry(key))
	s.tree.charge(c, &b.nodes, 0)
}

// linesOfTree names the nodes on the way to a record, on its server and on each backup.
func (t *Table) linesOfTree(s *shard, key uint64, f func(machine int, a r2.Addr, n int)) {
	x := s.tree
	x.Get(s.entry(key))
	way := x.Visited()
	lines := func(machine int, p *space) {
		for k := range p.base {
			for _, n := range way[:len(way)-1] {
				f(machine, p.addr(k, n), treeTouch)
			}
		}
		f(machine, p.leaf(way[len(way)-1]), treeTouch)
	}
	lines(s.machine, &x.nodes)
	for _, b := range t.backups[s.machine] {
		lines(b.host, &b.nodes)
	}
}

// eachEntry calls f with the records of a shard in the leaves that were visited.
func (s *shard) eachEntry(f func(key uint64, r Ref)) {
	s.tree.EachMade(func(e store.Entry) {
		if e.Value>>48 == uint64(s.socket) {
			f(e.Key, refOf(e.Value))
		}
	})
}
