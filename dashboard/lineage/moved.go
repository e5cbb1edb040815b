package lineage

import (
	"fmt"
	"slices"
	"strings"

	"drtmx/engine/experiment"
)

// Moved names every knob that differs between two versions and that the title of a card
// does not name: a preset sets many, and a card may measure several changes together.
func (l *Lineage) Moved(base, version int, set experiment.Knobs) []string {
	before, after := l.At(base), l.At(version)
	if before.Values == nil || after.Values == nil {
		return nil
	}
	var out []string
	for _, n := range experiment.SortedNames(after.Values) {
		was, is := before.Values.Value(n), after.Values.Value(n)
		if was == is || experiment.IsGroup(n) || experiment.IsOrder(n) {
			continue
		}
		if _, ok := set[n]; ok {
			continue
		}
		out = append(out, fmt.Sprintf("%s: %s → %s", n, Shown(n, was), Shown(n, is)))
	}
	return out
}

// Undone says of the latest changes by which version each was taken back: the first after it under which all
// is as it was before. 0: none. The change that takes it back counts as undone too, by
// itself, unless it is the latest: what it did is still being looked at.
func (l *Lineage) Undone(changes int) map[int]int {
	out := map[int]int{}
	state := func(v int) string {
		x := l.At(v)
		if x.Values == nil {
			return ""
		}
		var b strings.Builder
		for _, n := range experiment.SortedNames(x.Values) {
			if !experiment.IsOrder(n) {
				fmt.Fprintf(&b, "%s=%v ", n, x.Values[n])
			}
		}
		fmt.Fprint(&b, slices.Sorted(slices.Values(x.Down)))
		return b.String()
	}
	seen := map[string]int{} // the latest version with a state, of those that are not undone
	for v := max(l.first, l.last()-changes); v <= l.last(); v++ {
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
