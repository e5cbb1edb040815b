package main

import (
	"strings"
	"testing"
)

// In short: the full measurement is `bench -coverage 400`.
func TestIntervalsCover(t *testing.T) {
	const comparisons = 40
	for _, l := range coverageLoads {
		if l.workload != "smallbank" && l.workload != "micro-rpc" && l.workload != "cycle" {
			continue
		}
		l.commits = 1_000
		got, err := l.measure(t.Context(), comparisons)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range coverageMetrics {
			x := got[m]
			if x.all != comparisons || m != "latency_us.p99" && x.given < comparisons/2 || x.wrong > comparisons*15/100 {
				t.Errorf("%s, %s: %+v", l.workload, m, x)
			}
		}
	}
}

// What is wrong is told: a table with the shares, and an error that names what is beyond them.
func TestCoverageNamesAWorkload(t *testing.T) {
	var b strings.Builder
	if err := printCoverage(t.Context(), &b, 4, "micro-read"); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "| micro-read | 4 | ") || strings.Contains(text, "tpce") {
		t.Error(text)
	}
}
