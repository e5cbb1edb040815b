package lineage

import (
	"slices"
	"strings"
	"testing"

	"drtmx/engine/experiment"
)

// lineageOf is the default cluster after some changes.
func lineageOf(t *testing.T, sets ...experiment.Knobs) Lineage {
	t.Helper()
	spec, err := experiment.LoadSpec("")
	if err != nil {
		t.Fatal(err)
	}
	l := &Lineage{first: 1}
	if err := l.add(spec, nil); err != nil {
		t.Fatal(err)
	}
	for i, s := range sets {
		if err := l.follow(i+2, s); err != nil {
			t.Fatal(err)
		}
	}
	return *l
}

// A card names what a preset sets, and what moved right before it, and nothing twice.
func TestCardNamesWhatMoved(t *testing.T) {
	preset, lock := experiment.Knobs{"preset": "fasst"}, experiment.Knobs{"phase.lock": "two-sided"}
	l := lineageOf(t, lock, preset, experiment.Knobs{"opt.commit.pa": true}, experiment.Knobs{"coroutines": 1})
	if m := l.Moved(1, 2, lock); len(m) != 0 {
		t.Errorf("the title names it already: %q", m)
	}
	m := l.Moved(2, 3, preset)
	if !slices.Contains(m, "phase.execution: hybrid → two-sided") || len(m) < 5 || slices.ContainsFunc(m, func(s string) bool { return strings.HasPrefix(s, "preset") || strings.HasPrefix(s, "coroutines") }) {
		t.Errorf("with the preset moved %q", m)
	}
	if m := l.Moved(3, 5, experiment.Knobs{"coroutines": 1}); len(m) != 1 || m[0] != "opt.commit.pa: off → on" {
		t.Errorf("measured together with what was right before it: %q", m)
	}
	l = lineageOf(t, experiment.Knobs{"coroutines": 9}, experiment.Knobs{"coroutines": 10})
	if m := l.Moved(1, 3, experiment.Knobs{"coroutines": 10}); len(m) != 0 { // the title's arrow begins at 8
		t.Errorf("two steps of one knob, and the title names it: %q", m)
	}
	if back := l.Back(1, 3); len(back) != 1 || back["coroutines"] != 8 {
		t.Errorf("two steps are taken back by %v", back)
	}
}

// A change that was taken back is undone, and so is what took it back as soon as another
// change comes.
func TestUndoneChanges(t *testing.T) {
	one, eight := experiment.Knobs{"coroutines": 1}, experiment.Knobs{"coroutines": 8}
	lock := experiment.Knobs{"phase.lock": "two-sided"}
	for name, c := range map[string]struct {
		sets []experiment.Knobs
		want map[int]int
	}{
		"none":               {[]experiment.Knobs{one, lock}, map[int]int{}},
		"just now":           {[]experiment.Knobs{one, eight}, map[int]int{2: 3}},
		"and then another":   {[]experiment.Knobs{one, eight, lock}, map[int]int{2: 3, 3: 3}},
		"both, one by one":   {[]experiment.Knobs{one, lock, {"phase.lock": "auto"}, eight, lock}, map[int]int{2: 5, 3: 4, 4: 4, 5: 5}},
		"a middle one stays": {[]experiment.Knobs{one, lock, eight, one}, map[int]int{4: 5}},
	} {
		l := lineageOf(t, c.sets...)
		got := l.Undone(50)
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		for v, by := range c.want {
			if got[v] != by {
				t.Errorf("%s: version %d is undone by %d, want %d", name, v, got[v], by)
			}
		}
	}
}
