package cluster

import (
	"strings"
	"testing"
	"time"

	"drtmx/engine/result"
	"drtmx/engine/txn"
)

// causesSpec is so small that its causes take a second.
var causesSpec = Spec{Workload: "smallbank", Set: Knobs{"nodes": 3, "threads": 1, "coroutines": 2, "workload.accounts": 500, "warmup_ns": "20us", "duration_ns": "60us"}}

func TestCausesOfAResult(t *testing.T) {
	c := Up(causesSpec)
	defer c.Close()
	r := c.Run(100 * time.Microsecond)
	x := r.Causes()
	if x.Raw.Throughput <= 0 || x.Raw.Everything == nil || len(x.Raw.Causes) < 6 || x.Raw.Spec["coroutines"] != 2 {
		t.Errorf("%+v", x.Raw)
	}
	for _, want := range []string{"<svg", "CPU: transaction code", "verything at once"} {
		if !strings.Contains(x.HTML(), want) {
			t.Errorf("HTML lacks %q", want)
		}
	}
	if !strings.Contains(x.String(), "everything at once") {
		t.Error(x)
	}
	fails(t, "group", func() { r.Causes("nik") })
}

// A new system could not repeat these, so their causes would be another's.
func TestCausesRefused(t *testing.T) {
	c := Up(causesSpec)
	defer c.Close()
	changed := c.Run(50 * time.Microsecond)
	changed.Raw.Changes = []result.Change{{VirtualNS: changed.Raw.FromNS + 10_000, Set: Knobs{"coroutines": 4}}}
	fails(t, "changed within the result", func() { changed.Causes() })

	c.Set("coroutines", 1)
	c.Run(50 * time.Microsecond)
	if r := c.Run(50 * time.Microsecond); r.Causes().Raw.Spec["coroutines"] != 1 {
		t.Error("a change before the result is in its spec")
	}
	c.AddTransaction("nothing", 1, func(*txn.Tx) error { return nil })
	own := c.Run(50 * time.Microsecond)
	fails(t, "transactions of your own", func() { own.Causes() })
}
