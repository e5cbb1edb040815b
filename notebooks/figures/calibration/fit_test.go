package calibration

import (
	"context"
	"embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/published"
)

//go:embed fits/*.csv
var fits embed.FS

// A fitted number changes together with what it leaves of the rows, or not at
// all: who changes one by hand runs drtmx fit PROFILE --evaluations 0.
func TestFittedNumbersHaveResiduals(t *testing.T) {
	for _, name := range profile.Names() {
		p, err := profile.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		fitted := map[string]float64{}
		p.Each(func(number string, n *profile.Number) {
			if n.Kind == profile.Fitted && n.Value > 0 {
				fitted[number] = n.Value
			}
		})
		file, err := fits.Open("fits/" + name + ".csv")
		if err != nil {
			if len(fitted) > 0 {
				t.Errorf("profile %s has %d fitted numbers and no residuals: %v", name, len(fitted), err)
			}
			continue
		}
		rows, err := csv.NewReader(file).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		residuals := 0
		for _, r := range rows[1:] {
			if r[0] == "residual" {
				residuals++
				continue
			}
			if x, err := strconv.ParseFloat(r[2], 64); err != nil || fitted[r[1]] != x {
				t.Errorf("profile %s: %s is %g, its residuals were measured with %s: run drtmx fit %s", name, r[1], fitted[r[1]], r[2], name)
			}
			delete(fitted, r[1])
		}
		if residuals == 0 {
			t.Errorf("profile %s: no residuals", name)
		}
		for number := range fitted {
			t.Errorf("profile %s: %s is fitted and not among its residuals: run drtmx fit %s", name, number, name)
		}
	}
}

// A fit undoes a change that rows can see, leaves numbers alone that no row
// sees, and does not touch the profile it was given.
func TestFitFindsWhatWasChanged(t *testing.T) {
	p, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	right := p.NIC.TxRead.Value
	wrong := p.Clone()
	wrong.NIC.TxRead.Value *= 1.5
	rows := []published.Row{{ID: "a", Use: Fit, From: 10, To: 10}, {ID: "b", Use: Fit, From: 1, To: 3}}
	f, err := newFitting(wrong, FitOptions{Evaluations: 400})
	if err != nil {
		t.Fatal(err)
	}
	f.run = func(on *profile.Profile) ([]Row, error) {
		out := make([]Row, 2)
		out[0].judge(rows[0], 10*on.NIC.TxRead.Value/right)
		out[1].judge(rows[1], 2) // within its range
		return out, nil
	}
	fitted, report, err := f.fit()
	if err != nil {
		t.Fatal(err)
	}
	if e := math.Abs(fitted.NIC.TxRead.Value/right - 1); e > 0.1 {
		t.Errorf("tx_read is %g, was %g before it was changed", fitted.NIC.TxRead.Value, right)
	}
	if report.Loss[1] > report.Loss[0]/4 {
		t.Errorf("loss %v", report.Loss)
	}
	if wrong.NIC.TxRead.Value != right*1.5 {
		t.Error("the profile that was given changed")
	}
	if fitted.NIC.TxLatency.Value/p.NIC.TxLatency.Value > 1.2 || fitted.Memory.DRAMNext.Value != p.Memory.DRAMNext.Value {
		t.Error("numbers changed that no row depends on, or that are not fitted")
	}
	text, err := profile.Text("val")
	if err != nil {
		t.Fatal(err)
	}
	if text, err = profile.SetNumbers(text, report.Values()); err != nil {
		t.Fatal(err)
	}
	written, err := profile.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if written.NIC != fitted.NIC || written.CPU != fitted.CPU {
		// Sources and meanings are in the text too, so all of it must be equal.
		t.Errorf("the file that is written says %v, the fit %v", written.NIC.TxRead, fitted.NIC.TxRead)
	}
	if _, err := profile.SetNumbers(text, map[string]float64{"nic.nothing": 1}); err == nil {
		t.Error("a number that is not in the file is set")
	}
}

// An interrupt keeps the best so far.
func TestInterruptedFitKeepsTheBest(t *testing.T) {
	p, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFitting(p, FitOptions{Evaluations: 100, Params: []string{"nic.tx_read"}})
	if err != nil {
		t.Fatal(err)
	}
	f.run = func(on *profile.Profile) ([]Row, error) {
		if f.done > 6 {
			return nil, fmt.Errorf("row: %w", context.Canceled)
		}
		var r Row
		r.judge(published.Row{ID: "a", Use: Fit, From: 10, To: 10}, 8*on.NIC.TxRead.Value/p.NIC.TxRead.Value)
		return []Row{r}, nil
	}
	best, report, err := f.fit()
	if err != nil || !report.Interrupted {
		t.Fatalf("%+v %v", report, err)
	}
	if report.Loss[1] >= report.Loss[0] || best.NIC.TxRead.Value <= p.NIC.TxRead.Value {
		t.Errorf("loss %v, tx_read %g", report.Loss, best.NIC.TxRead.Value)
	}
}

// An interrupt while the residuals are measured ends that too: what is known of the
// best stays, the other rows are left out.
func TestInterruptedResiduals(t *testing.T) {
	p, err := profile.Load("r74v")
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	of, steps, last := 0, 0, 0
	o := FitOptions{Rows: []string{"s2-nvm-read-lat"}, Progress: func(done, total int) {
		steps, last, of = steps+1, done, total
		if done == 2 { // the row's one experiment is over, so this is of the residuals
			interrupt()
		}
	}}
	_, report, err := FitProfile(ctx, p, o)
	if err != nil {
		t.Fatal(err)
	}
	if last > of/2 {
		t.Errorf("it went on to %d of %d steps after the interrupt", last, of)
	}
	if !report.Interrupted || len(report.Residuals) != 1 || report.Residuals[0].ID != o.Rows[0] || report.Residuals[0].Measured == nil {
		t.Errorf("interrupted %v with residuals %+v", report.Interrupted, report.Residuals)
	}
}

// A profile on the way on which a run fails is a bad profile and not the end.
func TestFitGoesPastRunsThatFail(t *testing.T) {
	p, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFitting(p, FitOptions{Evaluations: 60, Params: []string{"nic.tx_read"}})
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	f.run = func(on *profile.Profile) ([]Row, error) {
		x := on.NIC.TxRead.Value / p.NIC.TxRead.Value
		if x > 1.08 {
			failed++
			return nil, fmt.Errorf("the run stalled at %g", x)
		}
		var r Row
		r.judge(published.Row{ID: "a", Use: Fit, From: 10, To: 10}, 8*x)
		return []Row{r}, nil
	}
	_, report, err := f.fit()
	if err != nil || failed == 0 {
		t.Fatalf("%v after %d runs that failed", err, failed)
	}
	if report.Failed != failed || !strings.Contains(report.String(), "the run stalled at") {
		t.Errorf("%d failed, the report has %d: %s", failed, report.Failed, report)
	}
	if report.Loss[1] >= report.Loss[0] {
		t.Errorf("loss %v", report.Loss)
	}
}

// A profile on the way may lack a value, as a crossover that is nowhere: that is a
// bad profile and not the end. The one to start from has to have all.
func TestFitGoesPastProfilesWithoutAValue(t *testing.T) {
	p, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	start := p.NIC.TxRead.Value
	row := published.Row{ID: "a", Use: Fit, From: 10, To: 10}
	none := figure.Claim{ID: "b", Status: figure.Undecided, Why: "no crossover"}
	lacking := 0
	fit := func(lacks func(x float64) bool) (*FitReport, error) {
		f, err := newFitting(p, FitOptions{Evaluations: 60, Params: []string{"nic.tx_read"}})
		if err != nil {
			t.Fatal(err)
		}
		f.run = func(on *profile.Profile) ([]Row, error) {
			x := on.NIC.TxRead.Value / start
			out := []Row{{ID: "a"}, {ID: "b"}}
			out[0].judge(row, 8*x)
			switch {
			case !lacks(x):
				out[1].judge(row, 10)
			case x > 1.5:
				lacking++
				out[1].judge(row, math.NaN())
			default:
				lacking++
				out[1].claimed(row, none)
			}
			return out, nil
		}
		f.rest = func(*profile.Profile) ([]Row, error) {
			out := []Row{{ID: "a"}, {ID: "b"}}
			out[0].judge(row, 10)
			out[1].claimed(row, none)
			return out, nil
		}
		_, report, err := f.fit()
		return report, err
	}
	report, err := fit(func(x float64) bool { return x > 1.08 })
	if err != nil || lacking == 0 {
		t.Fatalf("%v after %d profiles without a value", err, lacking)
	}
	if x := report.Parameters[0]; report.Loss[1] >= report.Loss[0] || math.IsInf(report.Loss[1], 0) {
		t.Errorf("loss %v, %+v", report.Loss, x)
	}
	text, err := report.CSV()
	if err != nil || !strings.Contains(string(text), "\nresidual,b,,,,\n") || !strings.Contains(report.String(), "no crossover") {
		t.Errorf("%v:\n%s\n%s", err, text, report)
	}
	if _, err := json.Marshal(report); err != nil {
		t.Error(err)
	}
	for _, from := range []float64{0, 2} {
		if _, err := fit(func(x float64) bool { return x > from }); (err == nil) != (from == 2) {
			t.Errorf("a start that lacks values above %g: %v", from, err)
		}
	}
}

// Which rows and numbers a fit is about; those that are not are refused by name.
func TestPartsOfAFit(t *testing.T) {
	all, err := fitRows("r74v")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, m := range all {
		ids[m.id] = true
	}
	if !ids["f2-10-write16-nvm"] || !ids["s2-nvm-read-lat"] || !ids["s2-ddio-two-off"] || ids["f2-10-order"] || ids["f2-4a-read-peak"] || ids["s2-dimm-interleave"] {
		t.Errorf("rows of r74v: %v", ids)
	}
	p, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		says string
		o    FitOptions
	}{
		{"f9-9", FitOptions{Rows: []string{"f9-9"}}},
		{"f2-4a-order", FitOptions{Rows: []string{"f2-4a-order"}}},
		{"nic.nothing", FitOptions{Params: []string{"nic.nothing"}}},
		{"wire.bandwidth", FitOptions{Params: []string{"wire.bandwidth"}}},
	} {
		if _, _, err := FitProfile(context.Background(), p, c.o); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}
