package compare

import (
	"math"

	"drtmx/xstore/dataset"
	"drtmx/xstore/model"
	"drtmx/xstore/tree"
)

// Memory is what a client's cache takes with so many sub-models (Figure 3-22a), in bytes.
type Memory struct {
	SubModels uint32
	XModel    int64 // top model, its table, and the sub-models
	TT        int64 // the entries of all tables; those of leaves that straddle sub-models are in several
}

// MemoryOptions are those of MemoryOfSet. Zero fields are defaults.
type MemoryOptions struct {
	Set    dataset.Options
	Slots  int           // of a leaf: 16
	Top    model.TopSpec // lr
	Counts []uint32      // of sub-models
}

// MemoryData is Figure 3-22a.
type MemoryData struct {
	Rows []Memory
	Top  int // bytes of the top model alone
	Tree tree.Sizes
}

// MemoryOfSet computes Figure 3-22a for a set of keys.
func MemoryOfSet(o MemoryOptions) (*MemoryData, error) {
	keys, err := dataset.Make(o.Set)
	if err != nil {
		return nil, err
	}
	if o.Slots == 0 {
		o.Slots = slots
	}
	sizes, err := tree.SizesOf(tree.Options{Keys: keys, ValueBytes: 8, Slots: o.Slots})
	if err != nil {
		return nil, err
	}
	top, err := model.TrainTop(o.Top, keys)
	if err != nil {
		return nil, err
	}
	in := &model.Initial{Keys: keys, Fill: max(o.Slots/2, 1), High: math.MaxUint64}
	return &MemoryData{memoryUnder(in, top, o.Counts), top.Bytes(), sizes}, nil
}

// MemoryOf computes the memory for each number of sub-models over unchanged leaves, if all of them can predict.
// The top model is trained once: it does not depend on the number.
func MemoryOf(in *model.Initial, spec model.TopSpec, counts ...uint32) ([]Memory, error) {
	top, err := model.TrainTop(spec, in.Keys)
	if err != nil {
		return nil, err
	}
	return memoryUnder(in, top, counts), nil
}

func memoryUnder(in *model.Initial, top model.Top, counts []uint32) (all []Memory) {
	for _, count := range counts {
		x := model.NewModel(top, count, in.Keys, in.Low, in.High)
		m := Memory{SubModels: count, XModel: int64(x.Bytes()) + int64(count)*model.SubBytes}
		for i := range x.M {
			if span := x.Span(i); !span.Empty() {
				m.TT += int64(in.LeafOf(span.High)-in.LeafOf(span.Low)+1) * model.EntryBytes
			}
		}
		all = append(all, m)
	}
	return all
}
