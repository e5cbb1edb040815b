package xstore

import (
	"fmt"
	"math/bits"

	"drtmx/engine/knob"
	"drtmx/engine/metrics"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/wire"
	"drtmx/xstore/model"
)

// Indexes makes the ordered tables that transactions have their secondary indexes in: each is a store of its own, whose keys are
// the numbers of a part and, below it, the keys of that part. They share three handlers.
type Indexes struct {
	cl      *r2.Cluster
	options func(s *store.KVSpec) Options
	tables  [256]*indexTable // by number; nil: none
	rpc     rpcs

	trainers [][]*trainer // by machine
}

// NewIndexes prepares the indexes of a cluster. options are those of an index.
func NewIndexes(cl *r2.Cluster, options func(s *store.KVSpec) Options) *Indexes {
	v := &Indexes{cl: cl, options: options, trainers: make([][]*trainer, cl.Machines())}
	v.rpc.scan = cl.Handle("xstore.scan", v.serving((*Store).serveScan))
	v.rpc.insert = cl.Handle("xstore.insert", v.serving((*Store).serveInsert))
	v.rpc.remove = cl.Handle("xstore.delete", v.serving((*Store).serveDelete))
	return v
}

// serving has the index that a request names serve it.
func (v *Indexes) serving(f func(s *Store, c *r2.Co, from r2.Peer, req, rep []byte) int) r2.Handler {
	return func(c *r2.Co, from r2.Peer, req, rep []byte) int {
		return f(v.tables[wire.Get64(req)%uint64(len(v.tables))].Store, c, from, req[8:], rep)
	}
}

// each calls f with the indexes.
func (v *Indexes) each(f func(t *indexTable)) {
	for _, t := range v.tables {
		if t != nil {
			f(t)
		}
	}
}

// Set puts live options into effect.
func (v *Indexes) Set(values knob.Values) error {
	var err error
	v.each(func(t *indexTable) {
		if err == nil {
			err = t.set(optionsOf(values, &t.Store.spec))
		}
	})
	return err
}

// Gauges reads those of all indexes.
func (v *Indexes) Gauges(r *metrics.Readings) {
	var list []*Store
	v.each(func(t *indexTable) { list = append(list, t.Store) })
	gauges(r, list)
}

// Audit is Store.Audit of all of them.
func (v *Indexes) Audit(bad func(text string)) {
	v.each(func(t *indexTable) { t.Store.Audit(func(text string) { bad("index " + t.Name() + ": " + text) }) })
}

// Stats are those of all indexes.
func (v *Indexes) Stats() (sum Stats) {
	v.each(func(t *indexTable) {
		s := t.Store.Stats()
		sum.Add(&s)
	})
	return sum
}

// indexTable is an index: a store whose keys are those of all parts.
type indexTable struct {
	*Store
	keys  *partKeys
	share uint64 // parts of a server
	own   owned.Each[indexUse]
}

// indexUse is what coroutines of a machine have of an index.
type indexUse struct {
	clients map[uint32]*client // by coroutine
	touched []uint64           // a bit for each part
}

// valueBytes is the value of an entry.
const valueBytes = 8

// Add makes an index.
func (v *Indexes) Add(s store.IndexSpec) (store.OrderedTable, error) {
	if o := v.tables[s.ID]; o != nil {
		return nil, fmt.Errorf("index %s: number %d is taken by %s", s.Name, s.ID, o.Name())
	}
	if s.Servers < 1 || s.Servers > v.cl.Machines() || s.Parts < 1 {
		return nil, fmt.Errorf("index %s: %d parts on %d servers, the cluster has %d machines", s.Name, s.Parts, s.Servers, v.cl.Machines())
	}
	t := &indexTable{share: (s.Parts + uint64(s.Servers) - 1) / uint64(s.Servers), own: owned.New(v.cl.Machines(), func(int) indexUse { return indexUse{map[uint32]*client{}, make([]uint64, (s.Parts+63)/64)} })}
	parts, each := bits.Len64(t.share*uint64(s.Servers)-1), 0
	for _, n := range s.Bits {
		each += n
	}
	if parts+each > 64 || each == 0 {
		return nil, fmt.Errorf("index %s: numbers of %d parts have %d bits and keys %d, and those of XStore have 64 for both: use fewer parts, or store.ordered=btree", s.Name, s.Parts, parts, each)
	}
	t.keys = newPartKeys(s, uint(each))
	spec := store.KVSpec{Name: s.Name, Servers: s.Servers, Keys: t.keys, ValueBytes: valueBytes, Value: t.keys.value, Bounds: []uint64{}, Spare: s.Spare, Seed: uint64(s.ID)}
	for m := uint64(1); m < uint64(s.Servers); m++ {
		spec.Bounds = append(spec.Bounds, m*t.share<<each)
	}
	o := v.options(&spec).withDefaults(&spec)
	o.Fields = fields(parts, s.Bits)
	if err := spec.Check(v.cl); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	t.Store = &Store{cl: v.cl, spec: spec, opt: o, rpc: v.rpc, group: v, number: s.ID}
	v.tables[s.ID] = t
	return t, t.Store.make()
}

// fields are the predictors of a multivariate top model: the part, and the fields of a key.
func fields(parts int, widths []int) (list []model.Field) {
	shift := 0
	for i := len(widths) - 1; i >= 0; i-- {
		list = append(list, model.Field{Shift: uint8(shift), Bits: uint8(widths[i])})
		shift += widths[i]
	}
	if parts > 0 {
		list = append(list, model.Field{Shift: uint8(shift), Bits: uint8(parts)})
	}
	return list
}

// Name is for messages.
func (t *indexTable) Name() string { return t.Store.spec.Name }

// Primary is the server of a part.
func (t *indexTable) Primary(part uint64) int { return int(part / t.share) }

// Used reports whether a part was used.
func (t *indexTable) Used(part uint64) bool {
	for _, x := range t.own.All() {
		if x.touched[part/64]>>(part%64)&1 != 0 {
			return true
		}
	}
	return false
}

// Entries calls f with the entries of a part in order: an oracle, free of time.
func (t *indexTable) Entries(part uint64, f func(store.Entry)) {
	low, high := t.keys.whole(part, 0), t.keys.whole(part, t.keys.last())
	t.parts[t.Primary(part)].tree.EachFrom(low, func(key uint64, value []byte) bool {
		if key > high {
			return false
		}
		f(store.Entry{Key: key - low, Value: wire.Get64(value)})
		return true
	})
}

// begin is the client of a coroutine, for an operation on a part that is about to begin. It posts as XStore's clients do, whatever
// the transaction's phase.
func (t *indexTable) begin(c *r2.Co, part uint64) (x *client, before r2.Mode) {
	own := t.own.Of(c.Machine())
	own.touched[part/64] |= 1 << (part % 64)
	if x = own.clients[c.ID()]; x == nil {
		x = t.Client(c).(*client)
		own.clients[c.ID()] = x
	}
	return x, c.Using(posted)
}

// Scan appends the entries of a range to dst. They were not all read at one moment.
func (t *indexTable) Scan(c *r2.Co, r store.Range, dst []store.Entry) ([]store.Entry, error) {
	if r.Limit < 1 || r.Part >= t.keys.spec.Parts {
		return dst, fmt.Errorf("index %s: scan of %d entries of part %d: at least one, of %d parts", t.Name(), r.Limit, r.Part, t.keys.spec.Parts)
	}
	to := min(r.To, t.keys.last())
	if r.From > to {
		return dst, nil
	}
	x, before := t.begin(c, r.Part)
	low := t.keys.whole(r.Part, 0)
	x.scan.from, x.scan.to, x.scan.down, x.scan.need = low+r.From, low+to, r.Down, r.Limit
	var err error
	x.pairs, err = x.scanAll(x.pairs[:0])
	c.Using(before)
	if err != nil {
		return dst, err
	}
	for _, p := range x.pairs {
		dst = append(dst, store.Entry{Key: p.Key - low, Value: wire.Get64(p.Value)})
	}
	return dst, nil
}

// Insert adds an entry, or says ErrExists.
func (t *indexTable) Insert(c *r2.Co, part, key, value uint64) error {
	if part >= t.keys.spec.Parts || key > t.keys.last() {
		return fmt.Errorf("index %s: key %d of part %d, there are %d parts with keys up to %d", t.Name(), key, part, t.keys.spec.Parts, t.keys.last())
	}
	x, before := t.begin(c, part)
	wire.Put64(x.word[:], value)
	ok, err := x.Insert(t.keys.whole(part, key), x.word[:])
	c.Using(before)
	if err == nil && !ok {
		err = store.ErrExists
	}
	return err
}

// Delete takes an entry out, or says ErrMissing.
func (t *indexTable) Delete(c *r2.Co, part, key uint64) error {
	if part >= t.keys.spec.Parts || key > t.keys.last() {
		return store.ErrMissing
	}
	x, before := t.begin(c, part)
	ok, err := x.Delete(t.keys.whole(part, key))
	c.Using(before)
	if err == nil && !ok {
		err = store.ErrMissing
	}
	return err
}
