package cluster_test

import (
	"fmt"
	"time"

	"drtmx/cluster"
)

// tiny is a small cluster, so that the examples are quick.
var tiny = cluster.Spec{Preset: "drtm+h", Workload: "smallbank", Set: cluster.Knobs{
	"nodes": 3, "threads": 1, "coroutines": 2, "seed": 1, "workload.accounts": 500, "cache.bytes": "1MB", "window_ns": "20us"}}

// A notebook's first cells: start a cluster, measure, change a knob, compare.
func Example() {
	c := cluster.Up(tiny)
	defer c.Close()
	base := c.Run(200 * time.Microsecond)
	c.Set("phase.validation", "two-sided")
	after := c.Run(200 * time.Microsecond)
	d := cluster.Compare(base, after).Raw.Spec[0]
	fmt.Println(d.Knob, d.A, "->", d.B)
	fmt.Println(base.Checks().OK(), after.Checks().OK())
	// Output:
	// phase.validation one-sided -> two-sided
	// true true
}

// Virtual time moves only when asked for: the same program gives the same
// numbers.
func ExampleStart() {
	var digests [2]string
	for i := range digests {
		c, err := cluster.Start(tiny)
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := c.Run(200 * time.Microsecond)
		if err != nil {
			fmt.Println(err)
			return
		}
		digests[i] = r.Digest
		if err := c.Close(); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(digests[0] == digests[1])
	// Output: true
}
