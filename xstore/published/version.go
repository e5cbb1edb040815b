package published

import (
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
	"drtmx/xstore/model"
)

// Version is one XModel of a server: the top model, and the sub-models with their tables in registered memory. Expansion
// makes another one, with more of them.
type Version struct {
	Number uint32
	Model  *model.Model
	Next   *Version // the one behind it, once clients may hear of that

	machine int
	image   *Image // what the memory is filled from; nil: the server trained it

	subs, tts r2.Addr
	rkeys     [2]uint32 // of subs, of tts
	subBytes  int       // of a sub-model as clients READ it: with its span, where the model has a table of them
	subStride uint64
	stride    uint32 // lines of a table in its own place
	farFrom   uint32 // number of the first line that is no table's own place
	farLines  uint32
	farNext   uint32
	farAt     map[uint32]farPlace // by sub-model: only looked up
	top       r2.Addr             // registered, of the bytes of the top model
	topKey    uint32
	stored    Predicted // of what the server trained
}

// Predicted sums up how wide the predictions of some sub-models are, in slots: how many they are, the sum, and the widest.
type Predicted struct{ N, Sum, Most int }

func (p *Predicted) add(s model.Sub) {
	if !s.Fallback() {
		w := int(s.MinErr) + int(s.MaxErr)
		p.N, p.Sum, p.Most = p.N+1, p.Sum+w, max(p.Most, w)
	}
}

// Add adds those of others.
func (p *Predicted) Add(o Predicted) {
	p.N, p.Sum, p.Most = p.N+o.N, p.Sum+o.Sum, max(p.Most, o.Most)
}

// farPlace is where a table is that did not fit into its own place.
type farPlace struct{ line, lines uint32 }

// farRoom is how many lines there are for tables that outgrow their places, in percent of the places.
const farRoom = 50

// New takes memory for so many sub-models over so many leaves, and for the leaves to come. im is nil of a model that is
// yet to be trained.
func New(cl *r2.Cluster, machine int, number uint32, x *model.Model, im *Image, leaves, spare uint64) (*Version, error) {
	v := &Version{Number: number, Model: x, machine: machine, image: im, subBytes: x.SubBytes(), subStride: subStride, farAt: map[uint32]farPlace{}}
	for v.subStride < uint64(v.subBytes) {
		v.subStride *= 2
	}
	mean := uint32((leaves+uint64(x.M)-1)/uint64(x.M)) + 1
	v.stride = linesFor(2 * mean)
	v.farFrom = x.M * v.stride
	v.farNext = v.farFrom
	v.farLines = uint32(uint64(v.farFrom)*farRoom/100+spare/lineEntries) + 64
	if im != nil {
		v.farLines += v.placeInitial(im)
	}
	var fillSubs, fillTTs func(block uint64, dst []byte)
	if im != nil {
		fillSubs, fillTTs = v.fillSubs, v.fillTTs
	}
	mem := cl.Mem(machine)
	take := func(name string, bytes uint64, fill func(uint64, []byte)) (r2.Addr, uint32, error) {
		a, err := mem.Alloc(host.Alloc{Name: name, Bytes: bytes, Fill: fill})
		if err != nil {
			return 0, 0, fmt.Errorf("xstore: %w", err)
		}
		return a, mem.Register(a, bytes, host.RemoteRead).RKey, nil
	}
	var err error
	if v.subs, v.rkeys[0], err = take("xstore.models", uint64(x.M)*v.subStride, fillSubs); err != nil {
		return nil, err
	}
	if v.tts, v.rkeys[1], err = take("xstore.tables", uint64(v.farFrom+v.farLines)*lineBytes, fillTTs); err != nil {
		return nil, err
	}
	v.top, v.topKey, err = take("xstore.top", uint64(x.Bytes()), nil)
	return v, err
}

// placeInitial gives the initial tables a place that do not fit into their own, and says how many lines they take.
func (v *Version) placeInitial(im *Image) (lines uint32) {
	for m, n := range im.size {
		if n := linesFor(n); n > v.stride {
			p := farPlace{v.farNext, n + n/2}
			v.farAt[uint32(m)] = p
			v.farNext += p.lines
			lines += p.lines
		}
	}
	return lines
}

// fillSubs makes the initial bytes of a block of sub-models.
func (v *Version) fillSubs(block uint64, dst []byte) {
	for at := uint64(0); at < uint64(len(dst)); at += v.subStride {
		m := (block*uint64(len(dst)) + at) / v.subStride
		if m >= uint64(v.Model.M) {
			return
		}
		v.image.sub(uint32(m)).Put(dst[at:])
		if v.image.spans != nil {
			v.image.spans[m].Put(dst[at+model.SubBytes:])
		}
	}
}

// fillTTs makes the initial lines of a block of tables.
func (v *Version) fillTTs(block uint64, dst []byte) {
	for at := 0; at < len(dst); at += lineBytes {
		v.fillLine(uint32(block)*uint32(len(dst)/lineBytes)+uint32(at/lineBytes), dst[at:at+lineBytes])
	}
}

func (v *Version) fillLine(line uint32, dst []byte) {
	m, i := line/v.stride, line%v.stride
	if line >= v.farFrom {
		ok := false
		if m, i, ok = v.farTable(line); !ok {
			return
		}
	}
	s := v.image.sub(m)
	n := uint32(s.Entries())
	if p, isFar := v.farAt[m]; isFar && line < v.farFrom {
		if i == 0 {
			putFarLine(dst, 0, n, p.line)
		}
		return
	}
	var list [lineEntries]model.Entry
	k := uint32(0)
	for ; k < lineEntries && i*lineEntries+k < n; k++ {
		list[k] = v.image.entry(m, i*lineEntries+k)
	}
	if i == 0 || k > 0 {
		putLine(dst, 0, n, list[:k])
	}
}

// farTable is the sub-model whose initial table has a line, and the line's number in the table. Blocks are filled once, so a search
// through the tables in their order is good enough.
func (v *Version) farTable(line uint32) (m, i uint32, ok bool) {
	at := v.farFrom
	for m, n := range v.image.size {
		if n := linesFor(n); n > v.stride {
			if line < at+n+n/2 {
				return uint32(m), line - at, line < at+n
			}
			at += n + n/2
		}
	}
	return 0, 0, false
}

// SubLoc is where a sub-model is.
func (v *Version) SubLoc(m uint32) r2.Loc {
	return r2.Loc{Machine: v.machine, RKey: v.rkeys[0], Addr: v.subs + r2.Addr(uint64(m)*v.subStride)}
}

// tableLine is the first line of the table of a sub-model that has n entries.
func (v *Version) tableLine(m, n uint32) uint32 {
	if linesFor(n) > v.stride {
		return v.farAt[m].line
	}
	return m * v.stride
}

// TableLoc is where a sub-model's table is, or the line that says where.
func (v *Version) TableLoc(m uint32) r2.Loc { return v.lineLoc(m * v.stride) }

// lineLoc is where a line of tables is.
func (v *Version) lineLoc(line uint32) r2.Loc {
	return r2.Loc{Machine: v.machine, RKey: v.rkeys[1], Addr: v.tts + r2.Addr(line)*lineBytes}
}

// allocTable finds room for a table of n entries: in its own place, or in the one that it has elsewhere, or in a new one there. Old
// places are not used again: tables grow by an entry per split, and a place has room for half as many more.
func (v *Version) allocTable(m, n uint32) (line uint32, isFar, ok bool) {
	lines := linesFor(n)
	if lines <= v.stride {
		return m * v.stride, false, true
	}
	p, has := v.farAt[m]
	if !has || p.lines < lines {
		p = farPlace{v.farNext, lines + lines/2}
		if p.line+p.lines > v.farFrom+v.farLines {
			return 0, false, false
		}
		v.farNext += p.lines
		v.farAt[m] = p
	}
	return p.line, true, true
}

// Predicted sums up the sub-models that were used.
func (v *Version) Predicted() Predicted {
	sum := v.stored
	if v.image != nil {
		sum.Add(v.image.seen)
	}
	return sum
}

// TopLoc is where the top model is.
func (v *Version) TopLoc() r2.Loc { return r2.Loc{Machine: v.machine, RKey: v.topKey, Addr: v.top} }
