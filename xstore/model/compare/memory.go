package compare

import "drtmx/xstore/model"

// Memory is what a client's cache takes with so many sub-models (Figure 3-22a), in bytes.
type Memory struct {
	SubModels uint32
	XModel    int64 // top model, its table, and the sub-models
	TT        int64 // the entries of all tables; those of leaves that straddle sub-models are in several
}

// MemoryOf computes the memory for each number of sub-models over leaves that nobody has changed, if all of them can predict.
// The top model is trained once: it does not depend on the number.
func MemoryOf(in *model.Initial, spec model.TopSpec, counts ...uint32) ([]Memory, error) {
	top, err := model.TrainTop(spec, in.Keys)
	if err != nil {
		return nil, err
	}
	var all []Memory
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
	return all, nil
}
