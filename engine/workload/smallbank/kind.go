package smallbank

import (
	"math"

	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/testbed"
	"drtmx/engine/workload"
)

// skewed says why there is no hot set.
func skewed(v knob.Values) string {
	if v.Float("workload.theta") > 0 {
		return "workload.theta takes the place of the hot set"
	}
	return ""
}

// Kinds is the workload in the list of parts.
var Kinds = []workload.Kind{{
	Load: testbed.Load{Name: "smallbank", Transactions: true, ReadOnly: true, Declares: testbed.AllDeclared, LocalLocks: workload.Anywhere},
	Doc:  "SmallBank, six short transactions (section 4.3)",
	Rows: []knob.Row{
		{Knob: knob.Knob{Name: "workload.accounts", Kind: knob.Int, Default: 100_000, Min: 100, Max: 10_000_000, Label: "Accounts per thread", Section: "4.3", Group: knob.Workload,
			Doc: "Accounts per worker thread of the data-holding machines; those that are hot (workload.hot_accounts) get most of the accesses (workload.hot)."}},
		{Knob: knob.Knob{Name: "workload.hot", Kind: knob.Int, Default: 90, Min: 0, Max: 100, Unit: "%", Label: "Hot transactions", Section: "4.3", Group: knob.Workload, Live: true,
			Doc: "Share of the transactions that go to the hot accounts. Without effect while workload.theta is set."}, Inactive: skewed},
		{Knob: knob.Knob{Name: "workload.hot_accounts", Kind: knob.Float, Default: 4.0, Min: 0.1, Max: 100.0, Unit: "%", Label: "Hot accounts", Section: "4.3", Group: knob.Workload,
			Doc: "Share of the accounts that are hot, evenly over all machines, in steps of 0.1 %."}, Inactive: skewed},
	},
	Knobs: []string{"workload.accounts", "workload.hot", "workload.hot_accounts", "workload.theta", "workload.distributed", "workload.scale"},
	Mix: []workload.MixType{{Name: "amalgamate", Weight: 15}, {Name: "balance", Weight: 15}, {Name: "deposit-checking", Weight: 15},
		{Name: "send-payment", Weight: 25}, {Name: "transact-savings", Weight: 15}, {Name: "write-check", Weight: 15}},
	Population: "workload.accounts",
	Footprint: func(v knob.Values) workload.Footprint {
		_, _, threads := testbed.ThreadCounts(v)
		return workload.Records{
			Count: 2 * int64(workload.Scaled(v, "workload.accounts")) * int64(threads), Bytes: 8, Fixed: true,
			Accessed: 1.85, Updated: 1.4, Local: workload.Anywhere(v), // of the mix by default: from one of a deposit to three of an amalgamation
		}.Footprint(v)
	},
	Messages: func(c *r2.Config, v knob.Values) {
		// Its largest message, a log entry of three records, has 200 bytes. Large
		// RECVs are only paid for in the simulator's own memory.
		c.MaxMessage = 1024
	},
	Build: func(v knob.Values) (workload.Bench, error) {
		return New(Options{
			Accounts: workload.Scaled(v, "workload.accounts"), HotPercent: v.Int("workload.hot"), HotPermille: int(math.Round(10 * v.Float("workload.hot_accounts"))), Local: 1 - v.Float("workload.distributed"), Theta: v.Float("workload.theta"), Seed: testbed.Seed(v),
		})
	},
}}
