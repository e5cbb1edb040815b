package engine

import (
	"strings"
	"testing"

	"drtmx/engine/experiment"
)

// Every store that XStore is compared with has right answers: on one server and on several, with clients everywhere, on data
// that are hard to learn, and while leaves split.
func TestRivals(t *testing.T) {
	for _, store := range []string{"drtm-tree", "masstree", "memcached", "rolex"} {
		for _, w := range []string{"ycsb-a", "ycsb-d", "ycsb-e", "ycsb-f", "prod2"} {
			k := experiment.Knobs{"workload": w, "store.ordered": store}
			switch w {
			case "ycsb-d":
				k["workload.keys"], k["workload.mix.insert"] = 300, 60
			case "ycsb-e", "prod2":
				k["servers"], k["workload.dataset"] = 2, "osm"
			case "ycsb-f":
				k["servers"], k["clients"], k["nodes"], k["workload.distribution"] = 0, 0, 3, "zipfian"
			}
			if store == "memcached" && k["servers"] == 2 { // both workloads scan
				if _, err := experiment.Resolve(asymmetric(k)); err == nil || !strings.Contains(err.Error(), "which has no order") {
					t.Errorf("%v: %v", k, err)
				}
				continue
			}
			r := mustRun(t, asymmetric(k))
			if r.Commits == 0 || !r.Checks.Passed() {
				t.Errorf("%v: %d commits, %s", k, r.Commits, r.ChecksText())
			}
			if w == "ycsb-d" && store == "rolex" && (r.Parts["rolex"]["splits"] == 0 || r.Parts["rolex"]["trained"] == 0 || r.Parts["rolex"]["fetched"] == 0) {
				t.Errorf("no leaf got a synonym, or no model was trained and fetched: %v", r.Parts["rolex"])
			}
		}
	}
}

// What clients train in the background does not keep a system from coming to rest.
func TestTrainingOfClientsDrains(t *testing.T) {
	s := open(t, asymmetric(experiment.Knobs{"workload": "ycsb-d", "workload.mix.insert": 60, "workload.mix.scan": 5, "store.ordered": "rolex", "rolex.segment": 8, "rolex.retrain_at": 2}))
	advance(t, s, 1_500_000)
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	r := s.Result()
	if !r.Checks.Passed() || r.Parts["rolex"]["trained"] == 0 {
		t.Errorf("%s, %v", r.ChecksText(), r.Parts["rolex"])
	}
}

// Knobs of rivals that do not fit are refused.
func TestRivalRules(t *testing.T) {
	for want, k := range map[string]experiment.Knobs{
		"rolex.fill = 20: a leaf has 16 slots; set rolex.fill=16 or less": {"rolex.fill": 20},
		"store.ordered = rolex: its clients READ and WRITE leaves":        {"profile": "aws", "preset": "fasst"},
	} {
		k["workload"], k["store.ordered"] = "ycsb-c", "rolex"
		if _, err := experiment.Resolve(asymmetric(k)); err == nil || !strings.Contains(err.Error(), want) || !experiment.IsSpecError(err) {
			t.Errorf("%v: %v, want %s", k, err, want)
		}
	}
}
