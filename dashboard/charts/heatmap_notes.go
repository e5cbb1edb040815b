package charts

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
)

// A picture has no pointer that could ask a cell why it has no value, so the reasons stand below
// the colours, each once, and a cell has the number of its own.

const (
	noteHeight = 13 // pixels of a line of the notes
	notesMost  = 8  // lines; a reader of more looks at the points themselves
	notePoints = 8
)

// reasons are why places have no value, each once, in the order of the cells.
func (m *heatMap) reasons() (out []string) {
	for _, p := range m.panels {
		for _, row := range p.Cells {
			for _, c := range row {
				if why := c.reason(); why != "" && !slices.Contains(out, why) {
					out = append(out, why)
				}
			}
		}
	}
	return out
}

// reason is why a cell has no value, "" if it has one or the reason is unknown.
func (c HeatCell) reason() string {
	if finite(c.Value, 0) {
		return ""
	}
	return c.Why
}

// notes are the lines that tell the reasons, each at most so many pixels wide.
func notes(reasons []string, style text.Style, width float64) (out []string) {
	style.Font.Size = notePoints
	for i, why := range reasons {
		line := fmt.Sprintf("no value (%d):", i+1)
		for _, word := range strings.Fields(why) {
			if longer := line + " " + word; float64(style.Width(longer)/pixel) <= width {
				line = longer
				continue
			}
			out, line = append(out, line), "   "+word
		}
		if out = append(out, line); len(out) > notesMost {
			return append(out[:notesMost-1], "and more reasons, with the points")
		}
	}
	return out
}
