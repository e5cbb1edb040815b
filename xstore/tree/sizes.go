package tree

// Sizes are the numbers of an unchanged tree.
type Sizes struct {
	Leaves     uint64
	InnerNodes uint32
	Levels     int // of inner nodes and leaves
	// CacheBytes is what a client keeps that has all inner nodes: of each what a READ of it brings.
	CacheBytes uint64
}

// SizesOf works them out without making the tree. Of the keys only their number matters.
func SizesOf(o Options) (Sizes, error) {
	t := Tree{o: o}
	if err := t.plan(); err != nil {
		return Sizes{}, err
	}
	inners := t.first.inners()
	return Sizes{t.first.leaves, inners, t.first.levels() + 1, uint64(inners) * uint64(t.inner.Bytes())}, nil
}
