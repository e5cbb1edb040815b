package figures

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"drtmx/dashboard/charts"
	"drtmx/engine/result"
)

// firstSystems is the first chapter whose figures are about systems: what this simulator says about them are predictions.
const firstSystems = 3

// Predictions are the system-level numbers of the thesis beside those of this simulator: the claims of figures, but for those
// that the calibration table has.
type Predictions struct {
	Rows []Prediction `json:"rows"`
	// Of the rows with a published number: how many there are, and how many predictions are within 10 and 20 % of it.
	Numbers  int `json:"numbers"`
	Within10 int `json:"within_10"`
	Within20 int `json:"within_20"`
	// Withheld are the rows whose published number is not open.
	Withheld int `json:"withheld"`
	// Of the rows that say what is above what: how many there are, and how many hold.
	Orders     int `json:"orders"`
	OrdersHold int `json:"orders_hold"`
}

// Prediction is a row.
type Prediction struct {
	ID          string      `json:"id"`
	Figure      string      `json:"figure"`
	Claim       string      `json:"claim"`
	Published   *string     `json:"published"` // 1.26..1.45; null of an order, and where it is not open
	Unit        string      `json:"unit,omitempty"`
	Predictions []Predicted `json:"predictions"`
	Error       *float64    `json:"error"` // signed, relative; null without a published number
	// Verdict is that of the claim, or withheld.
	Verdict string `json:"verdict"`
}

// Predicted is what a version of the code says.
type Predicted struct {
	Code  string `json:"code"` // first: as it was while the number was withheld
	Value string `json:"value"`
	// Range is what the number comes to under other values of what is assumed, or, of one that the thesis has a range for, that.
	Range string `json:"range,omitempty"`
}

func (p *Predicted) text(unit string) string {
	if p.Range != "" {
		return unitOf(p.Value, unit) + " (" + p.Range + ")"
	}
	return unitOf(p.Value, unit)
}

// verdictWithheld is the verdict on a number that cannot be compared yet.
const verdictWithheld = "withheld"

// Predicting are the figures whose claims are predictions, those of one chapter, or for 0 of all.
func Predicting(chapter int) (list []*Recipe) {
	for _, d := range definitions {
		if d.chapter >= firstSystems && (chapter == 0 || d.chapter == chapter) {
			list = append(list, Get(d.id))
		}
	}
	return list
}

// PredictionsOf are the rows of some figures. A row that several figures measure is listed with the first.
func PredictionsOf(list ...*Figure) *Predictions {
	p := &Predictions{Rows: []Prediction{}}
	seen := map[string]bool{}
	for _, f := range list {
		for i := range f.Claims {
			c := &f.Claims[i]
			if _, calibrated := row(c.ID); calibrated || seen[c.ID] {
				continue
			}
			seen[c.ID] = true
			p.add(f, c)
		}
	}
	return p
}

func (p *Predictions) add(f *Figure, c *Claim) {
	r := Prediction{ID: c.ID, Figure: f.ID, Claim: c.Claim, Unit: c.Unit, Verdict: c.Status, Predictions: []Predicted{}}
	if c.First != "" {
		r.Predictions = append(r.Predictions, Predicted{Code: "first", Value: c.First})
	}
	if c.Measured != nil {
		now := Predicted{Code: result.CodeVersion(), Value: charts.Digits(*c.Measured, 4)}
		if c.ranged() {
			now.Range = charts.Digits(*c.Smallest, 4) + ".." + charts.Digits(*c.Largest, 4)
		}
		r.Predictions = append(r.Predictions, now)
	}
	switch {
	case c.Withheld:
		r.Verdict = verdictWithheld
		p.Withheld++
	case c.Reference == "":
		p.Orders++
		if c.Status == Holds {
			p.OrdersHold++
		}
	default:
		r.Published = &c.Reference
		p.Numbers++
		if e, ok := c.off(); ok {
			r.Error = &e
			if math.Abs(e) <= 0.1 {
				p.Within10++
			}
			if math.Abs(e) <= 0.2 {
				p.Within20++
			}
		}
	}
	p.Rows = append(p.Rows, r)
}

// ranged says that a claim has a range: that of the thesis, or that of a withheld number.
func (c *Claim) ranged() bool {
	return (strings.Contains(c.Reference, "..") || c.Withheld) && c.Smallest != nil && c.Largest != nil && *c.Smallest != *c.Largest
}

// off is how far the number is off the published one, of a range its largest ratio.
func (c *Claim) off() (float64, bool) {
	from, to, ok := strings.Cut(c.Reference, "..")
	reference, err := strconv.ParseFloat(cmp.Or(to, from), 64)
	if err != nil || reference == 0 || c.Measured == nil {
		return 0, false
	}
	measured := *c.Measured
	if ok && c.Largest != nil {
		measured = *c.Largest
	}
	return measured/reference - 1, true
}

// String is a line for each row, by figure, and the sums.
func (p *Predictions) String() string {
	rows := [][]string{{"row", "figure", "published", "predicted", "off", "verdict", "claim"}}
	for _, r := range p.Rows {
		line := []string{r.ID, r.Figure, "–", "–", "", r.Verdict, r.Claim}
		if r.Published != nil {
			line[2] = unitOf(*r.Published, r.Unit)
		}
		if n := len(r.Predictions); n > 0 {
			line[3] = r.Predictions[n-1].text(r.Unit)
		}
		if r.Error != nil {
			line[4] = fmt.Sprintf("%+.0f %%", 100**r.Error)
		}
		rows = append(rows, line)
	}
	text := aligned(rows)
	return text + fmt.Sprintf("\n\n%d numbers are published: %d predictions within 10 %%, %d within 20 %%; %d are withheld; %d of %d orders hold",
		p.Numbers, p.Within10, p.Within20, p.Withheld, p.OrdersHold, p.Orders)
}

// aligned writes rows with their columns below each other.
func aligned(rows [][]string) string {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	var lines []string
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			fmt.Fprintf(&b, "%-*s  ", width[i], cell)
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return strings.Join(lines, "\n")
}
