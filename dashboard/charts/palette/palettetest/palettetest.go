// Package palettetest lets the tests of other packages see that what they draw has the
// palette's colours only.
package palettetest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"drtmx/dashboard/charts/palette"
)

var colour = regexp.MustCompile(`#[0-9a-fA-F]{6}\b|\brgba?\([^)]*\)`)

// Check reports every colour of a picture, an option of echarts or a page that is not in
// the palette, and a picture that has fewer different colours than it should.
func Check(t *testing.T, what, drawn string, least int) {
	t.Helper()
	known, seen := palette.All(), map[string]bool{}
	for _, c := range colour.FindAllString(drawn, -1) {
		c = strings.ToUpper(c)
		if !seen[c] && !slices.Contains(known, c) && c != "#000000" {
			t.Errorf("%s: %s is not in the palette", what, c)
		}
		seen[c] = true
	}
	if len(seen) < least {
		t.Errorf("%s has %d colours, want at least %d", what, len(seen), least)
	}
}
