package choose

import (
	"fmt"
	"slices"

	"drtmx/xstore/model"
)

// Choice is a top model and a number of sub-models, and why they are good ones.
type Choice struct {
	Top       string // its kind
	SubModels int
	Because   string
}

const (
	// samples is how many keys are looked up with each candidate, of evenly spaced ranks. A share of them is known within 2 % (a
	// standard deviation).
	samples = 512
	// worth is by how much twice as many sub-models have to make a lookup cheaper: the memory of clients is worth something
	// too, and more sub-models are trained more often. Assumed.
	worth = 0.01
	// mostKeys and fewestKeys are keys of a sub-model that are tried, from many to few.
	mostKeys, fewestKeys = 12_800, 3
	// kept is how many keys are kept in memory meanwhile.
	kept = 16_000_000
	// tabled is for how many keys a multivariate top model is tried unasked, for each of its candidates reads all keys.
	tabled = 4_000_000
)

// Any is the kind of top model that has Choose take one, and the number of sub-models that has it take one.
const (
	AnyTop    = "auto"
	AnyNumber = -1
)

// Options are what a store has set.
type Options struct {
	SubModels  int    // AnyNumber: to be chosen
	TopModel   string // AnyTop: to be chosen
	Fields     []model.Field
	Slots      int // of a leaf
	KeyErrors  bool
	CacheBytes uint64 // of a client; 0: any
	Most       int    // sub-models
	IndexReads int    // that a lookup does before those of leaves
	Seed       uint64
}

// candidate is a number of sub-models below a top model, and what lookups of sampled keys take with it.
type candidate struct {
	top       string
	subModels int
	leaves    float64 // that a lookup READs which predicts
	asks      float64 // share of lookups that the server answers by RPC: a sub-model's errors do not fit its 8 bits
	ns        float64 // demand, see Prices
	bound     string  // why no larger one was tried, if memory is the reason
}

// Choose takes the number of sub-models of a server for some keys, and the top model, where they are left to it. It looks up some keys
// with each candidate, trains the sub-models which these meet, and adds up what a lookup takes of the server's RNIC, its cores and the
// clients' cores. It takes the smallest number from which no larger one saves a hundredth of that for each doubling, among those
// whose models and tables fit into o.CacheBytes of a client. With a top model that was given it tells if another one
// is cheaper. Keys are looked up equally often: where a few are hot, theirs may be better or worse than the mean.
func Choose(keys model.Keys, low, high uint64, o Options, at Prices) (Choice, error) {
	if keys.Len() <= kept { // they are read some forty times, and most sets compute a key whenever it is read
		sorted := make(model.Sorted, keys.Len())
		for i := range sorted {
			sorted[i] = keys.Key(uint64(i))
		}
		keys = sorted
	}
	var given, all []candidate
	for _, kind := range model.TopKinds() {
		if kind == "mlr" && kind != o.TopModel && (len(o.Fields) == 0 || keys.Len() > tabled) {
			continue
		}
		top, err := model.TrainTop(model.TopSpec{Kind: kind, Seed: o.Seed, Fields: o.Fields}, keys)
		if err != nil {
			if kind == o.TopModel {
				return Choice{}, err
			}
			continue // it cannot learn these keys
		}
		list := candidates(keys, low, high, o, kind, top, at)
		if kind == o.TopModel {
			given = list
		}
		all = append(all, list...)
	}
	best := cheapest(all)
	if given == nil {
		return Choice{best.top, best.subModels, best.text() + around(best, all)}, nil
	}
	c := cheapest(given)
	because := c.text() + around(c, given)
	if best.top != c.top && best.ns < c.ns*(1-worth) {
		because += fmt.Sprintf("; with xstore.top=%s and %d sub-models it would take %.0f ns", best.top, best.subModels, best.ns)
	}
	return Choice{c.top, c.subModels, because}, nil
}

// candidates are numbers of sub-models, rising, each twice the one before.
func candidates(keys model.Keys, low, high uint64, o Options, kind string, top model.Top, at Prices) (list []candidate) {
	fill := max(o.Slots/2, 1)
	tables := (keys.Len()/uint64(fill) + 1) * model.EntryBytes
	in := &model.Initial{Keys: keys, Fill: fill, Low: low, High: high}
	_, inverts := top.(model.Inverter)
	subBytes := uint64(model.SubBytes)
	if !inverts {
		subBytes += model.SpanBytes
	}
	for _, m := range o.numbers(keys.Len()) {
		need := uint64(top.Bytes()) + m*subBytes + tables
		if o.CacheBytes > 0 && need > o.CacheBytes && len(list) > 0 {
			list[len(list)-1].bound = fmt.Sprintf("; more than %d need %s of a client, and there are %s", list[len(list)-1].subModels, bytesOf(need), bytesOf(o.CacheBytes))
			break
		}
		c := candidate{top: kind, subModels: int(m)}
		if kind == "mlr" || inverts {
			x := model.NewModel(top, uint32(m), keys, low, high)
			c.leaves, c.asks = lookups(in, x, o, func(_ uint64, s uint32) (model.Span, uint64) { return x.Span(s), x.Base(s) })
		} else {
			x := &model.Model{Top: top, M: uint32(m), Low: low, High: high} // its table would read all keys
			c.leaves, c.asks = lookups(in, x, o, func(rank uint64, s uint32) (model.Span, uint64) { return spanNear(in, x, rank, s) })
		}
		c.ns = at.of(c.leaves, c.asks, top.Cycles(), o.IndexReads)
		list = append(list, c)
	}
	return list
}

// numbers are those that are tried for so many keys: the one that was given, or rising ones.
func (o *Options) numbers(keys uint64) (list []uint64) {
	if o.SubModels != AnyNumber {
		return []uint64{uint64(o.SubModels)}
	}
	for per := uint64(mostKeys); per >= fewestKeys; per /= 2 {
		if m := max(keys/per, 1); m <= uint64(o.Most) && !slices.Contains(list, m) { // there may be fewer keys than that
			list = append(list, m)
		}
	}
	return list
}

// cheapest is the candidate with the fewest sub-models from which none with more saves worth for each doubling. Of candidates with
// as many, the first that is cheapest.
func cheapest(list []candidate) (best candidate) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b candidate) int { return a.subModels - b.subModels })
	for i, c := range list {
		bound := best.ns
		for n := best.subModels; n > 0 && n < c.subModels; n *= 2 {
			bound *= 1 - worth
		}
		if i == 0 || c.ns < bound {
			best = c
		}
	}
	return best
}

func (c *candidate) text() string {
	if c.asks > 0.995 {
		return fmt.Sprintf("%.0f %% of lookups ask the server, for no sub-model can predict their keys: %.0f ns of the server's RNIC, its cores and the clients'", 100*c.asks, c.ns)
	}
	return fmt.Sprintf("a lookup READs %.2f leaves and %.0f %% ask the server, %.0f ns of the server's RNIC, its cores and the clients'", c.leaves, 100*c.asks, c.ns)
}

// around tells what half and twice as many would take.
func around(c candidate, list []candidate) (text string) {
	i := slices.Index(list, c)
	if i > 0 && list[i-1].top == c.top {
		text += fmt.Sprintf("; half as many would take %.0f ns", list[i-1].ns)
	}
	if i+1 < len(list) && list[i+1].top == c.top {
		text += fmt.Sprintf("; twice as many %.0f ns", list[i+1].ns)
	}
	for _, x := range list {
		if x.top == c.top {
			text += x.bound
		}
	}
	return text
}

// lookups looks keys of evenly spaced ranks up: how many leaves those READ that can be predicted, and which share cannot. spanOf is
// the span and the base of the sub-model that the key of a rank is sent to.
func lookups(in *model.Initial, x *model.Model, o Options, spanOf func(rank uint64, m uint32) (model.Span, uint64)) (leaves, asks float64) {
	t := model.NewTrainer(model.Config{Slots: o.Slots, LeafErrors: !o.KeyErrors})
	type trained struct {
		sub  model.Sub
		base uint64
		bent bool
	}
	subs := map[uint32]trained{}
	var tt []model.Entry
	n := min(in.Keys.Len(), samples)
	sum, failed := 0, 0
	for i := range n {
		rank := (2*i + 1) * in.Keys.Len() / (2 * n)
		key := in.Keys.Key(rank)
		m := x.Sub(key)
		s, ok := subs[m]
		if !ok {
			var span model.Span
			span, s.base = spanOf(rank, m)
			if s.bent = bent(in, span, o.Slots); !s.bent {
				s.sub, tt = t.InitialOf(in, span, s.base, 0, tt)
			}
			subs[m] = s
		}
		if s.bent || s.sub.Fallback() {
			failed++
			continue
		}
		first, last := s.sub.Range(s.base, key, o.Slots)
		sum += last - first + 1
	}
	if predicted := int(n) - failed; predicted > 0 {
		leaves = float64(sum) / float64(predicted)
	}
	return leaves, float64(failed) / float64(n)
}

// spanNear is the run of keys beside one that the top model sends to the same sub-model, and its middle. A neural network is not
// monotone everywhere, so its span may be longer.
func spanNear(in *model.Initial, x *model.Model, rank uint64, m uint32) (model.Span, uint64) {
	same := func(i uint64) bool { return x.Sub(in.Keys.Key(i)) == m }
	// reach is how far the run goes: it doubles its steps, and then halves them.
	reach := func(most uint64, at func(d uint64) uint64) uint64 {
		far := uint64(1)
		for far <= most && same(at(far)) {
			far *= 2
		}
		from, to := far/2, min(far, most+1)
		for to-from > 1 {
			if d := from + (to-from)/2; same(at(d)) {
				from = d
			} else {
				to = d
			}
		}
		return from
	}
	first := rank - reach(rank, func(d uint64) uint64 { return rank - d })
	last := rank + reach(in.Keys.Len()-1-rank, func(d uint64) uint64 { return rank + d })
	s := model.Span{Low: in.Keys.Key(first), High: in.Keys.Key(last)}
	return s, s.Low + (s.High-s.Low)/2
}

const (
	// bentFrom is the number of keys from which a span is looked at before it is trained.
	bentFrom  = 4096
	bentLooks = 256
)

// bent says of many keys that no line can predict them, after a look at some. If a line is nowhere off by more than e, the line through
// the first and the last key is nowhere off by more than 2e.
func bent(in *model.Initial, span model.Span, slots int) bool {
	if span.Empty() {
		return false
	}
	from, _ := in.Keys.Rank(span.Low)
	to, _ := in.Keys.Rank(span.High)
	if to < from+bentFrom {
		return false
	}
	low, high := in.Keys.Key(from), in.Keys.Key(to-1)
	each := float64(to-1-from) / float64(high-low)
	most := 2 * float64(model.MaxError+2*slots) * float64(in.Fill) / float64(slots) // in ranks
	for i := range uint64(bentLooks) {
		rank := from + i*(to-1-from)/bentLooks
		line := float64(from) + each*float64(in.Keys.Key(rank)-low)
		if d := line - float64(rank); d > most || d < -most {
			return true
		}
	}
	return false
}

func bytesOf(n uint64) string {
	if n < 10_000_000 {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%d MB", n/1e6)
}
