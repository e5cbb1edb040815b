package dashboard_test

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"

	"drtmx/cluster/agent"
	"drtmx/cluster/job"
	"drtmx/dashboard/charts"
	"drtmx/dashboard/charts/palette"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// recorder has one figure, which takes no run.
type recorder struct{}

func (recorder) List() []job.FigureInfo {
	return []job.FigureInfo{{ID: "predictions-4", Title: "Predictions of chapter 4", Chapter: 4, Section: "4", State: "ok", Instant: true}}
}

func (recorder) Sketch(string) string { return charts.Sketch{Ratios: [][2]float64{{0.8, 1}}}.SVG() }

func (recorder) Parts(_ string, f job.Figure) []job.FigurePart {
	if f == nil {
		return nil
	}
	return f.(*recordedFigure).parts()
}

func (recorder) Known(string) (job.KnownFigure, bool) { return job.KnownFigure{}, false }

func (recorder) Check(_, _ string, _ experiment.Knobs) error { return nil }

func (recorder) Run(context.Context, string, string, experiment.Knobs, job.FigureReport) (job.Figure, error) {
	return &recordedFigure{Figure: "predictions-4", Form: "dots", Scale: "quick", Note: "first: 4 of 35", X: map[string]any{"label": "Row"}, Y: map[string]any{"label": "Predicted / published"},
		Computed: map[string]any{"of": "what is recorded"},
		Series:   []recordedSeries{{"first", []recordedPoint{{0, 0.8, "f4-2a-cache-tput", "0.985..1.24x"}, {1, 26, "f4-6-two-peak", "5.14 Mtxn/s"}}}, {"now", []recordedPoint{{0, 0.9, "f4-2a-cache-tput", "1.1..1.3x"}}}}}, nil
}

type recordedFigure struct {
	Figure   string           `json:"figure"`
	Form     string           `json:"form"`
	Scale    string           `json:"scale"`
	Note     string           `json:"note"`
	X        map[string]any   `json:"x"`
	Y        map[string]any   `json:"y"`
	Computed map[string]any   `json:"computed"`
	Series   []recordedSeries `json:"series"`
}

type recordedSeries struct {
	Name   string          `json:"name"`
	Points []recordedPoint `json:"points"`
}

type recordedPoint struct {
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
	Name string  `json:"name"`
	Text string  `json:"text"`
}

func (f *recordedFigure) parts() []job.FigurePart {
	return []job.FigurePart{{Name: "claims", Title: "Claims", HTML: `<ul id="claims" class="claims"><li>✗ contradicted 4-2a: faster: the thesis says 1.26..1.45x; now 1.1..1.3x contradicts 4-10</li></ul>`}}
}

func (f *recordedFigure) Result(int) *result.Result { return nil }
func (f *recordedFigure) Sketch() string            { return recorder{}.Sketch("") }
func (f *recordedFigure) Verdicts() job.Verdicts    { return job.Verdicts{Contradicted: 1} }

func (f *recordedFigure) Draw(size charts.Size, _ ...job.Figure) *charts.Chart {
	return charts.DotRowsSized(size, "", charts.DotRows{X: charts.Axis{Label: "Predicted / published", From: 0.4, To: 2}, Rows: []string{"f4-2a-cache-tput", "f4-6-two-peak"}, At: 1, Zones: []float64{0.2, 0.1},
		Dots: []charts.Dots{{Name: "first", Colour: palette.Thesis, Marker: palette.Circle, Hollow: true, X: []float64{0.8, 26}}}})
}

// TestPredictionsPage: what is recorded is drawn unasked, with a table by rows, and fits a phone.
func TestPredictionsPage(t *testing.T) {
	t.Parallel()
	s, b := visitFigures(t, agent.Options{Pace: visitPace, NoTwin: true}, recorder{})
	b.act(`location.hash = "#figures/predictions-4"`)
	b.until("dots, unasked", figureJS+`?.getOption().series[0].data.length === 2 && document.getElementById("compute").hidden && document.getElementById("scale").hidden`)
	b.until("its title and counts", `/^Predictions of chapter 4/.test(document.getElementById("figuretitle").textContent) && /first: 4 of 35/.test(document.getElementById("figurecaption").textContent)`)
	b.until("rows with a column for each line", `[...document.querySelectorAll("#points tbody tr")].map((r) => r.textContent).join() === "f4-2a-cache-tput0.985..1.24x1.1..1.3x,f4-6-two-peak5.14 Mtxn/s"`)
	b.until("verdict and note", `/✗ contradicted.*1.26..1.45x.*contradicts 4-10/.test(document.getElementById("claims").textContent)`)
	b.do(chromedp.EmulateViewport(390, 800))
	b.until("as wide as a phone", figureJS+`.getWidth() < 390 && document.documentElement.scrollWidth <= 390`)
	b.quiet(s)
}
