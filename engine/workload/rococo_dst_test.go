package workload_test

import (
	"fmt"
	"strings"
	"testing"

	"drtmx/dst"
	"drtmx/engine/knob"
	"drtmx/engine/protocol/rococo"
	"drtmx/engine/timestamp"
	"drtmx/engine/workload/workloadtest"
)

// dated is Rococo with timestamps.
func dated() rococo.Config {
	c := rococo.Default()
	c.Timestamps = timestamp.Options{Scheme: "dst", DriftNS: 20_000, VersionBytes: 16 << 20, GCNS: 200_000}
	return c
}

// TestRococoSnapshots: transactions that always meet, and snapshots of them, which are serialisable with them, with clocks that
// agree or not, fresh or stale, though messages are lost.
func TestRococoSnapshots(t *testing.T) {
	seeds, commits := uint64(6), workloadtest.Effort(uint64(1_000), 400)
	if testing.Short() {
		seeds, commits = 2, 300
	}
	for seed := range seeds {
		for shape := range 3 {
			for _, keys := range []uint64{6, 12, 400} {
				cfg := dated()
				cfg.Timestamps.DriftNS = []int64{20_000, 0, 1_000_000}[seed%3]
				cfg.Timestamps.StalenessNS = []int64{0, 200_000}[seed%2]
				o := workloadtest.Small(cfg)
				shapes[shape](&o)
				o.Seed = seed
				b := workloadtest.New(t, o, few(t, keys))
				if bad := b.Stress(commits); len(bad) > 0 {
					t.Fatalf("%d keys, shape %d, seed %d:\n%s", keys, shape, seed, strings.Join(bad, "\n"))
				}
				b.Close()
			}
		}
	}
}

// driftingFar is Rococo with clocks so far off that who comes later has not the larger one anyway.
func driftingFar() rococo.Config {
	c := dated()
	c.Timestamps.DriftNS = 2_000_000
	return c
}

// TestRococoSnapshotsOfFarClocks: nothing is wrong with clocks that differ more than transactions take. engine/planted says what shows here.
func TestRococoSnapshotsOfFarClocks(t *testing.T) {
	for _, stale := range []int64{0, 200_000} {
		t.Run(fmt.Sprint("stale=", stale), func(t *testing.T) {
			c := driftingFar()
			c.Timestamps.StalenessNS = stale
			for seed := uint64(1); seed <= workloadtest.Effort(uint64(12), 3); seed++ {
				if bad := dispersed(t, c, seed); len(bad) > 0 {
					t.Fatalf("seed %d: %s", seed, strings.Join(bad, "\n"))
				}
			}
		})
	}
}

// TestRococoFindsPrintedForms: each form of DST as it is printed is found.
func TestRococoFindsPrintedForms(t *testing.T) {
	for _, form := range []string{dst.AsPublishedWait, dst.AsPublishedCommit} {
		c := driftingFar()
		c.Timestamps.Values = knob.Values{"ts.variant": form}
		found := ""
		for seed := uint64(1); seed <= 12 && found == ""; seed++ {
			for _, text := range dispersed(t, c, seed) {
				if strings.HasPrefix(text, "G-single:") {
					found = text
				}
			}
		}
		if t.Logf("%s: %s", form, found); found == "" {
			t.Errorf("%s was not found as G-single", form)
		}
	}
}

// dispersed runs transactions that meet on one of the deployments, and returns what is wrong.
func dispersed(t *testing.T, c rococo.Config, seed uint64) []string {
	o := workloadtest.Small(c)
	shapes[int(seed)%len(shapes)](&o)
	o.Seed = seed
	b := workloadtest.New(t, o, few(t, 6+4*(seed%3)))
	defer b.Close()
	return b.Stress(1_500)
}
