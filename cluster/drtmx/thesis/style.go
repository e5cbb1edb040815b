package thesis

import (
	"regexp"
	"strconv"
	"strings"

	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
)

// lengths are the units of a length, in millimetres.
var lengths = map[string]float64{"mm": 1, "cm": 10, "in": 25.4, "pt": 25.4 / 72}

var measure = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(mm|cm|in|pt)$`)

// What a picture can be made as wide as, in millimetres, and its letters as large as, in points.
const (
	minWidthMM, maxWidthMM = 40, 1000
	minPoints, maxPoints   = 4, 40
)

// parseStyle reads the width of a picture, 84mm, and its font, serif 8pt; "" leaves what
// suits a screen.
func parseStyle(width, font string) (s charts.Style, err error) {
	if width != "" {
		v, ok := millimetres(width)
		if !ok || v < minWidthMM || v > maxWidthMM {
			return s, &experiment.SpecError{Field: "--width", Value: width, Rule: "must be a length from 40mm to 1000mm, in mm, cm, in or pt", Next: "as --width 84mm"}
		}
		s.WidthMM = v
	}
	for _, word := range strings.Fields(font) {
		switch v, ok := millimetres(word); {
		case word == "sans" || word == "serif" || word == "mono":
			s.Family = word
		case ok && strings.HasSuffix(word, "pt") && v >= minPoints*lengths["pt"] && v <= maxPoints*lengths["pt"]:
			s.Points = v / lengths["pt"]
		default:
			return s, &experiment.SpecError{Field: "--font", Value: font, Rule: "must be sans, serif or mono, a size from 4pt to 40pt, or both", Next: `as --font "serif 8pt"`}
		}
	}
	return s, nil
}

func millimetres(text string) (float64, bool) {
	m := measure.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	return v * lengths[m[2]], err == nil
}
