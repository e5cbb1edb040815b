package published

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"drtmx/notebooks/figures/prediction"
)

// System is a row of what the thesis measured of whole systems, which package prediction keeps. The simulator predicts
// these numbers; nothing is fitted to them.
type System struct {
	Row
	Figure   string // 4-2a; that of several panels without a letter
	Series   string // which line it is about
	Baseline string // which it is compared with, "" if with none
	// First is what this simulator said before the number was read, and FirstVerdict
	// how far that is off. Neither changes.
	First        string
	FirstVerdict string
}

// Systems are the open results, in the order of the thesis.
func Systems() []System { return systems() }

var systems = sync.OnceValue(func() (out []System) {
	for _, p := range prediction.Results() {
		out = append(out, System{Figure: p.Figure, Series: p.Series, Baseline: p.Baseline, First: p.First, FirstVerdict: p.FirstVerdict,
			Row: Row{ID: p.ID, Use: "predict", Unit: p.Unit, Section: p.Section, Config: p.Config, Claim: p.Claim, Bound: boundOf(p.Claim), From: p.From, To: p.To}})
	}
	return out
})

// boundOf says whether a claim is about a limit.
func boundOf(claim string) string {
	switch {
	case strings.HasSuffix(claim, "[lower bound]"):
		return AtLeast
	case strings.HasSuffix(claim, "[upper bound]"):
		return AtMost
	}
	return ""
}

// FindSystem is the published result with this id, if it is a number.
func FindSystem(id string) (System, bool) {
	all := Systems()
	i := slices.IndexFunc(all, func(s System) bool { return s.ID == id })
	if i < 0 || all[i].From == 0 {
		return System{}, false
	}
	return all[i], true
}

// Text is the number as a claim's reference: 1.26..1.45.
func (s *System) Text() string {
	if s.From == s.To {
		return fmt.Sprint(s.To)
	}
	return fmt.Sprintf("%g..%g", s.From, s.To)
}

// Far is the end of the range that belongs to v: the upper one if v is the larger of
// two readings.
func (s *System) Far(v, other float64) float64 {
	if v >= other {
		return s.To
	}
	return s.From
}
