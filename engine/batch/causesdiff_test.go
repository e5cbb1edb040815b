package batch

import (
	"strings"
	"testing"

	"drtmx/engine/result"
)

// The difference of two systems names what matters more to one of them, and nothing that chance may have made.
func TestCausesOfTwoSystems(t *testing.T) {
	half := 0.04
	of := func(word string, cpu, network, back float64) *Causes {
		e := func(name string, v float64) Elasticity {
			return Elasticity{What: name, Name: name, Group: name, Throughput: v, CI95: &half, P50: &v, P50CI95: &half}
		}
		return &Causes{Verdict: result.Verdict{Word: word}, Causes: []Elasticity{e("cpu", cpu), e("network", network), e("back-off", back)}}
	}
	var all CausesOfSystems
	all.Add("occ", of("saturated", 0.7, 0.2, 0.05))
	all.Add("nowait", of("contended", 0.3, 0.24, 0.40))
	d := all.Differences[0]
	want := "occ is saturated; it gains most from cpu, 0.70 % more throughput for 1 % less of it. nowait is contended; it gains most from cpu, 0.30 % more throughput for 1 % less of it. cpu matters more to occ (0.70 and 0.30); back-off matters more to nowait (0.05 and 0.40)."
	if d.Text != want {
		t.Errorf("%q, want %q", d.Text, want)
	}
	if len(d.Rows) != 3 || d.Rows[0].What != "cpu" || !d.Rows[0].Gain.Differs || d.Rows[2].What != "network" || d.Rows[2].Gain.Differs || d.Rows[0].P50 == nil {
		t.Errorf("%+v", d.Rows)
	}
	if s := all.String(); !strings.Contains(s, "nowait against occ") || !strings.Contains(s, want) || !strings.Contains(s, "occ: ") {
		t.Error(s)
	}
	wide := 0.9
	vague := of("saturated", 0.7, 0.2, 0)
	vague.Causes[0].CI95 = &wide
	if d := CompareCauses("a", "b", vague, vague); !strings.HasPrefix(d.Text, "a is saturated; these runs are too short or too few to tell") {
		t.Error(d.Text)
	}
	same := CompareCauses("a", "b", of("saturated", 0.7, 0.2, 0), of("saturated", 0.68, 0.2, 0))
	if !strings.HasSuffix(same.Text, "No part matters measurably more to one of them.") {
		t.Error(same.Text)
	}
}
