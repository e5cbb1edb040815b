package example

import (
	"slices"
	"strings"
	"testing"

	"drtmx/engine"
	"drtmx/engine/example/serial"
	"drtmx/engine/experiment"
	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// mine is the serial protocol under another name, with one knob.
func mine(knobName string) txn.Kinds {
	k := txn.Kind{Name: "mine", Doc: "one at a time", Claim: history.StrictSerializable}
	k.Config = func(v knob.Values, _ *testbed.Load, _ txn.Seen) txn.Config {
		if !v.Bool(knobName) {
			return serial.Config{}
		}
		return serial.Config{PollNS: 50_000}
	}
	k.Rows = func(testbed.LoadOf) []knob.Row {
		return []knob.Row{{Knob: knob.Knob{Name: knobName, Kind: knob.Bool, Default: false, Label: "Slow", Group: knob.Phases, Live: true, Doc: "Whether it is slow."}}}
	}
	return txn.Kinds{k}
}

func plug(kinds txn.Kinds) (failure any) {
	defer func() { failure = recover() }()
	experiment.Plug(kinds, nil, nil, nil, nil, nil)
	return nil
}

// What cannot be plugged in says why, and leaves the lists as they are.
func TestPlugRefuses(t *testing.T) {
	kind := func(change func(*txn.Kind)) txn.Kinds {
		k := mine("mine.slow")
		change(&k[0])
		return k
	}
	names, protocols := knob.Names(), len(experiment.Protocols)
	for want, kinds := range map[string]txn.Kinds{
		"cc=occ is one of drtmx: give yours another name":                 kind(func(k *txn.Kind) { k.Name = "occ" }),
		"a protocol without a Name":                                       kind(func(k *txn.Kind) { k.Name = "" }),
		"protocol mine has no Config":                                     kind(func(k *txn.Kind) { k.Config = nil }),
		"protocol mine has no Claim, the isolation level that the checks": kind(func(k *txn.Kind) { k.Claim = "" }),
		"knob: nodes twice":                                               mine("nodes"),
	} {
		if err := plug(kinds); err == nil || !strings.Contains(errorText(err), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if len(experiment.Protocols) != protocols || !slices.Equal(knob.Names(), names) {
			t.Fatalf("%q: the lists have changed", want)
		}
	}
}

func errorText(x any) string {
	if err, ok := x.(error); ok {
		return err.Error()
	}
	return x.(string)
}

// A part that is plugged in again takes the place of the one before. Systems that have another part go on, with the knobs that there are now; one
// that has this part is to be reset.
func TestPlugAgain(t *testing.T) {
	open := func(cc string) *engine.System {
		t.Helper()
		s, err := engine.Open(experiment.Spec{Workload: "counters", Set: experiment.Knobs{"store.unordered": "array", "nodes": 2, "threads": 1, "coroutines": 2, "replicas": 1, "cc": cc}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	before := experiment.Protocols
	t.Cleanup(func() {
		experiment.Protocols = before
		experiment.Plug(nil, nil, nil, nil, nil, nil)
	})
	occ := open("occ")
	if err := plug(mine("mine.slow")); err != nil {
		t.Fatal(err)
	}
	own := open("mine")
	protocols := len(experiment.Protocols)
	for _, s := range []*engine.System{occ, own} {
		if err := s.Advance(50_000); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := own.Set(experiment.Knobs{"mine.slow": true}, ""); err != nil {
		t.Error(err)
	}
	if err := plug(mine("mine.lazy")); err != nil {
		t.Fatal(err)
	}
	if len(experiment.Protocols) != protocols || knob.Find("mine.slow") != nil || knob.Find("mine.lazy") == nil {
		t.Errorf("plugged in again: %d protocols, %d before", len(experiment.Protocols), protocols)
	}
	if _, err := occ.Set(experiment.Knobs{"coroutines": 1}, ""); err != nil {
		t.Errorf("a system of another protocol: %v", err)
	}
	if err := occ.Advance(50_000); err != nil || occ.Spec().Set["coroutines"] != 1 {
		t.Errorf("a system of another protocol: %v, %v", err, occ.Spec())
	}
	err := own.Advance(50_000)
	if err == nil || !experiment.NeedsReset(err) || err.Error() != "cc = mine: was plugged in anew since this system was opened; reset it" {
		t.Errorf("a system of the protocol: %v", err)
	}
	if _, err := own.Spec().With(experiment.Knobs{"mine.lazy": true}); err != nil {
		t.Errorf("reset: %v", err)
	}
}

// What a workload or a profile needs and the protocol lacks is refused before anything starts.
func TestProtocolsSayWhatTheyLack(t *testing.T) {
	for _, x := range []struct {
		set  experiment.Knobs
		want string
	}{
		{experiment.Knobs{"cc": "inplace", "workload": "churn"}, "workload = churn: its transactions insert or delete records, and those of cc=inplace cannot; use a workload whose records stay, as smallbank, or cc=occ or nowait or rc or 2pl or rococo"},
		{experiment.Knobs{"cc": "serial", "workload": "tpcc", "replicas": 1}, "workload = tpcc: "},
		{experiment.Knobs{"cc": "leased", "workload": "script", "workload.script": "r1; i9"}, "workload = script: "},
		{experiment.Knobs{"cc": "leased", "workload": "script", "workload.script": "r1; w9"}, ""},
		{experiment.Knobs{"cc": "prepared", "workload": "tpce"}, "workload = tpce: "},
		{experiment.Knobs{"cc": "prepared", "workload": "tpce-cp"}, ""},
		{experiment.Knobs{"cc": "occ", "workload": "churn"}, ""},
		{experiment.Knobs{"cc": "inplace", "profile": "aws"}, "profile = aws: the NICs of profile aws have no RDMA, and cc=inplace needs one-sided verbs; set profile=val, or cc=occ or nowait or rc or 2pl or rococo or prepared"},
		{experiment.Knobs{"cc": "serial", "profile": "vale"}, "profile = vale: "},
		{experiment.Knobs{"cc": "prepared", "profile": "aws"}, ""},
		{experiment.Knobs{"cc": "2pl", "profile": "vale"}, ""},
		{experiment.Knobs{"cc": "inplace", "workload": "micro-rpc", "profile": "aws"}, ""}, // no transactions
	} {
		spec, err := experiment.Spec{Workload: "smallbank"}.With(x.set)
		if err == nil {
			_, err = experiment.Resolve(spec)
		}
		if (err == nil) != (x.want == "") || err != nil && (!experiment.IsSpecError(err) || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%v: %v, want %q", x.set, err, x.want)
		}
	}
}
