package published

import (
	"sync"
	"sync/atomic"

	"drtmx/xstore/model"
)

// Image is what the sub-models and tables of a server are at the start: a pure function of the initial keys, made when
// a lookup first needs them. The server's memory is filled from it, and all clients' caches share it: each has what it
// fetched later beside it. Machines may need one at the same time; what is made does not depend on which of them makes it.
type Image struct {
	lock    sync.Mutex // of what makes one
	model   *model.Model
	initial *model.Initial
	trainer *model.Trainer
	scratch []model.Entry

	subs  []model.Sub
	made  []uint64  // by sub-model; changed under the lock, and read without it
	seen  Predicted // of those that are made
	spans []model.Span
	first []uint32 // leaf of the first entry of each table
	size  []uint32 // of the table, before it is known to be too large to predict

	entries int // of all tables
}

// NewImage is the image of a model of the initial keys. t trains its sub-models.
func NewImage(x *model.Model, in *model.Initial, t *model.Trainer) *Image {
	im := &Image{model: x, initial: in, trainer: t, subs: make([]model.Sub, x.M), made: make([]uint64, (x.M+63)/64),
		first: make([]uint32, x.M), size: make([]uint32, x.M)}
	for m := range x.M {
		s := x.Span(m)
		if x.Tabled() { // the model's table changes, what clients began with does not
			im.spans = append(im.spans, s)
		}
		if s.Empty() {
			im.size[m] = 1
			im.entries++
			im.first[m] = in.LeafOf(x.Base(m))
			continue
		}
		im.first[m] = in.LeafOf(s.Low)
		im.size[m] = in.LeafOf(s.High) - im.first[m] + 1
		im.entries += int(im.size[m])
	}
	return im
}

// sub is a sub-model of generation 0.
func (im *Image) sub(m uint32) model.Sub {
	if atomic.LoadUint64(&im.made[m/64])>>(m%64)&1 == 0 {
		im.make(m)
	}
	return im.subs[m]
}

// make makes one unless it is made.
func (im *Image) make(m uint32) {
	im.lock.Lock()
	defer im.lock.Unlock()
	made := im.made[m/64]
	if made>>(m%64)&1 != 0 {
		return
	}
	if im.spans == nil {
		im.subs[m], im.scratch = im.trainer.Initial(im.initial, im.model, m, 0, im.scratch)
	} else {
		im.subs[m], im.scratch = im.trainer.InitialOf(im.initial, im.spans[m], im.model.BaseOf(im.spans[m]), 0, im.scratch)
	}
	if n := len(im.scratch); n > 0 {
		im.first[m] = im.scratch[0].ALN() - im.initial.FirstALN
	}
	im.seen.add(im.subs[m])
	atomic.StoreUint64(&im.made[m/64], made|1<<(m%64))
}

// entry is the i-th of a sub-model's table.
func (im *Image) entry(m, i uint32) model.Entry {
	leaf := im.first[m] + i
	return model.MakeEntry(im.initial.FirstALN+leaf, im.initial.INCA, im.keysOf(leaf))
}

// keysOf is how many keys an initial leaf has: all are as full but for the last.
func (im *Image) keysOf(leaf uint32) int {
	fill := uint64(im.initial.Fill)
	return int(min(fill, im.initial.Keys.Len()-uint64(leaf)*fill))
}
