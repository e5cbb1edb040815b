package engine

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drtmx/engine/code"
	"drtmx/engine/experiment"
	"drtmx/engine/replication"
	"drtmx/engine/result"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
)

// golden are the systems of the golden digests that were chosen. They change when the model changes, and then the file is
// made anew with UPDATE=1; they must not change with machine, Go version or time. A part of the lists that runs in none of them
// nor in a preset has one that follows from the lists, see ofPart: a new part needs no line here.
var golden = map[string]experiment.Knobs{
	"churn":       {"workload": "churn", "workload.keys": 400, "fault.drop": 0.01},
	"cycle":       {"workload": "cycle", "fault.drop": 0.01, "preset": "fasst"},
	"micro-read":  {"workload": "micro-read"},
	"micro-write": {"workload": "micro-write", "profile": "r74v", "ddio": false},
	"nowait":      {"cc": "nowait", "fault.drop": 0.01},
	"nowait-2":    {"cc": "nowait", "nowait.mode": "E/S", "preset": "fasst", "workload": "registers"},
	"open":        {"clients.arrival": "open:200k"},
	"rolex-d":     {"workload": "ycsb-d", "store.ordered": "rolex", "servers": 1, "clients": 2, "threads": 3, "workload.keys": 300, "workload.scale": 1, "workload.mix.insert": 60, "fault.drop": 0.01},
	"registers":   {"workload": "registers", "fault.drop": 0.01},
	"rococo":      {"cc": "rococo", "workload": "registers", "workload.keys": 60, "fault.drop": 0.01},
	"rococo-tpcc": {"cc": "rococo", "workload": "tpcc", "workload.scale": 0.01},
	"tpcc":        {"workload": "tpcc", "workload.scale": 0.01},
	"tpcc-xstore": {"workload": "tpcc", "workload.scale": 0.01, "store.ordered": "xstore", "cc": "nowait"},
	"tpce":        {"workload": "tpce", "workload.scale": 0.01},
	"tpce-xstore": {"workload": "tpce", "workload.scale": 0.01, "store.ordered": "xstore", "servers": 3, "clients": 1},
	"xstore-d":    {"workload": "ycsb-d", "servers": 1, "clients": 2, "threads": 3, "workload.keys": 300, "workload.scale": 1, "workload.mix.insert": 60, "fault.drop": 0.01},
	"xstore-e":    {"workload": "ycsb-e", "workload.keys": 2000, "workload.dataset": "osm", "xstore.cache": "model", "xstore.top": "nn"},
	"ycsb":        {"workload": "ycsb", "workload.keys": 1000, "workload.nodes_per_txn": 2, "fault.drop": 0.01},
}

func goldenSystems() map[string]experiment.Knobs {
	systems := maps.Clone(golden)
	for _, p := range experiment.PresetNames() {
		systems[p] = experiment.Knobs{"preset": p}
	}
	runs := map[string]bool{}
	for _, set := range systems { // order-free: fills a set
		if v, ok := goldenKnobs(set); ok {
			for _, p := range parts() {
				runs[p.String()] = runs[p.String()] || p.in(v)
			}
		}
	}
	for _, p := range parts() {
		if runs[p.String()] {
			continue
		}
		if set := ofPart(p); set != nil {
			systems[p.String()] = set
		}
	}
	return systems
}

// part is one of a list of parts, by the knob that names one of it.
type part struct {
	knob, name string
	in         func(v experiment.Knobs) bool // a system runs it
}

func (p part) String() string { return p.knob + "=" + p.name }

// parts are those of all lists, without what tests plug in.
func parts() (list []part) {
	transactions := func(v experiment.Knobs) bool { return experiment.Workloads.Load(v).Transactions }
	add := func(knob, name string, used func(v experiment.Knobs) bool) {
		list = append(list, part{knob, name, func(v experiment.Knobs) bool { return v[knob] == any(name) && used(v) }})
	}
	for _, k := range experiment.Protocols {
		add("cc", k.Name, transactions)
	}
	for _, k := range experiment.Stores {
		add(store.UnorderedKnob, k.Name(), transactions)
	}
	for _, k := range experiment.Ordered {
		add(store.OrderedKnob, k.Name, func(v experiment.Knobs) bool { l := experiment.Workloads.Load(v); return l.Ordered || l.Indexes })
	}
	for _, k := range experiment.Schemes {
		add(timestamp.Knob, k.Name, func(v experiment.Knobs) bool { return experiment.Workloads.Load(v).ReadOnly && transactions(v) })
	}
	for _, k := range experiment.Workloads {
		add("workload", k.Name, func(experiment.Knobs) bool { return true })
	}
	for _, k := range experiment.Logs {
		list = append(list, part{replication.Knob, k.Name, func(v experiment.Knobs) bool {
			return transactions(v) && len(experiment.Protocols.Of(v).Logs) > 0 && experiment.LogOf(v).Name == k.Name
		}})
	}
	return slices.DeleteFunc(list, func(p part) bool {
		_, edition := experiment.PluggedAt(experiment.Knobs{p.knob: p.name})
		return edition > 0
	})
}

// beds are what some parts need beside: one copy of each record, the machine of an oracle, clients apart from servers.
var beds = []experiment.Knobs{{}, {"replicas": 1}, {"oracle": true}, {"servers": 1, "clients": 2, "threads": 3}}

// ofPart is the first small system that runs a part, under the workloads and protocols of the lists, in their order. nil: none does.
func ofPart(p part) experiment.Knobs {
	for _, w := range experiment.Workloads {
		if p.knob == "workload" && p.name != w.Name {
			continue
		}
		for _, cc := range experiment.Protocols {
			if p.knob == replication.Knob && !experiment.Logs.Allows(cc.Logs, p.name) {
				continue
			}
			for _, bed := range beds {
				set := experiment.Knobs{"workload": w.Name, "workload.scale": 0.01, "fault.drop": 0.01}
				if w.Transactions {
					set["cc"] = cc.Name
				}
				maps.Copy(set, bed)
				set[p.knob] = p.name
				if v, ok := goldenKnobs(set); ok && p.in(v) {
					return set
				}
			}
		}
	}
	return nil
}

// goldenKnobs are the knobs of a golden system, if it can be.
func goldenKnobs(set experiment.Knobs) (experiment.Knobs, bool) {
	spec, err := small(nil).With(set)
	if err != nil {
		return nil, false
	}
	v, err := experiment.Resolve(spec)
	return v, err == nil
}

// Each part of the lists runs in a golden system, but for logs that no protocol of the lists writes.
func TestGoldenSystemsHaveAllParts(t *testing.T) {
	var systems []experiment.Knobs
	for _, set := range goldenSystems() { // order-free: fills a set
		if v, ok := goldenKnobs(set); ok {
			systems = append(systems, v)
		}
	}
	for _, p := range parts() {
		runs := slices.ContainsFunc(systems, p.in)
		written := p.knob != replication.Knob
		for _, k := range experiment.Protocols {
			written = written || experiment.Logs.Allows(k.Logs, p.name)
		}
		if runs != written {
			t.Errorf("%s runs in a golden system: %v; some protocol of the lists could have it: %v", p, runs, written)
		}
	}
}

// What the Makefile computes again elsewhere are golden systems: go test is silent about a name that no test has.
func TestDigestsOfTheMakefile(t *testing.T) {
	text, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	lists := regexp.MustCompile(`(?m)^([A-Z0-9]+_DIGESTS) := (.+)$`).FindAllStringSubmatch(string(text), -1)
	if len(lists) != 3 {
		t.Errorf("%d lists, want those of the race detector, arm64 and invariants", len(lists))
	}
	systems := goldenSystems()
	for _, list := range lists {
		for _, name := range strings.Fields(list[2]) {
			if _, ok := systems[name]; !ok {
				t.Errorf("%s: %s is no golden system", list[1], name)
			}
		}
	}
}

// Each is a test of its own, for under emulation each wants a process of its own: what a system has
// reserved and given back goes on to take the emulator's memory.
func TestGoldenDigests(t *testing.T) {
	const file = "testdata/digests.json"
	systems := goldenSystems()
	want := map[string]result.Digests{}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	got, update := map[string]result.Digests{}, os.Getenv("UPDATE") != ""
	for _, name := range slices.Sorted(maps.Keys(systems)) {
		t.Run(name, func(t *testing.T) {
			r := mustRun(t, small(systems[name]))
			if r.Checks.Failed() {
				t.Errorf("checks: %s", r.ChecksText())
			}
			if got[name] = r.Digests; got[name] != want[name] && !update {
				t.Errorf("digests %+v, golden %+v; if the model was changed on purpose: UPDATE=1 go test ./engine -run Golden", got[name], want[name])
			}
		})
	}
	if !update {
		if len(systems) != len(want) {
			t.Errorf("%d systems, %d golden digests", len(systems), len(want))
		}
		prove(t, want, len(got) == len(want))
		return
	}
	if text, err = json.MarshalIndent(got, "", "  "); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// prove holds what proven.json says of this code, and writes it for `make proven` where all golden systems have run.
func prove(t *testing.T, golden map[string]result.Digests, all bool) {
	behaviour := map[string]string{}
	for name, d := range golden { // order-free: a copy
		behaviour[name] = d.Behaviour
	}
	if os.Getenv("PROVE") == "" {
		if err := code.Check(behaviour); err != nil {
			t.Error(err)
		}
		return
	}
	if t.Failed() || !all {
		t.Fatal("nothing is proven: not all golden digests are equal")
	}
	text, err := code.Prove(behaviour)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("code/proven.json", append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
