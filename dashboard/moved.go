package dashboard

import (
	"fmt"
	"slices"
	"strings"

	"drtmx/engine/experiment"
)

// moved names every knob that differs between two versions and that the title of a card
// does not name: a preset sets many, and a card may measure several changes together.
func moved(l lineage, base, version int, set experiment.Knobs) []string {
	before, after := l.at(base), l.at(version)
	if before.values == nil || after.values == nil {
		return nil
	}
	titled := l.at(version - 1).values // the title's arrow begins here
	var out []string
	for _, n := range sortedNames(after.values) {
		was, is := before.values.Value(n), after.values.Value(n)
		if was == is || experiment.IsGroup(n) || experiment.IsOrder(n) {
			continue
		}
		if _, ok := set[n]; ok && titled.Value(n) == was {
			continue
		}
		out = append(out, fmt.Sprintf("%s: %s → %s", n, shown(n, was), shown(n, is)))
	}
	return out
}

// undone says by which version a change was taken back: the first after it under which all
// is as it was before. 0: none. The change that takes it back counts as undone too, by
// itself, unless it is the latest: what it did is still being looked at.
func undone(l lineage) map[int]int {
	out := map[int]int{}
	state := func(v int) string {
		x := l.at(v)
		if x.values == nil {
			return ""
		}
		var b strings.Builder
		for _, n := range sortedNames(x.values) {
			if !experiment.IsOrder(n) {
				fmt.Fprintf(&b, "%s=%v ", n, x.values[n])
			}
		}
		fmt.Fprint(&b, slices.Sorted(slices.Values(x.down)))
		return b.String()
	}
	seen := map[string]int{} // the latest version with a state, of those that are not undone
	for v := max(l.first, l.last()-cardsShown); v <= l.last(); v++ {
		s := state(v)
		if s == "" {
			continue
		}
		if was, ok := seen[s]; ok && was < v {
			for k := was + 1; k <= v; k++ {
				if _, already := out[k]; !already && (k < v || v < l.last()) {
					out[k] = v
				}
			}
			for t, k := range seen { // order-free: every state in between goes
				if k > was {
					delete(seen, t)
				}
			}
		}
		seen[s] = v
	}
	return out
}
