package panel

import (
	"math"
	"strings"
	"testing"
)

// A panel that the page could not draw is refused when the program starts.
func TestRefused(t *testing.T) {
	shows := func(*Window) bool { return true }
	track := []Track{{Label: "l", Of: Named("g")}}
	for want, p := range map[string]Panel{
		"must be given":       {Part: "a", Shows: shows},
		"Settling whether":    {Part: "a", Title: "t", Shows: shows, Settles: "because"},
		"only Staleness":      {Part: "a", Title: "t", Shows: shows, Charts: []Chart{{Label: "l"}}},
		"chart 1 of part a":   {Part: "a", Title: "t", Shows: shows, Charts: []Chart{{Label: "l", Tracks: track}, {Tracks: track}}},
		"Label must be given": {Part: "a", Title: "t", Shows: shows, Charts: []Chart{{Form: Staleness}}},
	} {
		if err := p.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	p := Panel{Part: "a", Title: "t", Shows: shows, Charts: []Chart{{Label: "l", Tracks: track}, {Form: Staleness, Label: "l"}}}
	if err := p.check(); err != nil {
		t.Error(err)
	}
}

func TestTexts(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := Count(v); got != want {
			t.Errorf("%g: %s", v, got)
		}
	}
	if a, b := Duration(2010), Duration(12.34); a != "2.01 ms" || b != "12.3 µs" {
		t.Error(a, b)
	}
	p := Panel{Part: "a"}
	if w := p.In(func(key string) float64 { return float64(len(key)) }); w.Gauge("xy") != 4 || !math.IsNaN(w.Oldest) || !math.IsNaN(w.Promise) {
		t.Errorf("%+v", w)
	}
}
