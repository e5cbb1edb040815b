package kept

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"drtmx/cluster/runs"
)

func TestRunTableFits(t *testing.T) {
	x, share, no := 1.23456e6, 0.123456, false
	long := strings.Repeat("very long ", 20)
	table := runTable([]runs.Kept{
		{ID: 1, AtMS: time.Now().UnixMilli(), Kind: "run", Workload: "smallbank", Preset: "drtm+h", Note: long, Numbers: runs.Numbers{Throughput: &x, ThroughputCI95: &share, P50US: &x, P99US: &x, AbortRate: &share, Checks: &no}},
		{ID: 99999, AtMS: 1, Kind: "session", Workload: "micro-atomic", Preset: "drtm+h", About: long, Numbers: runs.Numbers{Checks: &no}},
	})
	for _, line := range strings.Split(table, "\n") {
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(table, "FAILED") || !strings.Contains(table, "r99999") || !strings.Contains(table, "1970-01-01") {
		t.Error(table)
	}
}
