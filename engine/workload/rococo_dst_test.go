package workload_test

import (
	"strings"
	"testing"

	"drtmx/engine/mvcc"
	"drtmx/engine/rococo"
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

// TestRococoSnapshotFaults: each fault planted into what snapshots do is found.
func TestRococoSnapshotFaults(t *testing.T) {
	type planted struct {
		name, kind string
		cfg        rococo.Config
	}
	var list []planted
	for _, x := range []struct {
		mvcc.Variant
		kind string
	}{
		{mvcc.NoWait, "G-single"}, {mvcc.ReadsNotRaised, "G2"}, {mvcc.AsPublishedWait, "G-single"}, {mvcc.AsPublishedCommit, "G-single"},
		{mvcc.SlotReused, mvcc.VersionLost}, {mvcc.CollectedEarly, mvcc.VersionLost},
	} {
		c := dated()
		switch c.Versions = x.Variant; x.Variant {
		case mvcc.AsPublishedWait, mvcc.AsPublishedCommit: // anybody can have them
			c.Versions, c.Timestamps.Variant = mvcc.Correct, x.String()
		case mvcc.CollectedEarly:
			c.Timestamps.StalenessNS = 200_000
		}
		c.Timestamps.DriftNS = 2_000_000 // or who comes later has the larger clock anyway
		list = append(list, planted{x.String(), x.kind, c})
	}
	for _, x := range list {
		found := ""
		for seed := uint64(1); seed <= 12 && found == ""; seed++ {
			o := workloadtest.Small(x.cfg)
			shapes[int(seed)%len(shapes)](&o)
			o.Seed = seed
			b := workloadtest.New(t, o, few(t, 6+4*(seed%3)))
			for _, text := range b.Stress(1_500) {
				if strings.HasPrefix(text, x.kind+":") {
					found = text
				}
			}
			b.Close()
		}
		if t.Logf("%s: %s", x.name, found); found == "" {
			t.Errorf("%s was not found as %s", x.name, x.kind)
		}
	}
}
