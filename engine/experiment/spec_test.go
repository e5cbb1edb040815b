package experiment

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"drtmx/engine/knob"
)

func TestShippedSpecsResolve(t *testing.T) {
	for _, name := range SpecNames() {
		s, err := LoadSpec(name)
		if err != nil {
			t.Fatal(err)
		}
		if s.Name != name {
			t.Errorf("spec %s calls itself %s", name, s.Name)
		}
		list, err := s.Each()
		if err != nil {
			t.Error(err)
		}
		for _, x := range list {
			if _, err := Resolve(x); err != nil {
				t.Error(err)
			}
		}
	}
}

// The name of a workload or a preset is a spec, and one that is nearly such a name is told which.
func TestLoadSpecOfOtherNames(t *testing.T) {
	for _, name := range slices.Concat(knob.Find("workload").Choices, PresetNames()) {
		spec, err := LoadSpec(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		v, err := Resolve(spec)
		if err != nil || v["workload"] != name && v["preset"] != name {
			t.Errorf("%s is workload %v with preset %v: %v", name, v["workload"], v["preset"], err)
		}
	}
	for name, want := range map[string]string{"phase": "did you mean phases?", "tpc": "did you mean tpcc?", "fram": "did you mean farm?"} { // order-free: cases of their own
		if _, err := LoadSpec(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// Limits on names count characters, as their errors say, not bytes.
func TestNamesCountCharacters(t *testing.T) {
	if _, err := (Spec{Name: strings.Repeat("µ", MaxName)}).With(nil); err != nil {
		t.Error(err)
	}
	if _, err := (Spec{Name: strings.Repeat("µ", MaxName+1)}).With(nil); err == nil || !strings.Contains(err.Error(), "longer than 80 characters") {
		t.Error(err)
	}
}

func TestSpecRoundTrip(t *testing.T) {
	s := Spec{Name: "x", Preset: "farm", Workload: "smallbank", Set: Knobs{
		"nodes": 6, "cache.bytes": "300MB", "window_ns": "5us", "fault.drop": "1%", "clients.arrival": "open:2M",
		"opt.or": false, "opt.lock.or": "on", "warm": "off", "duration_ns": 1_500_001,
	}}
	n, err := s.normalize()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseSpec([]byte(n.YAML()))
	if err != nil {
		t.Fatalf("%v in\n%s", err, n.YAML())
	}
	if !reflect.DeepEqual(n, back) {
		t.Errorf("%v\nbecame\n%v", n, back)
	}
	v, err := Resolve(n)
	if err != nil {
		t.Fatal(err)
	}
	short, err := SpecOf("x", v)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Resolve(short)
	if err != nil || !reflect.DeepEqual(v, again) {
		t.Errorf("SpecOf lost something (%v):\n%s", err, short)
	}
	full, err := Resolve(Spec{Set: v})
	if err != nil || !reflect.DeepEqual(v, full) {
		t.Errorf("resolved values do not resolve to themselves (%v)", err)
	}
}

func TestBadSpecs(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown key", "prest: farm", "prest: unknown key, did you mean preset?"},
		{"knob outside set", "nodes: 4", "nodes: is a knob and belongs under set"},
		{"unknown knob", "set: {phase.comit: two-sided}", "phase.comit: unknown knob, did you mean phase.commit?"},
		{"first part alone", "set: {cache: 10}", "cache: unknown knob, there is cache.enabled, cache.bytes;"},
		{"remote", "workload: tpcc\nset: {workload.remote: 1001}", "workload.remote = 1001: must be from -1 to 1000"},
		{"too many districts", "workload: tpcc\nset: {workload.districts: 101}", "workload.districts = 101: must be from 1 to 100"},
		{"no districts", "workload: tpcc\nset: {workload.districts: 0}", "workload.districts = 0: must be from 1 to 100"},
		{"no other warehouse", "workload: tpcc-no\nset: {servers: 1, clients: 1, replicas: 1, workload.warehouses: 1}", "workload.warehouses = 1: tpcc-no takes every order line from another warehouse"},
		{"no other thread", "workload: tpcc-no\nset: {servers: 1, clients: 1, replicas: 1, server.threads: 1}", "workload.warehouses = 0: tpcc-no takes every order line from another warehouse"},
		{"trades", "workload: tpce\nset: {workload.customers: 100000, workload.trades: 51}", "workload.trades = 51: with 100000 customers"},
		{"first part of many", "set: {phase: two-sided}", "phase: unknown knob, there are phase.execution, phase.lock, "},
		{"last part unknown", "set: {fault.partition: 1}", "fault.partition: unknown knob, there are fault.clock_skew, fault.clock_skew_node, fault.drop and others;"},
		{"all parts unknown", "set: {dst.staleness: 1}", "dst.staleness: unknown knob, did you mean ts.staleness_ns? "},
		{"a word of its label", "set: {machines: 8}", "machines: unknown knob, did you mean nodes?"},
		{"last part alone", "set: {validation: two-sided}", "did you mean phase.validation?"},
		{"wrong type", "set: {nodes: many}", "nodes = many: must be a whole number"},
		{"fraction", "set: {nodes: 2.5}", "nodes = 2.5: must be a whole number"},
		{"out of range", "set: {nodes: 1000}", "nodes = 1000: must be from 2 to 64"},
		{"out of range, in bytes", "set: {cache.bytes: 64KB}", "cache.bytes = 64KB: must be from 64KiB to 64GiB"},
		{"bad choice", "set: {phase.lock: onesided}", "must be one of one-sided, two-sided, auto, did you mean one-sided?"},
		{"bad preset", "preset: drtmh", "preset = drtmh: must be one of farm, drtm+r, fasst, drtm+h, did you mean drtm+h?"},
		{"of another knob", "set: {ts.scheme: rc}", "must be one of none, dst, gts, vts, truetime; cc takes rc; see"},
		{"bad unit", "set: {window_ns: 5 parsecs}", "window_ns = 5 parsecs: must be a duration"},
		{"bad bool", "set: {warm: maybe}", "warm = maybe: must be true or false"},
		{"bad arrival", "set: {clients.arrival: 'open:fast'}", "clients.arrival = open:fast: must be closed, or open:RATE"},
		{"nested", "set: {phase: {commit: auto}}", "must be a single value"},
		{"null", "set: {nodes: }", "must be a single value"},
		{"twice", "set: {nodes: 4, nodes: 5}", "comes twice"},
		{"two documents", "name: a\n---\nname: b", "more than one YAML document"},
		{"alias", "name: &a x\npreset: *a", "must be a single value"},
		{"not yaml", "set: {", "is not YAML"},
		{"a list", "- nodes", "must be a mapping"},
		{"huge", "# " + strings.Repeat("x", maxSpec), "longer than 64 KiB"},
		{"conflict", "preset: farm\nset: {preset: fasst}", "already given as farm"},
		{"atomics", "set: {phase.lock: one-sided, phase.commit: two-sided}", "set phase.lock=two-sided or auto"},
		{"replicas", "set: {replicas: 5}", "more than the 4 machines that hold data"},
		{"clients without servers", "set: {clients: 2}", "clients = 2 need servers"},
		{"threads", "set: {threads: 48}", "has 24 cores"},
		{"emulated", "set: {emulated_nodes: 3}", "fewer than the 4 machines"},
		{"words", "workload: cycle\nset: {workload.value_bytes: 10}", "must be a multiple of 8; use 8 or 16"},
		{"table 4-1", "set: {opt.execution.pa: true}", "Table 4-1"},
		{"a script that inserts, in pieces", "workload: script\nset: {cc: rococo, workload.script: r0 i9}", "cc = rococo: transaction r0 i9 of workload.script inserts or deletes a record, and has records of several servers"},
		{"a script that follows, in pieces", "workload: script\nset: {cc: rococo, workload.script: r1; f0 w0}", "cc = rococo: step f0 of workload.script depends on what a read-write transaction finds"},
		{"a script of a record that another one deletes, in pieces", "workload: script\nset: {cc: rococo, workload.script: d0; d0; w0}", "cc = rococo: step w0 of workload.script is of a record that another transaction deletes"},
		{"a script of a missing record, in pieces", "workload: script\nset: {cc: rococo, workload.script: w0 r8}", "cc = rococo: step r8 of workload.script is of a record that is not there: they are numbered 0 to 7"},
		{"leaves beyond a WRITE", "workload: ycsb-a\nset: {store.ordered: rolex, workload.value_bytes: 1KiB}", "workload.value_bytes = 1024: a leaf of 16 slots takes 17078 bytes, and a WRITE 4096 at most; use smaller values"},
		{"leaves beyond a WRITE, with fewer slots within", "workload: ycsb-a\nset: {store.ordered: rolex, workload.value_bytes: 512}", "and a WRITE 4096 at most; set rolex.slots=7 and no larger rolex.fill, or"},
		{"scaled below what it takes", "workload: registers\nset: {workload.keys: 12, workload.scale: 0.7, workload.reads: 6, workload.writes: 6}", "there are 8; set workload.keys=17 or more, or a larger workload.scale"},
		{"fewer than it takes", "workload: registers\nset: {workload.keys: 8, workload.reads: 6, workload.writes: 6}", "there are 8; set workload.keys=12 or more"},
		{"a drain within a lock wait", "set: {cc: 2pl, drain_ns: 5ms}", "drain_ns = 5ms: under cc=2pl a transaction may wait for locks for 10ms; set it longer"},
		{"no mix", "set: {workload.mix.amalgamate: 0, workload.mix.balance: 0, workload.mix.deposit-checking: 0, workload.mix.send-payment: 0, workload.mix.transact-savings: 0, workload.mix.write-check: 0}", "all weights are 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := ParseSpec([]byte(tt.text))
			if err == nil {
				_, err = Resolve(s)
			}
			if err == nil {
				t.Fatal("accepted")
			}
			if !IsSpecError(err) || strings.ContainsAny(err.Error(), "\n\r") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
		})
	}
}

func FuzzParseSpec(f *testing.F) {
	f.Add("name: a\npreset: farm\nset: {nodes: 4, cache.bytes: 300MB}")
	f.Add("a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]")
	f.Add("set: {clients.arrival: open:1k}")
	f.Add("set: {seed: 2}\nsystems: [{name: a}, {name: b, preset: fasst, set: {nodes: 3}}]")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSpec([]byte(text))
		if err != nil {
			if !IsSpecError(err) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("not a one-line spec error: %q", err)
			}
			return
		}
		back, err := ParseSpec([]byte(s.YAML()))
		if err != nil || !reflect.DeepEqual(s.Set, back.Set) || s.Preset != back.Preset || s.Name != back.Name || !reflect.DeepEqual(s.Systems, back.Systems) {
			t.Fatalf("%q became %q: %v", s, back, err)
		}
		if v, err := Resolve(s); err == nil {
			if again, err := Resolve(Spec{Set: v}); err != nil || !reflect.DeepEqual(v, again) {
				t.Fatalf("resolved values do not resolve to themselves: %v", err)
			}
		}
	})
}

// Who names a span may ask for ten seconds; a window is a second at most.
func TestLongestSpans(t *testing.T) {
	for knob, longest := range map[string]int{"warmup_ns": 10_000_000_000, "duration_ns": 10_000_000_000, "drain_ns": 10_000_000_000, "window_ns": 1_000_000_000} { // order-free: each is tested alone
		if _, err := Resolve(Spec{Set: Knobs{knob: longest}}); err != nil {
			t.Error(err)
		}
		if _, err := Resolve(Spec{Set: Knobs{knob: longest + 1}}); !IsSpecError(err) || !strings.Contains(err.Error(), knob) {
			t.Errorf("%s longer than %d ns: %v", knob, longest, err)
		}
	}
}

// Values that were recorded before a knob came have no value of it: their spec is that of its default.
func TestSpecOfOlderValues(t *testing.T) {
	v, err := Resolve(Spec{Workload: "smallbank", Set: Knobs{"replicas": 2, "coroutines": 3}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := SpecOf("", v)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"log.scheme", "warm", "opt.lock.db"} {
		delete(v, name)
	}
	if got, err := SpecOf("", v); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: %+v, want %+v", err, got, want)
	}
}
