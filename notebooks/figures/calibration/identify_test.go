package calibration

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/notebooks/figures/published"
)

// identifying is a table of sensitivities on rows that are made up.
func identifying(t *testing.T, params []string, run func(on, start *profile.Profile) ([]Row, error)) *fitting {
	t.Helper()
	p, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFitting(p, FitOptions{Params: params})
	if err != nil {
		t.Fatal(err)
	}
	f.run = func(on *profile.Profile) ([]Row, error) { return run(on, p) }
	return f
}

func madeUp(values ...float64) []Row {
	out := make([]Row, len(values))
	for i, x := range values {
		out[i].ID = string(rune('a' + i))
		out[i].judge(published.Row{ID: out[i].ID, Use: Fit, From: 10, To: 10}, x)
	}
	return out
}

// The flags tell a number that no row notices from one that rows notice from one side,
// from two that they only see together, and from one that a row has to itself.
func TestIdentify(t *testing.T) {
	params := []string{"cpu.post_wqe", "cpu.mmio", "cpu.poll_cqe", "nic.tx_read", "nic.tx_write", "nic.tx_ack", "nic.rx_latency"}
	f := identifying(t, params, func(on, start *profile.Profile) ([]Row, error) {
		sum := func(p *profile.Profile) float64 { return p.CPU.PostWQE.Value + p.CPU.PollCQE.Value }
		mmio := on.CPU.MMIO.Value / start.CPU.MMIO.Value
		if on.NIC.TxAck.Value > start.NIC.TxAck.Value {
			return nil, errors.New("the run stalled")
		}
		return madeUp(10*sum(on)/sum(start), 10*math.Max(mmio, 1), 12*on.NIC.TxRead.Value/start.NIC.TxRead.Value*math.Pow(on.NIC.RxLatency.Value/start.NIC.RxLatency.Value, 0.1)), nil
	})
	s, err := f.identify()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"cpu.post_wqe": Together, "cpu.poll_cqe": Together, "cpu.mmio": OneSided, "nic.tx_read": "", "nic.tx_write": Weak, "nic.tx_ack": OneSided,
		"nic.rx_latency": Weak} // as tx_read moves them, but a tenth as far: too little to take its place
	for _, n := range s.Numbers {
		if n.Flag != want[n.Name] {
			t.Errorf("%s is flagged %q, want %q: %+v", n.Name, n.Flag, want[n.Name], n)
		}
		switch n.Name {
		case "nic.tx_read": // 20 % too high in its row: less is better, more is worse
			down, up := math.Pow(math.Log(0.96), 2)-math.Pow(math.Log(1.2), 2), math.Pow(math.Log(1.44), 2)-math.Pow(math.Log(1.2), 2)
			if n.Down.Row != "c" || math.Abs(*n.Down.Loss-down) > 1e-3 || math.Abs(*n.Up.Loss-up) > 1e-3 || math.Abs(*n.Up.By-0.2) > 1e-3 {
				t.Errorf("down %+v, up %+v; the objective changes by %g and %g", n.Down, n.Up, down, up)
			}
		case "nic.tx_write": // the pull of a fit would count 0.001
			if *n.Down.Loss != 0 || *n.Up.Loss != 0 {
				t.Errorf("the objective changes by %g and %g with a number that no row depends on", *n.Down.Loss, *n.Up.Loss)
			}
		case "nic.tx_ack":
			if n.Up.Loss != nil || !strings.Contains(s.String(), "nic.tx_ack at 3.24 ns: the run stalled") {
				t.Errorf("a run failed: %+v\n%s", n.Up, s)
			}
		}
	}
	if len(s.Numbers) != len(params) || s.Evaluations != 2*len(params)+1 {
		t.Errorf("%d numbers, %d evaluations", len(s.Numbers), s.Evaluations)
	}
	if !strings.Contains(s.String(), "weak: nic.rx_latency, nic.tx_write\n") {
		t.Errorf("%s", s)
	}
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
}

// An interrupt keeps the numbers that are done; one in the first evaluation leaves nothing.
func TestInterruptedIdentify(t *testing.T) {
	for _, after := range []int{0, 3} {
		calls := 0
		f := identifying(t, []string{"nic.tx_read", "nic.tx_write"}, func(*profile.Profile, *profile.Profile) ([]Row, error) {
			if calls++; calls > after {
				return nil, fmt.Errorf("row: %w", context.Canceled)
			}
			return madeUp(10), nil
		})
		s, err := f.identify()
		if after == 0 {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%+v, %v", s, err)
			}
			continue
		}
		if err != nil || !s.Interrupted || len(s.Numbers) != 1 || s.Numbers[0].Flag != Weak || !strings.Contains(s.String(), "interrupted") {
			t.Errorf("%+v, %v", s, err)
		}
	}
}

// On the hardware itself: the latency of NVM tells what a read of it takes, and
// nothing of writes.
func TestIdentifyOnHardware(t *testing.T) {
	p, err := profile.Load("r74v")
	if err != nil {
		t.Fatal(err)
	}
	last, of := 0, 0
	s, err := Identify(t.Context(), p, IdentifyOptions{Rows: []string{"s2-nvm-read-lat"}, Params: []string{"nvm.read_hit", "nvm.controller_write", "nvm.posted_writes"},
		Progress: func(done, total int) { last, of = done, total }})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Flagged(Weak); !slices.Equal(got, []string{"nvm.controller_write", "nvm.posted_writes"}) || last != of || of != 7 {
		t.Errorf("weak are %v, progress %d of %d\n%s", got, last, of, s)
	}
	for _, o := range []IdentifyOptions{{Rows: []string{"f9-9"}}, {Params: []string{"wire.bandwidth"}}} {
		if _, err := Identify(t.Context(), p, o); !experiment.IsSpecError(err) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// What is kept of the sensitivities is of the numbers that are in the profiles: who
// changes one runs make identify.
func TestSensitivitiesAreOfTheProfiles(t *testing.T) {
	for _, name := range []string{"val", "r74v"} {
		p, err := profile.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]float64{}
		p.Each(func(number string, n *profile.Number) {
			if n.Kind == profile.Fitted {
				values[number] = n.Value
			}
		})
		file, err := fits.Open("fits/" + name + ".identify.csv")
		if err != nil {
			t.Error(err)
			continue
		}
		rows, err := csv.NewReader(file).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Errorf("%s: %d lines, %v", name, len(rows), err)
			continue
		}
		for _, r := range rows[1:] {
			if r[0] == "row" {
				if _, err := find(published.Table(), r[1]); err != nil {
					t.Error(err)
				}
				continue
			}
			if x, err := strconv.ParseFloat(r[2], 64); err != nil || values[r[1]] != x {
				t.Errorf("profile %s: %s is %g, its sensitivity was measured at %s: run make identify PROFILE=%s", name, r[1], values[r[1]], r[2], name)
			}
		}
	}
}
