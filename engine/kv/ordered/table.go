package ordered

import (
	"cmp"
	"fmt"
	"slices"

	"drtmx/engine/fabric/host"
	"drtmx/engine/kv/btree"
	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// What an insert or a delete may answer besides success.
var (
	ErrExists  = store.ErrExists
	ErrMissing = store.ErrMissing
)

const (
	headBytes  = 64      // of a part, in its server's memory: the version, which counts changes
	nodeBytes  = 512     // distance of two nodes in the address space
	nodeTouch  = 128     // of a node that a search looks at: two lines
	partNodes  = 1 << 16 // if Spec.Nodes says nothing,
	tableBytes = 8 << 30 // and there is room for them
	entryBytes = 16      // of a reply
)

// Table is an ordered table of a cluster.
type Table struct {
	spec    Spec
	cl      *r2.Cluster
	service *Service
	share   uint64        // parts of a server
	trees   []*btree.Tree // owner: a part's server
	heads   []r2.Addr     // by server
	nodes   []r2.Addr     // by server, reserved
	found   [][]Entry     // owner: each server, scratch of its handlers, see r2.Co.Request
	dated   *Dated        // nil: no snapshots are read
}

// Primary is the server of a part.
func (t *Table) Primary(part uint64) int { return int(part / t.share) }

// Name is for messages.
func (t *Table) Name() string { return t.spec.Name }

// tree is a part's, made when first asked for.
func (t *Table) tree(part uint64) *btree.Tree {
	if t.trees[part] == nil {
		t.trees[part] = t.newTree(part)
		if t.dated != nil {
			t.dated.follow(part)
		}
	}
	return t.trees[part]
}

func (t *Table) newTree(part uint64) *btree.Tree {
	if at := t.spec.At; at != nil {
		return btree.New(t.spec.Size, btree.Fanout, func(i uint64) Entry { return at(part, i) })
	}
	var list []Entry
	if t.spec.Fill != nil {
		t.spec.Fill(part, func(key, value uint64) { list = append(list, Entry{Key: key, Value: value}) })
	}
	if byKey := func(a, b Entry) int { return cmp.Compare(a.Key, b.Key) }; !slices.IsSortedFunc(list, byKey) {
		slices.SortFunc(list, byKey)
	}
	return btree.New(uint64(len(list)), btree.Fanout, func(i uint64) Entry { return list[i] })
}

// Entries calls f with the entries of a part in order: an oracle, free of time. An unused part has what it
// begins with.
func (t *Table) Entries(part uint64, f func(Entry)) {
	if t.dated != nil {
		f = t.dated.live(part, f)
	}
	t.tree(part).Each(f)
}

// Used reports whether a part was used.
func (t *Table) Used(part uint64) bool { return t.trees[part] != nil }

func (t *Table) head(part uint64) r2.Addr {
	return t.heads[t.Primary(part)] + r2.Addr(part%t.share*headBytes)
}

// charge is the way that the last operation on a part's tree took.
func (t *Table) charge(c *r2.Co, part uint64, x *btree.Tree) {
	base := t.nodes[t.Primary(part)] + r2.Addr(part%t.share*t.spec.Nodes*nodeBytes)
	for _, n := range x.Visited() {
		c.Touch(base+r2.Addr(uint64(n)%t.spec.Nodes*nodeBytes), nodeTouch)
	}
}

// scanLocal appends what a scan finds, on the part's server.
func (t *Table) scanLocal(c *r2.Co, r Range, dst []Entry) []Entry {
	c.Load64(t.head(r.Part))
	x := t.tree(r.Part)
	if r.Down {
		dst = x.Down(r.From, r.To, r.Limit, dst)
	} else {
		dst = x.Up(r.From, r.To, r.Limit, dst)
	}
	t.charge(c, r.Part, x)
	return dst
}

// insertLocal adds an entry on the part's server.
func (t *Table) insertLocal(c *r2.Co, part, key, value uint64) error {
	if t.dated != nil {
		_, err := t.dated.enterLocal(c, part, key, value)
		return err
	}
	t.bump(c, part)
	x := t.tree(part)
	ok := x.Insert(key, value)
	t.charge(c, part, x)
	if !ok {
		return ErrExists
	}
	return nil
}

// deleteLocal takes an entry out on the part's server.
func (t *Table) deleteLocal(c *r2.Co, part, key uint64) error {
	t.bump(c, part)
	if t.dated != nil && t.dated.parts[part].retired[key] != (lifetimes{}) {
		return t.dated.end(c, part, key)
	}
	x := t.tree(part)
	ok := x.Remove(key)
	t.charge(c, part, x)
	if !ok {
		return ErrMissing
	}
	return nil
}

// bump raises the version of a part, as a latch would be taken.
func (t *Table) bump(c *r2.Co, part uint64) {
	a := t.head(part)
	v := c.Load64(a)
	c.LocalCAS(a, v, v+1)
}

// newTable checks a description and takes memory.
func newTable(cl *r2.Cluster, s Spec) (*Table, error) {
	if s.Servers < 1 || s.Servers > cl.Machines() || s.Parts < 1 {
		return nil, fmt.Errorf("ordered table %s: %d parts on %d servers, the cluster has %d machines", s.Name, s.Parts, s.Servers, cl.Machines())
	}
	share := (s.Parts + uint64(s.Servers) - 1) / uint64(s.Servers)
	if s.Nodes == 0 {
		s.Nodes = max(1, min(partNodes, tableBytes/(share*nodeBytes)))
	}
	t := &Table{spec: s, cl: cl, share: share, trees: make([]*btree.Tree, s.Parts), found: make([][]Entry, cl.Machines())}
	cl.OnSpoil(func(m int) { clear(t.found[m][:cap(t.found[m])]) })
	for m := range s.Servers {
		a, err := cl.Mem(m).Alloc(host.Alloc{Name: "ordered." + s.Name, Bytes: t.share * headBytes})
		if err != nil {
			return nil, fmt.Errorf("ordered table %s: %w", s.Name, err)
		}
		t.heads = append(t.heads, a)
		nodes, err := cl.Mem(m).Reserve("ordered."+s.Name+".nodes", t.share*s.Nodes*nodeBytes, 0)
		if err != nil {
			return nil, fmt.Errorf("ordered table %s: %w", s.Name, err)
		}
		t.nodes = append(t.nodes, nodes)
	}
	return t, nil
}

func (t *Table) local(c *r2.Co, part uint64) bool { return t.Primary(part) == c.Machine() }
