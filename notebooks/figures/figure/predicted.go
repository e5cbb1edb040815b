package figure

import (
	"strings"

	"drtmx/dashboard/charts"
	"drtmx/notebooks/figures/prediction"
)

// Row is the claim as a row of predictions, with one value.
func (c *Claim) Row(figure string, v prediction.Value) prediction.Row {
	r := prediction.Row{ID: c.ID, Figure: figure, Claim: c.Claim, Unit: c.Unit, Predictions: []prediction.Value{v}}
	if c.Reference != "" {
		r.Published = &c.Reference
	}
	return r
}

// Predicted is what a claim comes to.
func (c *Claim) Predicted() prediction.Value {
	v := prediction.Value{Verdict: c.Status}
	if c.Measured != nil {
		v.Value = charts.Digits(*c.Measured, 4)
	}
	if c.ranged() {
		v.Range = charts.Digits(*c.Smallest, 4) + ".." + charts.Digits(*c.Largest, 4)
	}
	if b := c.Band; b != nil && c.Measured != nil {
		v.Band = &prediction.Band{Of: b.what(), Factor: b.Factor, Fewer: b.Fewer.text(c.ranged()), More: b.More.text(c.ranged())}
	}
	return v
}

// ranged says that a claim has a range, as the thesis has.
func (c *Claim) ranged() bool {
	return strings.Contains(c.Reference, "..") && c.Smallest != nil && c.Largest != nil && *c.Smallest != *c.Largest
}
