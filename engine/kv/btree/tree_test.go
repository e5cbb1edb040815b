package btree

import (
	"math/rand"
	"slices"
	"testing"
)

// TestTree: a tree is a sorted list, whatever happens to it, and stays a B+tree.
func TestTree(t *testing.T) {
	for seed := range int64(30) {
		rnd := rand.New(rand.NewSource(seed))
		x, list := New(0, Fanout, nil), []Entry(nil)
		space := []uint64{20, 300, 5_000}[seed%3]
		queue := seed%5 == 0 // keys come at the end and go at the front
		next := uint64(0)
		for op := range 6_000 {
			key := rnd.Uint64() % space
			grow := op/1_000%2 == 0 // fill and empty by turns
			if queue {
				if key = next; !grow && len(list) > 0 {
					key = list[0].Key
				}
			}
			i, there := slices.BinarySearchFunc(list, key, func(e Entry, k uint64) int {
				return int(int64(e.Key) - int64(k))
			})
			switch {
			case grow == (rnd.Intn(10) < 8):
				if x.Insert(key, key*3) == there {
					t.Fatalf("seed %d: insert of %d, there before: %v", seed, key, there)
				}
				if !there {
					list = slices.Insert(list, i, Entry{Key: key, Value: key * 3})
					next = max(next, key+1)
				}
			default:
				if x.Remove(key) != there {
					t.Fatalf("seed %d: remove of %d, there before: %v", seed, key, there)
				}
				if there {
					list = slices.Delete(list, i, i+1)
				}
			}
			if op%17 == 0 {
				compare(t, x, list, rnd.Uint64()%space, rnd.Uint64()%space, 1+rnd.Intn(40))
				if err := x.Audit(); err != nil {
					t.Fatalf("seed %d, operation %d: %v", seed, op, err)
				}
			}
		}
		if n := x.count - len(x.free); n > 4+len(list) {
			t.Errorf("seed %d: %d nodes for %d entries", seed, n, len(list))
		}
	}
}

func compare(t *testing.T, x *Tree, list []Entry, from, to uint64, limit int) {
	t.Helper()
	var want []Entry
	for _, e := range list {
		if e.Key >= from && e.Key <= to {
			want = append(want, e)
		}
	}
	up := want[:min(limit, len(want))]
	if got := x.Up(from, to, limit, nil); !slices.Equal(got, up) {
		t.Fatalf("up from %d to %d, %d at most: %v, want %v", from, to, limit, got, up)
	}
	down := slices.Clone(want)
	slices.Reverse(down)
	down = down[:min(limit, len(down))]
	if got := x.Down(from, to, limit, nil); !slices.Equal(got, down) {
		t.Fatalf("down to %d from %d, %d at most: %v, want %v", from, to, limit, got, down)
	}
	if x.entries != len(list) {
		t.Fatalf("%d entries, want %d", x.entries, len(list))
	}
}

// listed is a tree that begins with a list.
func listed(list []Entry) *Tree {
	return New(uint64(len(list)), Fanout, func(i uint64) Entry { return list[i] })
}

// made counts the nodes that somebody has visited.
func made(x *Tree) (n int) {
	for i := range x.count {
		if x.made(int32(i)) != nil {
			n++
		}
	}
	return n
}

// compareAll: each sees the whole list.
func compareAll(t *testing.T, x *Tree, list []Entry) {
	t.Helper()
	var all []Entry
	x.Each(func(e Entry) { all = append(all, e) })
	if !slices.Equal(all, list) {
		t.Errorf("%d of %d entries, or others", len(all), len(list))
	}
}

// TestBuild: a new tree has full leaves and no more nodes than it needs, and none that nobody has visited.
func TestBuild(t *testing.T) {
	for _, n := range []int{0, 1, 16, 17, 256, 257, 3_000, 5_000} {
		var list []Entry
		for i := range n {
			list = append(list, Entry{Key: uint64(3 * i), Value: uint64(i)})
		}
		x := listed(list)
		x.Up(uint64(n), uint64(n), 1, nil)
		before := made(x)
		if before > len(x.visited) {
			t.Errorf("%d entries: %d nodes made, %d visited", n, before, len(x.visited))
		}
		x.Up(0, 0, 1, nil) // the way to the first leaf
		before = made(x)
		compareAll(t, x, list)
		if now := made(x); now > before {
			t.Errorf("%d entries: %d nodes made, %d by looking at all of them", n, before, now)
		}
		compare(t, x, list, 0, ^uint64(0), n+1)
		if err := x.Audit(); err != nil {
			t.Errorf("%d entries: %v", n, err)
		}
		if most := n/Fanout + n/Fanout/(Fanout-1) + 6; x.count > most {
			t.Errorf("%d entries: %d nodes, want at most %d", n, x.count, most)
		}
	}
}

// TestChangedFromTheStart: a tree that begins with entries is a sorted list, too, at every moment.
func TestChangedFromTheStart(t *testing.T) {
	for seed := range int64(10) {
		rnd := rand.New(rand.NewSource(seed))
		var list []Entry
		for i := range 700 {
			list = append(list, Entry{Key: uint64(5 * i), Value: 0})
		}
		x := listed(slices.Clone(list))
		for op := range 1_000 {
			key := rnd.Uint64() % 4_000
			i, there := slices.BinarySearchFunc(list, key, func(e Entry, k uint64) int { return int(int64(e.Key) - int64(k)) })
			switch {
			case there && op%3 != 0:
				x.Remove(key)
				list = slices.Delete(list, i, i+1)
			case !there:
				x.Insert(key, 1)
				list = slices.Insert(list, i, Entry{Key: key, Value: 1})
			}
			if op%50 == 0 {
				compare(t, x, list, rnd.Uint64()%4_000, rnd.Uint64()%4_000, 1+rnd.Intn(40))
				compareAll(t, x, list)
			}
		}
		compare(t, x, list, 0, ^uint64(0), 5_000)
		if err := x.Audit(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// TestInOrder: entries that come in rising order, as numbers that a district gives out, leave full nodes behind: as many
// as New makes of the same entries.
func TestInOrder(t *testing.T) {
	for _, n := range []uint64{1, Fanout, Fanout + 1, 300, 5_000} {
		x := New(0, Fanout, nil)
		for k := range n {
			if !x.Insert(k, k) {
				t.Fatalf("key %d is there", k)
			}
		}
		want := 0
		for _, of := range levels(n, Fanout) {
			want += of
		}
		if has := x.count - len(x.free); has != want {
			t.Errorf("%d entries in rising order take %d nodes, %d are enough", n, has, want)
		}
	}
}

// TestFill: a tree whose nodes are not full at the start is a sorted list, too, whose operations see what New was told, and Peek makes
// nothing.
func TestFill(t *testing.T) {
	for _, fill := range []int{2, 8, 11, Fanout} {
		var list []Entry
		for i := range 3_000 {
			list = append(list, Entry{Key: uint64(3 * i), Value: uint64(i)})
		}
		x := New(uint64(len(list)), fill, func(i uint64) Entry { return list[i] })
		if _, _, known := x.Peek(300); known || made(x) > 0 {
			t.Fatalf("fill %d: somebody has visited key 300, %d nodes are made", fill, made(x))
		}
		if v, ok := x.Get(300); !ok || v != 100 || len(x.Visited()) < 3 || x.Looked() < len(x.Visited()) {
			t.Errorf("fill %d: key 300 is %d, %v; %d nodes and %d keys on the way", fill, v, ok, len(x.Visited()), x.Looked())
		}
		if v, ok, known := x.Peek(300); v != 100 || !ok || !known {
			t.Errorf("fill %d: Peek has %d, %v, %v", fill, v, ok, known)
		}
		if _, ok, known := x.Peek(301); ok || !known {
			t.Errorf("fill %d: Peek of a key that is not there: %v, %v", fill, ok, known)
		}
		n := 0
		x.EachMade(func(e Entry) {
			n++
			if e.Key != 3*e.Value {
				t.Errorf("fill %d: %+v", fill, e)
			}
		})
		if n == 0 || n > fill {
			t.Errorf("fill %d: %d entries of a leaf", fill, n)
		}
		compareAll(t, x, list)
		compare(t, x, list, 0, ^uint64(0), len(list)+1)
		if err := x.Audit(); err != nil {
			t.Errorf("fill %d: %v", fill, err)
		}
	}
}
