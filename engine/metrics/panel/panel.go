package panel

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Panel is a box on the page. It is shown while its part runs in the system on view.
type Panel struct {
	Part  string // of the gauges that it is made of
	Title string
	Doc   string // a sentence above the charts; "": none
	Shows func(w *Window) bool
	// Says is how the part stands, after the latest windows under the present knobs, the oldest first; nil: it says nothing.
	Says func(ws []Window) State
	// Settles says why a change of a knob takes hold only after a while; "": it does so at once. Settling says that it has not yet: no
	// change is judged by such windows. What Says tells of it stands beside the knobs too.
	Settles  string
	Settling func(w *Window) bool
	Because  string // knob whose choice the panel explains while it is auto; "": none
	Facts    []Fact
	Charts   []Chart
	Open     bool // from the start
}

// State is how a part stands.
type State struct {
	Text    string
	Settled bool
	Done    float64 // share of what has been begun; 1: all
}

// Fact is a number of the panel. It is left out while there is none.
type Fact struct {
	Name, Doc string
	Unit      string // "%" and "bytes" are written as such, "count" with commas and no unit
	Beside    func(w *Window) string
	Mean      bool // over the latest windows; else it is that of the last one
	Of        func(w *Window) float64
}

// Chart is one picture of a panel.
type Chart struct {
	Form   Form
	Label  string // for those who do not see it
	Axis   string // what a stacked bar or the colours of a heat map measure
	Unit   string // of it
	Tracks []Track
}

// Form is how a chart is drawn.
type Form uint8

const (
	// Lines has a track above the other, over virtual time.
	Lines Form = iota
	// Stacked has a bar for each system: its tracks, one behind the other, as means of the latest windows.
	Stacked
	// Heat has a row for each track and a column for each of the latest windows.
	Heat
	// Table has a row for each track and a column for each system, as means of the latest windows.
	Table
	// Staleness is the distribution of how old what snapshots read was, a line for each system. It has no tracks.
	Staleness
)

// Track is a value over time.
type Track struct {
	Label, Unit string
	Most        float64 // where its axis ends; 0: where the values do
	Rare        bool    // not drawn where all values are 0
	Of          func(w *Window) float64
}

// Window is what the panel's part showed in a window.
type Window struct {
	Gauge   func(name string) float64 // NaN: nothing
	Oldest  float64                   // staleness of what snapshots read, in us; NaN: none has read
	Promise float64                   // the bound of it, in us; NaN: none
}

// Named is the value of a gauge.
func Named(gauge string) func(w *Window) float64 {
	return func(w *Window) float64 { return w.Gauge(gauge) }
}

var panels []*Panel // program: a list

// New makes a panel known. It is called while the program starts.
func New(p Panel) *Panel {
	if err := p.check(); err != nil {
		panic("panel: " + err.Error())
	}
	panels = append(panels, &p)
	return &p
}

// check refuses what the page could not draw.
func (p *Panel) check() error {
	switch {
	case p.Part == "" || p.Title == "" || p.Shows == nil:
		return fmt.Errorf("the panel %q of part %q: Part, Title and Shows must be given", p.Title, p.Part)
	case Of(p.Part) != nil:
		return fmt.Errorf("part %s has a panel already: add to that", p.Part)
	case (p.Settles == "") != (p.Settling == nil) || p.Settles != "" && p.Says == nil:
		return fmt.Errorf("the panel of part %s settles: Settles must say why, Settling whether, and Says how far", p.Part)
	}
	for i, c := range p.Charts {
		if (len(c.Tracks) == 0) != (c.Form == Staleness) {
			return fmt.Errorf("chart %d of part %s has %d tracks: only Staleness has none", i, p.Part, len(c.Tracks))
		}
		if c.Label == "" {
			return fmt.Errorf("chart %d of part %s: Label must be given, for those who do not see it", i, p.Part)
		}
	}
	return nil
}

// All are the panels that are known.
func All() []*Panel { return panels }

// Of is the panel of a part, nil if it has none.
func Of(part string) *Panel {
	for _, p := range panels {
		if p.Part == part {
			return p
		}
	}
	return nil
}

// In is the window of a panel's part, of which show gives what a gauge, part.name, showed.
func (p *Panel) In(show func(gauge string) float64) Window {
	return Window{Gauge: func(name string) float64 { return show(p.Part + "." + name) }, Oldest: math.NaN(), Promise: math.NaN()}
}

// Count writes a number of things with commas.
func Count(v float64) string {
	s := strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	var parts []string
	for ; len(s) > 3; s = s[:len(s)-3] {
		parts = append([]string{s[len(s)-3:]}, parts...)
	}
	return strings.Join(append([]string{s}, parts...), ",")
}

// Duration writes a time of so many us.
func Duration(us float64) string {
	if us >= 1000 {
		return fmt.Sprintf("%.3g ms", us/1000)
	}
	return fmt.Sprintf("%.3g µs", us)
}
