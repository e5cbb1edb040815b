package octopus

import (
	"strings"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/workload/workloadtest"
)

// What cannot be is refused, at the start and while the benchmark runs, where nothing changes then.
func TestOptions(t *testing.T) {
	for _, x := range []struct {
		o    Options
		want string // part of the error, "" for none
	}{
		{Options{}, ""}, {Options{Payload: MaxPayload, Files: 1, Align: maxAlign}, ""},
		{Options{Payload: -1}, "workload.payload -1"}, {Options{Payload: MaxPayload + 1}, "workload.payload"},
		{Options{Files: -1}, "workload.files -1"},
		{Options{Align: 4}, "workload.align 4"}, {Options{Align: 24}, "a power of 2"}, {Options{Align: 2 * maxAlign}, "workload.align 8192"},
	} {
		_, err := New(x.o)
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v, want %q", x.o, err, x.want)
		}
	}
	b, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name  string
		value any
		ok    bool
	}{{"payload", 512, true}, {"align", 64, true}, {"payload", 0, false}, {"align", 12, false}, {"files", 9, false}, {"payload", "512", false}} {
		if err := b.Set(x.name, x.value); (err == nil) != x.ok {
			t.Errorf("%s = %v: %v", x.name, x.value, err)
		}
	}
	if b.opt.Payload != 512 || b.opt.Align != 64 {
		t.Errorf("the options are %+v", b.opt)
	}
}

// Writes go to files of other servers, within them, and a byte that nobody has written there is found.
func TestWrites(t *testing.T) {
	b, err := New(Options{Payload: 200, Files: 2, Setup: Setup{DRAM: true}})
	if err != nil {
		t.Fatal(err)
	}
	cfg, _ := occ.Preset("drtm+h")
	bed := workloadtest.New(t, workloadtest.Setup{Machines: 4, Servers: 3, Threads: 1, Coroutines: 2, Seed: 1, Txn: cfg, Mode: history.Off, Requests: 20}, b)
	defer bed.Close()
	if err := bed.Run(10 * sim.Millisecond); err != nil {
		t.Fatal(err)
	}
	written := 0
	var at r2.Loc
	b.Each(func(loc r2.Loc, block []byte) {
		at = loc
		for _, x := range block {
			if x != 0 {
				written++
			}
		}
	})
	if v := b.Check()[0]; !v.OK || written < 20*200 {
		t.Fatalf("%d bytes are written, %v: %s", written, v.OK, v.Text)
	}
	found := 0
	for x := range 3 { // at most one of three bytes is what is written there, and 0 is not written yet
		bed.Cluster.Mem(at.Machine).Bytes(at.Addr, 1)[0] = byte(x)
		if !b.Check()[0].OK {
			found++
		}
	}
	if found == 0 {
		t.Error("a byte that nobody has written is not found")
	}
}
