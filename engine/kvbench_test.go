package engine

import (
	"drtmx/engine/knob"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"drtmx/engine/experiment"
)

// asymmetric is a small cluster of a server and two clients.
func asymmetric(k experiment.Knobs) experiment.Spec {
	all := experiment.Knobs{"servers": 1, "clients": 2, "threads": 3, "coroutines": 3, "workload.keys": 3000, "workload.scale": 1, "check": "full", "torn_reads": true}
	for name, x := range k { // order-free: fills a map
		all[name] = x
	}
	return small(all)
}

// Every workload has right answers in every mode of the cache, on one server and on several, and with clients everywhere.
func TestKeyValueWorkloads(t *testing.T) {
	for _, w := range []string{"ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f", "prod1", "prod2"} {
		for _, mode := range []string{"full", "model", "top", "tree", "tree4", "none"} {
			k := experiment.Knobs{"workload": w, "xstore.cache": mode}
			switch mode {
			case "model":
				k["servers"], k["workload.dataset"] = 2, "osm"
			case "top":
				k["servers"], k["clients"], k["nodes"], k["workload.dataset"] = 0, 0, 3, "noised"
			case "full":
				k["xstore.log"] = w == "ycsb-a"
				if w == "ycsb-d" {
					k["workload.keys"], k["workload.mix.insert"] = 300, 60
				}
			}
			r := mustRun(t, asymmetric(k))
			if r.Commits == 0 || !r.Checks.Passed() {
				t.Errorf("%v: %d commits, %s", k, r.Commits, r.ChecksText())
			}
			if w == "ycsb-d" && mode == "full" && (r.Parts["xstore"]["splits"] == 0 || r.Parts["xstore"]["retrained"] == 0) {
				t.Errorf("no leaf was split, or no sub-model retrained: %v", r.Parts["xstore"])
			}
		}
	}
}

// Keys of different lengths have right answers in every mode of the cache, whether they have a hash of their own or share one,
// and no other key's value is taken for theirs.
func TestKeysOfDifferentLengths(t *testing.T) {
	for _, w := range []string{"ycsb-a", "ycsb-c", "ycsb-d", "ycsb-f", "prod2"} {
		for i, mode := range []string{"full", "model", "top", "tree", "tree4", "none"} {
			k := experiment.Knobs{"workload": w, "xstore.cache": mode, "workload.key_bytes": []int{16, 40, 128}[i%3], "xstore.hash_bits": []int{64, 10}[i%2], "workload.dataset": "noised"}
			switch mode {
			case "full":
				k["xstore.log"] = w == "ycsb-a"
				if k["xstore.hash_bits"] = 10; w == "ycsb-d" {
					k["workload.keys"], k["workload.mix.insert"], k["xstore.hash_bits"] = 300, 60, 12
				}
			case "model":
				k["servers"], k["xstore.top"] = 2, "nn"
			case "top":
				k["servers"], k["clients"], k["nodes"] = 0, 0, 3
			}
			switch w {
			case "prod2":
				k["workload.mix.scan"] = 0
			case "ycsb-f":
				k["xstore.top"], k["workload.dataset"] = "mlr", "orderline"
			}
			r := mustRun(t, asymmetric(k))
			if r.Commits == 0 || !r.Checks.Passed() {
				t.Errorf("%v: %d commits, %s", k, r.Commits, r.ChecksText())
			}
			if shared := r.Parts["xstore"]["collisions"] > 0; k["xstore.hash_bits"] == 64 && shared || k["xstore.hash_bits"] == 10 && !shared {
				t.Errorf("%v: %g %% records of other keys", k, r.Parts["xstore"]["collisions"])
			}
			if w == "ycsb-d" && mode == "full" && (r.Parts["xstore"]["splits"] == 0 || r.Parts["xstore"]["retrained"] == 0) {
				t.Errorf("no leaf was split, or no sub-model retrained: %v", r.Parts["xstore"])
			}
		}
	}
}

// Where keys have different lengths, scans cannot be asked for while it runs either, and what can be set takes effect.
func TestKeysOfDifferentLengthsLive(t *testing.T) {
	s := open(t, asymmetric(experiment.Knobs{"workload": "prod1", "workload.mix.scan": 0, "workload.key_bytes": 40, "xstore.hash_bits": 9, "xstore.submodels": 20, "xstore.expand_at": 0}))
	if _, err := s.Set(experiment.Knobs{"workload.mix.scan": 2}, "test"); !experiment.IsSpecError(err) {
		t.Errorf("scans: %v", err)
	}
	for _, k := range []experiment.Knobs{{}, {"xstore.submodels": 70}, {"xstore.cache": "model"}, {"xstore.cache": "tree4"}, {"xstore.cache": "full", "workload.distribution": "zipfian"}} {
		if _, err := s.Set(k, "test"); err != nil {
			t.Fatalf("%v: %v", k, err)
		}
		advance(t, s, 500_000)
	}
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	if r := s.Result(); !r.Checks.Passed() {
		t.Error(r.ChecksText())
	}
}

// What is set while it runs takes effect, and no key is lost on the way: the mode of the cache, the number of sub-models,
// speculation, hints, the distribution.
func TestKeyValueLive(t *testing.T) {
	s := open(t, asymmetric(experiment.Knobs{"workload": "ycsb-d", "workload.mix.scan": 5, "workload.mix.update": 10, "xstore.submodels": 30, "xstore.expand_at": 0}))
	models := 0.0
	for _, k := range []experiment.Knobs{
		{}, {"xstore.submodels": 120}, {"xstore.cache": "model"}, {"xstore.cache": "tree"}, {"workload.distribution": "latest"}, {"xstore.cache": "top", "xstore.submodels": 60},
		{"xstore.speculative": false, "xstore.position_hint": false}, {"xstore.cache": "full"}, {"xstore.cache": "none"},
	} {
		if _, err := s.Set(k, "test"); err != nil {
			t.Fatalf("%v: %v", k, err)
		}
		advance(t, s, 1_500_000)
		w := s.Windows(0)
		if x := w[len(w)-1].Gauges["xstore.submodels"]; x > 0 {
			models = x
		}
		if k["xstore.submodels"] != nil && models != float64(k["xstore.submodels"].(int)) {
			t.Errorf("%v: %g sub-models", k, models)
		}
	}
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	if r := s.Result(); !r.Checks.Passed() {
		t.Error(r.ChecksText())
	}
}

// A number of sub-models that is left to the store comes with the reason, and results have a section for the models.
func TestKeyValueAuto(t *testing.T) {
	r := mustRun(t, asymmetric(experiment.Knobs{"workload": "ycsb-c", "workload.dataset": "noised", "xstore.submodels": "auto"}))
	c, x := r.Auto["xstore.submodels"], r.Sections["xstore"]
	if c.Primitive == "" || !strings.Contains(c.Because, "READ") || !strings.Contains(r.String(), "xstore.submodels is "+c.Primitive) {
		t.Errorf("%+v in %s", c, r)
	}
	if x == nil || x.Number("model_bytes") == 0 || x.Number("tt_bytes") != 3000 || x.Number("index_bytes") == 0 || x.Number("mean_error") == 0 || x.Number("fallback_rate") != 0 || x.Number("retrained") != 0 {
		t.Errorf("%+v", x)
	}
	s := open(t, asymmetric(experiment.Knobs{"workload": "ycsb-c", "workload.dataset": "noised", "xstore.submodels": 1500}))
	of := func() experiment.KnobState {
		list := s.Knobs()
		return list[slices.IndexFunc(list, func(k experiment.KnobState) bool { return k.Name == "xstore.submodels" })]
	}
	if k := of(); k.Auto != nil {
		t.Errorf("a number that was given is called a choice: %+v", k.Auto)
	}
	if _, err := s.Set(experiment.Knobs{"xstore.submodels": "auto"}, "test"); err != nil {
		t.Fatal(err)
	}
	advance(t, s, 3_000_000)
	w := s.Windows(0)
	if k, models := of(), w[len(w)-1].Gauges["xstore.submodels"]; k.Auto == nil || k.Auto.Primitive != c.Primitive || c.Primitive != strconv.Itoa(int(models)) {
		t.Errorf("set to auto while it runs: %+v, and there are %g sub-models", k.Auto, models)
	}
	if text := experiment.Format("xstore.submodels", s.Values()["xstore.submodels"]); text != "auto" {
		t.Errorf("it is written %s", text)
	}
	if r := mustRun(t, small(experiment.Knobs{})); r.Sections != nil {
		t.Error("SmallBank has a section for models")
	}
}

// A number of sub-models that a person asks for is kept, though the thresholds of expansion and shrinking would have another.
func TestKeyValueAskedNumberStays(t *testing.T) {
	s := open(t, asymmetric(experiment.Knobs{"workload": "ycsb-c", "workload.dataset": "noised"}))
	for _, n := range []int{1000, 2} { // 3 keys of each, where 50 are few, and 1,500, where 400 are many
		if _, err := s.Set(experiment.Knobs{"xstore.submodels": n}, "test"); err != nil {
			t.Fatal(err)
		}
		advance(t, s, 4_000_000)
		w := s.Windows(0)
		if g := w[len(w)-1].Gauges; g["xstore.submodels"] != float64(n) || g["xstore.training"] != 0 || g["xstore.pending"] != 0 {
			t.Errorf("%d were asked for, there are %g, and %g are trained", n, g["xstore.submodels"], g["xstore.training"])
		}
	}
}

// Bad values are refused with the field, the value, the rule and the next step.
func TestKeyValueRules(t *testing.T) {
	for want, k := range map[string]experiment.Knobs{
		"workload.distribution = latest: workload ycsb-c does not read what it inserts; use workload ycsb-d, or another distribution":           {"workload": "ycsb-c", "workload.distribution": "latest"},
		"workload.distribution = zipfian: YCSB D reads uniformly":                                                                               {"workload": "ycsb-d", "workload.distribution": "zipfian"},
		"workload.keys = 8: there are 8 keys for 9 servers; set workload.keys=9 or more":                                                        {"workload": "ycsb-c", "workload.keys": 8, "servers": 9},
		"xstore.trainers = 5: each shares a core":                                                                                               {"workload": "ycsb-c", "xstore.trainers": 5},
		"workload.key_bytes = 15: keys of different lengths have 16 bytes at least; use 0, or 16 and more":                                      {"workload": "ycsb-c", "workload.key_bytes": 15},
		"workload.key_bytes = 40: the store keeps such keys by their hashes, which have no order to SCAN in; set workload.mix.scan=0":           {"workload": "prod1", "workload.key_bytes": 40},
		"store.ordered = masstree: its keys have 8 bytes, and those of the workload have different lengths, up to 40; use store.ordered=xstore": {"workload": "ycsb-c", "workload.key_bytes": 40, "store.ordered": "masstree"},
		"xstore.expand_at = 100: a model has 200 keys":                                                                                          {"workload": "ycsb-c", "xstore.expand_at": 100},
		"workload.insert_rate = 5: one machine inserts and nothing else":                                                                        {"workload": "ycsb-d", "workload.insert_rate": 5, "clients": 1},
		"workload.insert_rate = 5: the machines that do not insert":                                                                             {"workload": "ycsb-d", "workload.insert_rate": 5, "workload.mix.get": 0},
	} {
		if _, err := experiment.Resolve(asymmetric(k)); err == nil || !strings.Contains(err.Error(), want) || !experiment.IsSpecError(err) {
			t.Errorf("%v: %v, want %s", k, err, want)
		}
	}
}

// With a rate of inserts the last machine inserts, as often as that and nothing else, and the others do not; when the rate is
// taken away every client inserts again.
func TestInsertRate(t *testing.T) {
	const rate, ns = 200_000, 2_000_000
	s := open(t, asymmetric(experiment.Knobs{"workload": "ycsb-d", "workload.mix.insert": 50, "workload.mix.get": 50, "workload.insert_rate": rate}))
	advance(t, s, ns)
	if n := s.Result().ByType["insert"].Commits; n < rate*ns/1e9*9/10 || n > rate*ns/1e9 {
		t.Errorf("%d inserts in %d ns at %d/s", n, ns, rate)
	}
	if _, err := s.Set(experiment.Knobs{"workload.insert_rate": 1_000_000_000}, "test"); err != nil {
		t.Fatal(err)
	}
	s.Mark()
	advance(t, s, ns)
	// 9 of its requests are under way at a time, and of the other machine 9 GETs, which take a third of the time longer.
	if r := s.Result(); r.ByType["insert"].Commits < r.ByType["get"].Commits/3 || r.ByType["insert"].Commits > 3*r.ByType["get"].Commits {
		t.Errorf("%d inserts and %d GETs where one of two machines inserts as fast as it can", r.ByType["insert"].Commits, r.ByType["get"].Commits)
	}
	if _, err := s.Set(experiment.Knobs{"workload.insert_rate": 0, "workload.mix.insert": 1, "workload.mix.get": 99}, "test"); err != nil {
		t.Fatal(err)
	}
	s.Mark()
	advance(t, s, ns)
	if r := s.Result(); 30*r.ByType["insert"].Commits > r.ByType["get"].Commits {
		t.Errorf("%d inserts and %d GETs with weights of 1 and 99", r.ByType["insert"].Commits, r.ByType["get"].Commits)
	}
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	if r := s.Result(); !r.Checks.Passed() {
		t.Error(r.ChecksText())
	}
}

// A result has its windows from time 0 to the end of the measured interval where it was asked for them, and only then.
func TestTimeline(t *testing.T) {
	k := experiment.Knobs{"workload": "ycsb-d", "warmup_ns": 100_000, "duration_ns": 250_000, "window_ns": 50_000}
	if r := mustRun(t, asymmetric(k)); r.Timeline != nil {
		t.Errorf("%d windows that nobody asked for", len(r.Timeline))
	}
	plain := mustRun(t, asymmetric(k)).Digest
	k["timeline"] = true
	r := mustRun(t, asymmetric(k))
	if r.Digest != plain {
		t.Error("a timeline changes the run")
	}
	commits := 0.0
	for i, m := range r.Timeline {
		if m.T0NS != int64(50_000*i) || m.T1NS != m.T0NS+50_000 {
			t.Errorf("window %d is from %d to %d", i, m.T0NS, m.T1NS)
		}
		if _, ok := m.Gauges["xstore.fallbacks"]; !ok {
			t.Errorf("window %d has no gauges: %v", i, m.Gauges)
		}
		if m.T0NS >= r.FromNS {
			commits += m.Throughput * 50_000 / 1e9
		}
	}
	if len(r.Timeline) != 7 || math.Abs(commits-float64(r.Commits)) > 0.5 {
		t.Errorf("%d windows with %g commits, %d in the interval", len(r.Timeline), commits, r.Commits)
	}
}

// A worker of which more of the log waits than fits into memory waits for the SSD.
func TestLogBehind(t *testing.T) {
	k := experiment.Knobs{"workload": "ycsb-a", "xstore.log": true, "warmup_ns": 2_000_000, "duration_ns": 2_000_000, "xstore.log_behind": 4096}
	// Three workers write 4 KB in each millisecond, a log has 32 bytes for an update, and half of the requests are one.
	const most = 3 * 1.5 * 4096 / 32 * 2 * 1000
	slow := mustRun(t, asymmetric(k))
	delete(k, "xstore.log_behind")
	if fast := mustRun(t, asymmetric(k)); slow.Throughput > most || fast.Throughput < 2*slow.Throughput || !slow.Checks.Passed() {
		t.Errorf("%g requests a second with 4 KB of log in memory, %g with 4 MB; %s", slow.Throughput, fast.Throughput, slow.ChecksText())
	}
}

// Where servers answer most lookups, a result says why: the top model crowds most keys into few sub-models, or no thread trains.
func TestKeyValueFallbacksAreExplained(t *testing.T) {
	r := mustRun(t, asymmetric(experiment.Knobs{"workload": "ycsb-c", "workload.dataset": "lognormal", "workload.sigma": 2.5, "workload.keys": 200_000, "xstore.submodels": 50}))
	if r.Sections["xstore"].Number("fallback_rate") < 0.5 || !strings.Contains(r.Sections["xstore"].Text("fallbacks_because"), "the top model LR sends") || !strings.Contains(r.Sections["xstore"].Text("fallbacks_because"), "outliers") || !strings.Contains(r.String(), r.Sections["xstore"].Text("fallbacks_because")) {
		t.Errorf("%+v in %s", r.Sections, r)
	}
	if r := mustRun(t, asymmetric(experiment.Knobs{"workload": "ycsb-c"})); r.Sections["xstore"].Text("fallbacks_because") != "" {
		t.Errorf("without fallbacks: %s", r.Sections["xstore"].Text("fallbacks_because"))
	}
}

// Whatever is wrong with a file of keys, the spec is bad: the error has the field, what it names, the rule and a next step.
func TestBadFilesOfKeys(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, words ...uint64) string {
		var b []byte
		for _, w := range words {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, path := range map[string]string{
		"empty": file("empty"), "short": file("short", 9, 1, 2, 3, 4, 5, 6, 7, 8), "unsorted": file("unsorted", 9, 1, 2, 3, 4, 5, 6, 8, 7, 9), "few": file("few", 2, 1, 2), "missing": filepath.Join(dir, "missing"), "folder": dir,
	} {
		_, err := Open(asymmetric(experiment.Knobs{"workload": "ycsb-c", "workload.dataset": "sosd:" + path, "workload.keys": 8}))
		var bad *knob.Error
		if !experiment.IsSpecError(err) || !errors.As(err, &bad) || bad.Field != "workload.dataset" || !strings.Contains(bad.Value, path[:10]) || bad.Rule == "" || bad.Next == "" {
			t.Errorf("%s: %#v", name, err)
		}
	}
}
