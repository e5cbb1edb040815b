package windows

import (
	"fmt"
	"unique"

	"drtmx/engine/metrics"
	"drtmx/engine/result"
)

// limit is a window's engine.Verdict in little memory: many windows name the same.
type limit struct {
	word, of unique.Handle[string]
	share    float32 // of a saturated resource
}

func limitOfWindow(w *result.Window) (l limit) {
	v := result.Verdict{}
	if w.Limit != nil {
		v = *w.Limit
	}
	l.word, l.of = unique.Make(v.Word), unique.Make(v.Of)
	if v.Word == result.Saturated && w.Bottleneck != nil {
		l.share = float32(w.Bottleneck.Utilization)
	}
	return l
}

// LimitOf is what limits most of the windows, in words: "saturated (CPU at 97 %)", "latency-bound
// (lock, execution)", "contended (ring/2, ring/6)"; "" where nothing ended.
func LimitOf(ms []Moment) string {
	count, shares := map[limit]int{}, map[limit]float64{}
	words := map[unique.Handle[string]]int{}
	for i := range ms {
		l := ms[i].limit
		if l.word == (unique.Handle[string]{}) || l.word.Value() == "" {
			continue
		}
		key := limit{word: l.word, of: l.of}
		words[l.word]++
		count[key]++
		shares[key] += float64(l.share)
	}
	var best limit
	found := false
	for l := range count { // order-free: ties are broken by name
		if !found || l.before(best, words, count) {
			best, found = l, true
		}
	}
	switch {
	case !found:
		return ""
	case best.word.Value() == result.Saturated:
		return fmt.Sprintf("%s (%s at %.0f %%)", best.word.Value(), metrics.Label(best.of.Value()), 100*shares[best]/float64(count[best]))
	}
	return fmt.Sprintf("%s (%s)", best.word.Value(), best.of.Value())
}

// before says that l is the better description: its word is said more often, then all of it.
func (l limit) before(o limit, words map[unique.Handle[string]]int, count map[limit]int) bool {
	switch {
	case words[l.word] != words[o.word]:
		return words[l.word] > words[o.word]
	case count[l] != count[o]:
		return count[l] > count[o]
	case l.word != o.word:
		return l.word.Value() < o.word.Value()
	}
	return l.of.Value() < o.of.Value()
}
