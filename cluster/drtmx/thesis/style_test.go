package thesis

import (
	"math"
	"strings"
	"testing"

	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
)

func TestParseStyle(t *testing.T) {
	for _, tt := range []struct {
		width, font string
		want        charts.Style
	}{
		{"", "", charts.Style{}},
		{"84mm", "", charts.Style{WidthMM: 84}},
		{"8.4cm", "serif 8pt", charts.Style{WidthMM: 84, Family: "serif", Points: 8}},
		{"", "9pt", charts.Style{Points: 9}},
		{"3.5in", "mono", charts.Style{WidthMM: 88.9, Family: "mono"}},
	} {
		got, err := parseStyle(tt.width, tt.font)
		if err != nil || math.Abs(got.WidthMM-tt.want.WidthMM) > 1e-9 || got.Family != tt.want.Family || math.Abs(got.Points-tt.want.Points) > 1e-9 {
			t.Errorf("%q %q: %+v %v", tt.width, tt.font, got, err)
		}
	}
	for _, bad := range [][2]string{{"84", ""}, {"1mm", ""}, {"9m", ""}, {"-84mm", ""}, {"2000mm", ""}, {"", "Helvetica"}, {"", "0pt"}, {"", "900pt"}, {"", "8mm"}, {"NaNmm", ""}} {
		if _, err := parseStyle(bad[0], bad[1]); err == nil || !experiment.IsSpecError(err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
