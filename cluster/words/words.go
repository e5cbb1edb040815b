package words

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
)

// NS writes virtual time as a person reads it.
func NS(ns int64) string {
	switch a := math.Abs(float64(ns)); {
	case a >= 1e9:
		return Number(float64(ns)/1e9) + " s"
	case a >= 1e6:
		return Number(float64(ns)/1e6) + " ms"
	case a >= 1e3:
		return Number(float64(ns)/1e3) + " µs"
	}
	return fmt.Sprintf("%d ns", ns)
}

// Number writes four significant digits without trailing zeros, and a count in full.
func Number(x float64) string { return charts.Digits(x, 4) }

// Rate writes requests per second.
func Rate(x float64) string {
	switch {
	case x >= 1e9:
		return charts.Digits(x/1e9, 3) + " G/s"
	case x >= 1e6:
		return charts.Digits(x/1e6, 3) + " M/s"
	case x >= 1e3:
		return charts.Digits(x/1e3, 3) + " k/s"
	}
	return charts.Digits(x, 3) + " /s"
}

func Micros(x float64) string {
	if x == 0 {
		return "–" // too few samples
	}
	return charts.Digits(x, 3) + " µs"
}

func Percent(x float64) string {
	if x >= 0.995 {
		return "100 %"
	}
	return fmt.Sprintf("%.2g %%", 100*x)
}

// Change writes a relative change.
func Change(x float64) string { return fmt.Sprintf("%+.1f %%", 100*x) }

func SortedKnobs(k experiment.Knobs) []string {
	names := make([]string, 0, len(k))
	for n := range k {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

func Knobs(k experiment.Knobs) string {
	var b strings.Builder
	for i, n := range SortedKnobs(k) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s = %v", n, k[n])
	}
	return b.String()
}

// Counted writes a number of things.
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// OneLine keeps the first line of a text that may come from anywhere.
func OneLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 500 {
		s = string(r[:497]) + "..."
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

func Clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return s
}
