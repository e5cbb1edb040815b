package palette

import (
	"slices"

	_ "drtmx/engine/experiment" // the parts, which make their phases known
	"drtmx/engine/metrics"
)

// Look is how a phase, a system or a milestone is drawn.
type Look struct {
	Name   string // in results: "lock", "a", "drtm+h"
	Label  string // for people
	Colour string // #rrggbb, on a light ground; OnDark has the others
	Marker Marker // on its line
}

// Table holds looks by name, in the order in which a legend lists them.
type Table struct{ looks []Look }

func newTable(looks ...Look) *Table { return &Table{looks} }

// Of returns the look of a name; ok is false if the table does not have it.
func (t *Table) Of(name string) (l Look, ok bool) {
	for _, l := range t.looks {
		if l.Name == name {
			return l, true
		}
	}
	return Look{Name: name, Label: name, Colour: Unknown}, false
}

// Names are those of all looks, in order.
func (t *Table) Names() []string {
	out := make([]string, len(t.looks))
	for i, l := range t.looks {
		out[i] = l.Name
	}
	return out
}

// All are the looks, in order.
func (t *Table) All() []Look { return slices.Clone(t.looks) }

// Looks are all of them, in order.
func (t *Table) Looks() []Look { return slices.Clone(t.looks) }

// Phases of a transaction, in their order: those that the parts of the engine have made known.
var Phases = phases()

func phases() *Table {
	t := newTable()
	for _, p := range metrics.Phases() {
		x := p.Info()
		t.looks = append(t.looks, Look{Name: x.Name, Label: x.Label, Colour: x.Colour})
	}
	return t
}

// Systems are those that an agent runs side by side.
var Systems = newTable(
	Look{Name: "a", Label: "system a", Colour: "#0072B2", Marker: Circle},
	Look{Name: "b", Label: "system b", Colour: "#D55E00", Marker: Square},
	Look{Name: "c", Label: "system c", Colour: "#009E73", Marker: Triangle},
	Look{Name: "d", Label: "system d", Colour: "#CC79A7", Marker: Down},
)

// Designs are the systems of the thesis, by preset. A series of their name has their look.
var Designs = newTable(
	Look{Name: "drtm+h", Label: "DrTM+H", Colour: "#0072B2", Marker: Circle},
	Look{Name: "fasst", Label: "FaSST", Colour: "#D55E00", Marker: Square},
	Look{Name: "farm", Label: "FaRM", Colour: "#009E73", Marker: Triangle},
	Look{Name: "drtm+r", Label: "DrTM+R", Colour: "#CC79A7", Marker: Down},
)

// Milestones of a request, from its sender through the network to the receiver and back.
var Milestones = newTable(
	Look{Name: "post", Label: "being posted", Colour: "#56B4E9"},
	Look{Name: "doorbell", Label: "doorbell and fetch of the request", Colour: "#0072B2"},
	Look{Name: "nic_send", Label: "send pipeline", Colour: "#E69F00"},
	Look{Name: "wire", Label: "wire and switch", Colour: "#CDCDCD"},
	Look{Name: "nic_receive", Label: "receive pipeline", Colour: "#D55E00"},
	Look{Name: "pcie", Label: "PCIe", Colour: "#CC79A7"},
	Look{Name: "memory", Label: "memory", Colour: "#009E73"},
	Look{Name: "handler_queue", Label: "waiting for the handler's thread", Colour: "#F0E442"},
	Look{Name: "handler", Label: "handler", Colour: "#4B2A70"},
	Look{Name: "completion", Label: "completion", Colour: "#7A5A1E"},
	Look{Name: "poll", Label: "waiting to be polled", Colour: "#5A5A5A"},
	Look{Name: "compute", Label: "its own computing", Colour: "#A6E65C"},
	Look{Name: "asleep", Label: "asleep or waiting on purpose", Colour: "#FFF0FF"},
	Look{Name: "lock_wait", Label: "held back by its receiver, for a lock", Colour: "#8778FF"},
)

// places are the looks of series that no table names: Okabe and Ito's colours, then a
// brown and a grey.
var places = [...]Look{
	{Colour: "#0072B2", Marker: Circle}, {Colour: "#D55E00", Marker: Square}, {Colour: "#009E73", Marker: Triangle}, {Colour: "#CC79A7", Marker: Down},
	{Colour: "#E69F00", Marker: Plus}, {Colour: "#56B4E9", Marker: Cross}, {Colour: "#5E4318", Marker: Right}, {Colour: "#4D4D4D", Marker: Left},
}

// Places are as many as differ; then they come again.
const Places = len(places)

// Place is the look of the i-th series or part.
func Place(i int) Look { return places[i%Places] }

// Inks that have a meaning of their own.
const (
	Thesis   = "#6E6E6E" // published numbers
	Interval = "#222222" // 95 % intervals across bars: seen on a bar and beside it
	Mark     = "#888888" // something happened here
	Unknown  = "#767676" // a name that no table has; a verdict that is open
	Good     = "#0072B2" // what holds
	Bad      = "#D55E00" // what does not
	Hot      = "#E8590C" // the outline of what is busiest
	DarkInk  = "#111111" // words on light colours
	LightInk = "#FFFFFF" // words on dark ones, and paper
	LineInk  = "#444444" // frames and ticks
	Grid     = "#E6E6E6"
)

// Utilisation goes from idle to saturated: cividis, whose lightness rises for the
// colour-blind as for others.
var Utilisation = []string{"#00224E", "#1A386F", "#434E6C", "#61646F", "#7D7C78", "#9B9476", "#BCAE6C", "#DDC95A", "#FEE838"}

// OnDark are what takes the place of colours that a dark ground would swallow.
var OnDark = map[string]string{
	"#0072B2": "#2C8FD6", "#D55E00": "#E06C1E", "#009E73": "#12B886", "#56B4E9": "#A5DCFA", "#5E4318": "#8A6A3A", "#4D4D4D": "#E0E0E0",
	"#332288": "#7C70D0", "#882255": "#DC9464", "#8700F0": "#B894F4",
	"#4B2A70": "#781ED2", "#7A5A1E": "#964B2D", "#5A5A5A": "#78FFA5",
	Thesis: "#A9B1B8", Interval: "#E4E8EB",
}

// All is every colour there is, sorted.
func All() []string {
	out := []string{Thesis, Interval, Mark, Unknown, Good, Bad, Hot, DarkInk, LightInk, LineInk, Grid}
	for _, t := range []*Table{Phases, Systems, Designs, Milestones} {
		for _, l := range t.looks {
			out = append(out, l.Colour)
		}
	}
	for _, l := range places {
		out = append(out, l.Colour)
	}
	out = append(out, Utilisation...)
	for _, c := range OnDark { // order-free: sorted below
		out = append(out, c)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
