package figures

import (
	"slices"
	"sync"

	"drtmx/engine/code"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/prediction"
	"drtmx/notebooks/figures/published"
)

// Predicting are the figures whose claims are predictions, those of one chapter, or for 0 of all.
func Predicting(chapter int) (list []*figure.Recipe) {
	for _, d := range byChapter() {
		if r := figure.New(d); r.Predicts() && (chapter == 0 || d.Chapter == chapter) {
			list = append(list, r)
		}
	}
	return list
}

// PredictionsOf are what computed figures predict: their claims, but for those that the calibration table has. They become a
// column with that name.
func PredictionsOf(name string, list ...*figure.Figure) *prediction.Table {
	t := &prediction.Table{Rows: []prediction.Row{}}
	for _, f := range list {
		r := Get(f.ID).ForClaims().And(f.Set)
		code, runs := r.Version(f.Scale)
		for i := range f.Claims {
			c := &f.Claims[i]
			if _, calibrated := published.Find(c.ID); calibrated {
				continue
			}
			v := c.Predicted()
			v.Name, v.Scale, v.Code, v.Runs, v.Command = name, f.Scale, code, runs, "drtmx predict --run --figures "+f.ID+" --scale "+f.Scale
			if v.Band != nil {
				v.Command += " --band"
			}
			t.Rows = append(t.Rows, c.Row(f.ID, v))
		}
	}
	return t
}

// Report is a table of predictions with what follows from it, its figures in the order of the thesis. Verdicts are those of the
// column with that name.
func Report(t *prediction.Table, name string) *prediction.Report {
	type figure struct{ id, scale string }
	type version struct{ code, runs string }
	known := map[figure]version{}
	InOrder(t)
	return prediction.Of(t, name, code.Build(), func(id, scale string) (code, runs string) {
		at := figure{id, scale}
		if v, ok := known[at]; ok {
			return v.code, v.runs
		}
		if r, err := find(byChapter(), id); err == nil {
			code, runs = r.ForClaims().Version(scale)
		}
		known[at] = version{code, runs}
		return code, runs
	})
}

// InOrder puts the rows of a table into the order of the thesis.
func InOrder(t *prediction.Table) { t.Sort(ids()) }

// ids are those of all figures.
var ids = sync.OnceValue(func() (out []string) {
	for _, d := range byChapter() {
		out = append(out, d.ID)
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
