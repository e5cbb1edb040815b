package calibration

import (
	"embed"
	"encoding/csv"
	"math"
	"strconv"
	"testing"

	"drtmx/engine/fabric"
)

//go:embed fits/*.csv
var fits embed.FS

// A fitted number changes together with what it leaves of the rows, or not at
// all: who changes one by hand runs drtmx fit PROFILE --evaluations 0.
func TestFittedNumbersHaveResiduals(t *testing.T) {
	for _, name := range fabric.Profiles() {
		p, err := fabric.LoadProfile(name)
		if err != nil {
			t.Fatal(err)
		}
		fitted := map[string]float64{}
		p.Each(func(number string, n *fabric.Number) {
			if n.Kind == fabric.Fitted && n.Value > 0 {
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
	p, err := fabric.LoadProfile("val")
	if err != nil {
		t.Fatal(err)
	}
	right := p.NIC.TxRead.Value
	wrong := p.Clone()
	wrong.NIC.TxRead.Value *= 1.5
	list := []measure{{id: "a"}, {id: "b"}}
	rows := []Published{{ID: "a", From: 10, To: 10}, {ID: "b", From: 1, To: 3}}
	run := func(m measure, on *fabric.Profile) (float64, error) {
		if m.id == "a" {
			return 10 * on.NIC.TxRead.Value / right, nil
		}
		return 2, nil // within its range
	}
	fitted, report, err := fit(wrong, list, rows, run, FitOptions{Evaluations: 400})
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
	text, err := fabric.ProfileText("val")
	if err != nil {
		t.Fatal(err)
	}
	if text, err = fabric.SetNumbers(text, report.Values()); err != nil {
		t.Fatal(err)
	}
	written, err := fabric.ParseProfile(text)
	if err != nil {
		t.Fatal(err)
	}
	if written.NIC != fitted.NIC || written.CPU != fitted.CPU {
		// Sources and meanings are in the text too, so all of it must be equal.
		t.Errorf("the file that is written says %v, the fit %v", written.NIC.TxRead, fitted.NIC.TxRead)
	}
	if _, err := fabric.SetNumbers(text, map[string]float64{"nic.nothing": 1}); err == nil {
		t.Error("a number that is not in the file is set")
	}
}
