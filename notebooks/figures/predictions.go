package figures

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/prediction"
)

// firstSystems is the first chapter whose figures are about systems: what this simulator says about them are predictions.
const firstSystems = 3

// Predicting are the figures whose claims are predictions, those of one chapter, or for 0 of all.
func Predicting(chapter int) (list []*Recipe) {
	for _, d := range definitions {
		if d.form != formDots && d.chapter >= firstSystems && (chapter == 0 || d.chapter == chapter) {
			list = append(list, Get(d.id))
		}
	}
	return list
}

// PredictionsOf are what computed figures predict: their claims, but for those that the calibration table has. They become a
// column with that name.
func PredictionsOf(name string, list ...*Figure) *prediction.Table {
	t := &prediction.Table{Rows: []prediction.Row{}}
	for _, f := range list {
		r := Get(f.ID).ForClaims().and(f.Set)
		code, runs := r.version(f.Scale)
		for i := range f.Claims {
			c := &f.Claims[i]
			if _, calibrated := row(c.ID); calibrated {
				continue
			}
			v := c.predicted()
			v.Name, v.Scale, v.Code, v.Runs, v.Command = name, f.Scale, code, runs, "drtmx predict --run --figures "+f.ID+" --scale "+f.Scale
			if v.Band != nil {
				v.Command += " --band"
			}
			t.Rows = append(t.Rows, c.row(f.ID, v))
		}
	}
	return t
}

func (c *Claim) row(figure string, v prediction.Value) prediction.Row {
	r := prediction.Row{ID: c.ID, Figure: figure, Claim: c.Claim, Unit: c.Unit, Predictions: []prediction.Value{v}}
	if c.Reference != "" && !c.Withheld {
		r.Published = &c.Reference
	}
	return r
}

// predicted is what a claim comes to.
func (c *Claim) predicted() prediction.Value {
	v := prediction.Value{Verdict: c.Status}
	if c.Withheld {
		v.Verdict = prediction.Withheld
	}
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

// ranged says that a claim has a range: that of the thesis, or that of a withheld number.
func (c *Claim) ranged() bool {
	return (strings.Contains(c.Reference, "..") || c.Withheld) && c.Smallest != nil && c.Largest != nil && *c.Smallest != *c.Largest
}

// version is what makes a figure's numbers: the code, and a digest of the specs of its runs.
func (r *Recipe) version(scale string) (code, runs string) {
	if r.def.compute != nil {
		return r.code(), ""
	}
	h := sha256.New()
	specs, err := r.Specs(scale)
	must(err) // a figure's own specs are right
	for _, s := range specs {
		v, err := experiment.Resolve(s)
		must(err)
		text, err := json.Marshal(v)
		must(err)
		h.Write(text) // a hash does not fail
	}
	if len(specs) == 0 {
		return result.CodeVersion(), ""
	}
	return result.CodeVersion(), "runs-" + hex.EncodeToString(h.Sum(nil))[:16]
}

// code is the version of what makes the figure's numbers.
func (r *Recipe) code() string {
	if r.def.compute != nil {
		return result.CodeWith(comparePackage)
	}
	return result.CodeVersion()
}

// Report is a table of predictions with what follows from it, its figures in the order of the thesis. Verdicts are those of the
// column with that name.
func Report(t *prediction.Table, name string) *prediction.Report {
	type figure struct{ id, scale string }
	type version struct{ code, runs string }
	known := map[figure]version{}
	InOrder(t)
	return prediction.Of(t, name, result.CodeVersion(), func(id, scale string) (code, runs string) {
		at := figure{id, scale}
		if v, ok := known[at]; ok {
			return v.code, v.runs
		}
		if r, err := Find(id); err == nil {
			code, runs = r.ForClaims().version(scale)
		}
		known[at] = version{code, runs}
		return code, runs
	})
}

// InOrder puts the rows of a table into the order of the thesis.
func InOrder(t *prediction.Table) { t.Sort(ids()) }

// ids are those of all figures.
var ids = sync.OnceValue(func() (out []string) {
	for _, f := range List() {
		out = append(out, f.ID)
	}
	return out
})

// Recorded are the predictions of this repository about a chapter, or for 0 all, in the order of the thesis.
func Recorded(chapter int) *prediction.Table {
	var of []string
	for _, r := range Predicting(chapter) {
		of = append(of, r.ID())
	}
	t := prediction.Recorded().Only(func(r *prediction.Row) bool { return slices.Contains(of, r.Figure) })
	InOrder(t)
	return t
}
