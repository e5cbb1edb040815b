package xstore

import "drtmx/xstore/model"

// Footprint is what the learned index takes, and how well it predicts (§3.7.7).
type Footprint struct {
	SubModels  int
	TopBytes   uint64
	ModelBytes uint64 // of all sub-models
	TableBytes uint64 // of an entry for each leaf; those that straddle sub-models have two
	IndexBytes uint64 // of the inner nodes that it stands for
	// MeanError is the mean width of the predictions of sub-models, in slots: the sum of their two errors. MaxError is the
	// largest of them. Of the sub-models that somebody has looked at, Looked of them.
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
	var sum predicted
	for _, p := range s.parts {
		t := p.tree.Stats()
		f.IndexBytes += uint64(t.InnerNodes) * uint64(p.tree.Inner().Bytes())
		v := p.current
		f.SubModels += int(v.model.M)
		f.TopBytes += uint64(v.model.Bytes())
		f.ModelBytes += uint64(v.model.M) * model.SubBytes
		f.TableBytes += uint64(t.Leaves) * model.EntryBytes
		of := v.predicted()
		sum.n, sum.sum, sum.most = sum.n+of.n, sum.sum+of.sum, max(sum.most, of.most)
	}
	if f.Looked, f.MaxError = sum.n, sum.most; sum.n > 0 {
		f.MeanError = float64(sum.sum) / float64(sum.n)
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
