package page

import (
	"fmt"
	"strings"

	"drtmx/cluster/job"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/prediction"
)

// toldPredictions is the recorded predictions about a figure as a page tells them.
type toldPredictions struct {
	Columns []string
	Rows    []toldPrediction
	Made    []string // by which command and code, a line for each column
	Notes   []string
}

type toldPrediction struct {
	ID, Claim, Published, Verdict string
	Cells                         []toldValue
}

// toldValue is a prediction: the number, how far it is off, and its band.
type toldValue struct{ Text, Off, Band string }

// predictionsPart is what is recorded about the figure; none if nothing is.
func predictionsPart(r *figure.Recipe, recorded Reports) []job.FigurePart {
	if !r.Predicts() {
		return nil
	}
	report := recorded(r.Definition.Chapter)
	var told toldPredictions
	var lines []*prediction.Line
	for i := range report.Rows {
		if report.Rows[i].Figure == r.Definition.ID {
			lines = append(lines, &report.Rows[i])
		}
	}
	var columns []prediction.Column
	for _, c := range report.Columns {
		made := madeBy(lines, c.Column)
		if made == "" {
			continue
		}
		columns = append(columns, c.Column)
		told.Columns = append(told.Columns, c.String())
		told.Made = append(told.Made, c.String()+": "+made)
	}
	for _, l := range lines {
		told.Rows = append(told.Rows, toldLine(l, columns))
		if l.Note != "" {
			told.Notes = append(told.Notes, l.ID+": "+l.Note)
		}
	}
	if len(columns) == 0 {
		return nil
	}
	return []job.FigurePart{part(partPredictions, "Predictions on record", told)}
}

func toldLine(l *prediction.Line, columns []prediction.Column) toldPrediction {
	out := toldPrediction{ID: l.ID, Claim: l.Claim, Verdict: l.Verdict, Published: "–"}
	if l.Published != nil {
		out.Published = prediction.UnitOf(strings.ReplaceAll(*l.Published, "..", " to "), l.Unit)
	}
	for _, c := range columns {
		v := c.Of(&l.Row)
		cell := toldValue{Text: strings.ReplaceAll(v.Text(), "..", " to "), Off: v.Off()}
		if v != nil && v.Band != nil {
			cell.Band = strings.ReplaceAll(fmt.Sprintf("%s / %s with 1/%g and %g of %s", v.Band.Fewer, v.Band.More, v.Band.Factor, v.Band.Factor, v.Band.What()), "..", " to ")
			if v.Band.Code != "" {
				cell.Band += ", by code " + v.Band.Code
			}
		}
		out.Cells = append(out.Cells, cell)
	}
	return out
}

// madeBy is what made a column of these rows, "" if they have none of it.
func madeBy(lines []*prediction.Line, c prediction.Column) string {
	for _, l := range lines {
		v := c.Of(&l.Row)
		switch {
		case v == nil:
		case v.Command == "" && v.Name == prediction.First:
			return "made before the number was read"
		case v.Command == "":
			return "code " + v.Code
		case v.Stale:
			return v.Command + ", code " + v.Code + ", not the code of this program (*)"
		default:
			return v.Command + ", code " + v.Code
		}
	}
	return ""
}
