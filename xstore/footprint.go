package xstore

import (
	"drtmx/xstore/model"
	"drtmx/xstore/published"
)

// Footprint is what the learned index takes, and how well it predicts (§3.7.7).
type Footprint struct {
	SubModels  int
	TopBytes   uint64
	ModelBytes uint64 // of all sub-models
	TableBytes uint64 // of an entry for each leaf; those that straddle sub-models have two
	IndexBytes uint64 // of the inner nodes that it stands for
	// MeanError is the mean width of the predictions of sub-models, in slots: the sum of their two errors. MaxError is the
	// largest of them. Of the sub-models that a lookup has used, Looked of them.
	MeanError float64
	MaxError  int
	Looked    int
}

// Client is how much of it a client keeps.
func (f Footprint) Client(m Mode) uint64 {
	switch m {
	case Full:
		return f.TopBytes + f.ModelBytes + f.TableBytes
	case Model:
		return f.TopBytes + f.ModelBytes
	case Top:
		return f.TopBytes
	}
	return f.IndexBytes
}

// Footprint looks at the current models of all servers. It is free of time.
func (s *Store) Footprint() (f Footprint) {
	var sum published.Predicted
	for _, p := range s.parts {
		t := p.tree.Stats()
		f.IndexBytes += uint64(t.InnerNodes) * uint64(p.tree.Inner().Bytes())
		v := p.current
		f.SubModels += int(v.Model.M)
		f.TopBytes += uint64(v.Model.Bytes())
		f.ModelBytes += uint64(v.Model.M) * model.SubBytes
		f.TableBytes += uint64(t.Leaves) * model.EntryBytes
		sum.Add(v.Predicted())
	}
	if f.Looked, f.MaxError = sum.N, sum.Most; sum.N > 0 {
		f.MeanError = float64(sum.Sum) / float64(sum.N)
	}
	return f
}

// add adds that of another store.
func (f *Footprint) add(o *Footprint) {
	f.SubModels += o.SubModels
	f.TopBytes += o.TopBytes
	f.ModelBytes += o.ModelBytes
	f.TableBytes += o.TableBytes
	f.IndexBytes += o.IndexBytes
	if looked := f.Looked + o.Looked; looked > 0 {
		f.MeanError = (float64(f.MeanError*float64(f.Looked)) + float64(o.MeanError*float64(o.Looked))) / float64(looked)
		f.Looked = looked
	}
	f.MaxError = max(f.MaxError, o.MaxError)
}
