package xstore

import (
	"fmt"
	"slices"

	"drtmx/engine/store"
)

const (
	whySamples = 1024
	crowdShare = 0.9  // of the keys that few sub-models get
	fewModels  = 0.1  // share of the sub-models that are few
	tailShare  = 0.01 // of the keys, half at either end
	wideTail   = 0.9  // of the range of keys, if the tails span it
)

// explainedFrom is the share of lookups that the server answers from which a result says why.
const explainedFrom = 0.5

// Explain adds to the store's section why the server answers most lookups.
func (s *Store) Explain(part string, section map[string]any) {
	if rate, ok := section["fallback_rate"].(float64); part == "xstore" && ok && rate >= explainedFrom {
		if text := s.whyFallbacks(); text != "" {
			section["fallbacks_because"] = text
		}
	}
}

// whyFallbacks looks at the initial keys of the first server and its current model; "": it is unknown.
func (s *Store) whyFallbacks() string {
	t := s.Stats()
	p := s.parts[0]
	switch {
	case !s.opt.Cache.learned() || t.Fallbacks == 0:
		return ""
	case 2*t.Blind >= t.Fallbacks:
		return p.crowded(s.ranges.Keys(p.server))
	case 2*t.Mismatches >= t.Fallbacks && s.opt.Trainers == 0:
		return "leaves have split since the sub-models were trained, and no thread trains them again (xstore.trainers=0)"
	case 2*t.Mismatches >= t.Fallbacks:
		return "leaves split faster than sub-models are trained again: use more trainers (xstore.trainers), or fewer inserts"
	}
	return ""
}

// crowded says where the top model sends the keys.
func (p *part) crowded(keys store.Keys) string {
	x, n := p.current.Model, min(keys.Len(), whySamples)
	counts := map[uint32]int{}
	for i := range n {
		counts[x.Sub(keys.Key((2*i+1)*keys.Len()/(2*n)))]++
	}
	full := make([]int, 0, len(counts))
	for _, c := range counts { // order-free: sorted below
		full = append(full, c)
	}
	slices.Sort(full)
	sum, subs := 0, 0
	for float64(sum) < crowdShare*float64(n) {
		subs++
		sum += full[len(full)-subs]
	}
	text := "most lookups meet sub-models that cannot predict, for no line is within 255 slots of all their keys"
	if float64(subs) <= fewModels*float64(x.M) {
		text += fmt.Sprintf("; the top model %s sends %.0f %% of the keys to %.2g %% of the %d sub-models", x.Top.Name(), 100*crowdShare, 100*float64(subs)/float64(x.M), x.M)
	}
	cut := uint64(tailShare / 2 * float64(keys.Len()))
	first, low, high, last := keys.Key(0), keys.Key(cut), keys.Key(keys.Len()-1-cut), keys.Key(keys.Len()-1)
	if float64(high-low) < (1-wideTail)*float64(last-first) {
		text += fmt.Sprintf(", and %.0f %% of the keys are outliers that span %.0f %% of the range", 100*tailShare, 100*(1-float64(high-low)/float64(last-first)))
	}
	return text + "; try xstore.top=auto and xstore.submodels=auto"
}
