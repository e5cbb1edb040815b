package figure

import (
	"strings"

	"drtmx/cluster/job"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Figure is a computed figure. Its JSON is that of `drtmx figure ID --json`.
type Figure struct {
	ID      string `json:"figure"`
	Title   string `json:"title"`
	Section string `json:"section"`
	Scale   string `json:"scale"`          // quick or paper
	Scope   string `json:"scope"`          // what a value of y is for: cluster, machine, socket, server, nic
	Form    string `json:"form"`           // how it is drawn: lines, curves, bars, stacked, ranking or table
	Note    string `json:"note,omitempty"` // what a reader of the numbers has to know
	// Structure says what the runs have where the thesis and its released code differ; "" where nothing does.
	Structure string   `json:"structure,omitempty"`
	X         Axis     `json:"x"`
	Y         Axis     `json:"y"`
	Series    []Series `json:"series"`
	Claims    []Claim  `json:"claims"`
	// References are published numbers on the axes, if no knob was changed.
	References []Reference `json:"references,omitempty"`
	// Partial is set while runs are still to come: there are points and no claims.
	Partial *Partial `json:"partial,omitempty"`
	// Set are the knobs that With changed.
	Set experiment.Knobs `json:"set,omitempty"`
	// Runs are the results behind the points; a table may take none.
	Runs []*result.Result `json:"runs"`
	// Computed says what was computed in place of runs, nil of a figure of runs.
	Computed *Computed `json:"computed,omitempty"`
	// PaperGap is by how much a point at this scale is off the same point at
	// paper scale, as a share; GapAt says which point.
	PaperGap float64 `json:"paper_gap"`
	GapAt    *Gap    `json:"paper_gap_at,omitempty"`
	WallMS   int64   `json:"wall_ms"`
	// BandFactor is that of the band of points and claims, 0 if there is none.
	BandFactor float64 `json:"band_factor,omitempty"`
	// BandCosts say which costs a band is about, and how far they go.
	BandCosts []string `json:"band_costs,omitempty"`

	// Made is of a figure that was computed before the program began.
	Made *job.Made `json:"made,omitempty"`

	recipe *Recipe // that computed it
}

// The forms of a figure.
const (
	FormLines   = "lines"   // points along a quantity, joined
	FormCurves  = "curves"  // throughput against latency, a point for each load
	FormBars    = "bars"    // a bar for each point, those of a name together
	FormStacked = "stacked" // a bar for each series, of its points
	FormRanking = "ranking" // a bar for each point, in their order
	FormTable   = "table"   // a row for each series, a column for each point
	FormDots    = "dots"    // a row for each point, a dot for each series
)

// Partial is how many runs have ended.
type Partial struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// Computed is where the numbers of a figure without runs come from. They depend on nothing that is simulated.
type Computed struct {
	By   string `json:"by"` // the package that computes
	Of   string `json:"of"` // what of
	Keys uint64 `json:"keys"`
	Seed uint64 `json:"seed"`
	// Numbers are those beside the picture.
	Numbers []Number `json:"numbers,omitempty"`
}

// Number is a number of one of the things that a figure compares.
type Number struct {
	Series string  `json:"series"`
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit,omitempty"`
}

// Axis names what is along an axis.
type Axis struct {
	Label string `json:"label"`
	Unit  string `json:"unit"`
	Log   bool   `json:"log,omitempty"`
}

// At is a value of the axis in words.
func (a Axis) At(x float64) string {
	unit := a.Unit
	if x == 1 {
		unit = strings.NewReplacer("coroutines", "coroutine", "districts", "district").Replace(unit)
	}
	if a.Unit == "bytes" {
		return charts.ByteCount(x)
	}
	return charts.Exact(x) + " " + unit
}

// Series is one line, with the thesis's name.
type Series struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"`
}

// Point is a value with the run that it comes from.
type Point struct {
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
	CI95 float64 `json:"ci95"` // half-width of the 95 % interval, in the unit of y
	// XCI95 is that of X, where X is measured too.
	XCI95 float64 `json:"x_ci95,omitempty"`
	Load  int     `json:"load"` // coroutines per thread, or clients
	Run   int     `json:"run"`  // index into runs
	// Name is what the point is, where X is no quantity.
	Name string `json:"name,omitempty"`
	// Text is what stands in a table that is no number.
	Text string `json:"text,omitempty"`
	// LatencyUS is the median, of a ranking.
	LatencyUS float64    `json:"latency_us,omitempty"`
	Band      *PointBand `json:"band,omitempty"`
}

// Gap is the point that is compared with paper scale.
type Gap struct {
	Series   string  `json:"series"`
	X        float64 `json:"x"`
	OwnScale float64 `json:"here"`
	Paper    float64 `json:"paper"`
	Run      int     `json:"run"` // the run at paper scale
	Name     string  `json:"name,omitempty"`
	// Of curves: the load of both points, and X at paper scale.
	Load   int     `json:"load,omitempty"`
	PaperX float64 `json:"paper_x,omitempty"`
}

// The verdicts on a claim.
const (
	Holds        = "holds"
	Contradicted = "contradicted"
	Undecided    = "undecided"
)

// Claim is a sentence of the thesis and what the runs say about it. A ratio
// "up to X (from Y)" has three fields: largest (which is also Measured) and
// smallest ratio at equal load, and peak over peak.
type Claim struct {
	ID        string   `json:"id"` // of its row in the calibration table
	Claim     string   `json:"claim"`
	Reference string   `json:"reference,omitempty"` // the thesis's number or range
	Measured  *float64 `json:"measured"`            // null for an ordering
	Unit      string   `json:"unit,omitempty"`
	Largest   *float64 `json:"largest,omitempty"`
	Smallest  *float64 `json:"smallest,omitempty"`
	Peak      *float64 `json:"peak_over_peak,omitempty"`
	Status    string   `json:"status"`
	Why       string   `json:"why"`
	// Says is the thesis's number and the simulator's in one sentence, "" where the
	// thesis has none.
	Says string `json:"says,omitempty"`
	// First is what this simulator said before the thesis's number was read.
	First string `json:"first_prediction,omitempty"`
	// States are what a claim on TPC-C/no comes to with aborts ignored and with the
	// correct protocol. Status is that of the first.
	States []State    `json:"states,omitempty"`
	Band   *ClaimBand `json:"band,omitempty"`

	Place       *Reference `json:"-"` // where the number is on the axes
	relative    []expected
	Quantity    Quantity `json:"-"` // how the numbers are told
	most, least Ratio    // of what was compared, zero if nothing was
	short       bool     // a run behind it is too short to decide anything
	EachMoment  bool     `json:"-"` // it is about each moment of its runs, so they need not be steady
}

// State is a claim measured in one state of TPC-C/no.
type State struct {
	Name     string   `json:"name"` // aborts ignored, or correct protocol
	Status   string   `json:"status"`
	Measured *float64 `json:"measured"`
	Says     string   `json:"says,omitempty"`
	Why      string   `json:"why"`
}

// Result is the run that a point names, nil if there is none of that number.
func (f *Figure) Result(run int) *result.Result {
	if run < 0 || run >= len(f.Runs) {
		return nil
	}
	return f.Runs[run]
}

// PointOf is the point of a run.
func (f *Figure) PointOf(run int) Point {
	for _, s := range f.Series {
		for _, p := range s.Points {
			if p.Run == run {
				return p
			}
		}
	}
	return Point{}
}

// Line finds a line by its name; a figure's own code asks for its own names.
func (f *Figure) Line(name string) *Series {
	for i := range f.Series {
		if f.Series[i].Name == name {
			return &f.Series[i]
		}
	}
	panic("figures: " + f.ID + " has no series " + name)
}

// At is the point of a line at x.
func (s *Series) At(x float64) (Point, bool) {
	for _, p := range s.Points {
		if p.X == x {
			return p, true
		}
	}
	return Point{}, false
}

// Peak is the point with the largest value.
func (s *Series) Peak() Point {
	best := s.Points[0]
	for _, p := range s.Points[1:] {
		if p.Y > best.Y {
			best = p
		}
	}
	return best
}
