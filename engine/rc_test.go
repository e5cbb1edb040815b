package engine

import (
	"slices"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/history"
)

// TestReadCommittedSaysSo: under cc=rc a run claims what it keeps, names the anomalies that this allows, and passes; and the
// same load under cc=occ shows none of them.
func TestReadCommittedSaysSo(t *testing.T) {
	load := func(cc string) experiment.Spec {
		return small(experiment.Knobs{"cc": cc, "workload": "registers", "workload.keys": 40, "coroutines": 8, "check": "full", "duration_ns": 2_000_000})
	}
	r := mustRun(t, load("rc"))
	kinds := map[string]bool{}
	for _, a := range r.Checks.Anomalies {
		kinds[a.Kind] = true
		if a.Breaks {
			t.Errorf("%s: %s breaks the claim %s", a.Kind, a.Text, r.Checks.Claimed)
		}
	}
	if !r.Checks.Passed() || r.Checks.Claimed != history.ReadCommitted || !kinds[history.GSingle] {
		t.Errorf("rc: %s, with %v", r.ChecksText(), kinds)
	}
	if want := "seen, which it allows: "; !strings.Contains(r.ChecksText(), want) {
		t.Errorf("%q does not say %q", r.ChecksText(), want)
	}
	for name := range r.Phases { // order-free: each is looked at by itself
		if strings.Contains(name, "validation") {
			t.Errorf("a transaction spent time in %s", name)
		}
	}
	r = mustRun(t, load("occ"))
	if !r.Checks.Passed() || r.Checks.Claimed != history.StrictSerializable || r.Checks.Count > 0 {
		t.Errorf("occ: %s", r.ChecksText())
	}
}

// TestReadCommittedKnobs: of the phases, those of validation have no effect under it, and say so; all others of occ have theirs.
func TestReadCommittedKnobs(t *testing.T) {
	list, err := experiment.Describe(small(experiment.Knobs{"cc": "rc"}))
	if err != nil {
		t.Fatal(err)
	}
	var idle []string
	for _, k := range list {
		group, _, _ := strings.Cut(k.Name, ".")
		if !slices.Contains([]string{"nowait", "opt", "phase"}, group) { // those of other hosts
			continue
		}
		if k.InactiveBecause == "cc=rc does not use it" {
			idle = append(idle, k.Name)
		}
	}
	slices.Sort(idle)
	want := []string{
		"nowait.mode", "opt.ro_validation.db", "opt.ro_validation.or", "opt.ro_validation.pa", "opt.validation.db", "opt.validation.or", "opt.validation.pa",
		"phase.ro_validation", "phase.validation",
	}
	if !slices.Equal(idle, want) {
		t.Errorf("without effect under rc: %v, want %v", idle, want)
	}
}

// TestReadCommittedNeverAbortsReaders: read-only transactions that cc=occ makes abort do not under cc=rc, whoever overwrites rows.
func TestReadCommittedNeverAbortsReaders(t *testing.T) {
	for _, commit := range []string{"one-sided", "two-sided"} {
		load := func(cc string) experiment.Spec {
			return small(experiment.Knobs{"cc": cc, "workload": "tpcc", "workload.districts": 10, "phase.lock": "two-sided", "phase.commit": commit, "coroutines": 8, "duration_ns": 6_000_000})
		}
		rc, occ := mustRun(t, load("rc")).ByType["stock-level"], mustRun(t, load("occ")).ByType["stock-level"]
		if rc.Aborts > 0 || rc.Commits == 0 || occ.Aborts == 0 {
			t.Errorf("commit %s: under rc %d stock-levels committed and %d attempts aborted, under occ %d", commit, rc.Commits, rc.Aborts, occ.Aborts)
		}
	}
}

// TestInvariantsOfClaims: an invariant that a claim does not promise is not checked under it, and the result says so; under a stronger one it is.
func TestInvariantsOfClaims(t *testing.T) {
	for cc, unclaimed := range map[string]bool{"rc": true, "occ": false} {
		r := mustRun(t, small(experiment.Knobs{"cc": cc, "workload": "churn", "workload.keys": 16, "coroutines": 8, "check": "full", "duration_ns": 4_000_000}))
		_, checked := r.Checks.Invariants["churn.pairs"]
		said := strings.Contains(r.ChecksText(), "; not checked: churn.pairs, which only serializable transactions keep")
		if !r.Checks.Passed() || checked == unclaimed || said != unclaimed || !r.Checks.Invariants["churn.tokens"] {
			t.Errorf("%s: %s, invariants %v, not checked %v", cc, r.ChecksText(), r.Checks.Invariants, r.Checks.Unclaimed)
		}
	}
}
