package smallbank

import (
	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/testbed"
	"drtmx/engine/workload"
)

// Kinds is the workload in the list of parts.
var Kinds = []workload.Kind{{
	Load: testbed.Load{Name: "smallbank", Transactions: true, ReadOnly: true, LocalLocks: workload.Anywhere},
	Doc:  "SmallBank, six short transactions (section 4.3)",
	Rows: []knob.Row{
		{Knob: knob.Knob{Name: "workload.accounts", Kind: knob.Int, Default: 100_000, Min: 100, Max: 10_000_000, Label: "Accounts per thread", Section: "4.3", Group: knob.Workload,
			Doc: "Accounts per worker thread of the data-holding machines; 4 % of them get 90 % of the accesses."}},
		{Knob: knob.Knob{Name: "workload.hot", Kind: knob.Int, Default: 90, Min: 0, Max: 100, Unit: "%", Label: "Hot transactions", Section: "4.3", Group: knob.Workload, Live: true,
			Doc: "Share of the transactions that go to the hot 4 % of the accounts. Without effect while workload.theta is set."}, Inactive: func(v knob.Values) string {
			if v.Float("workload.theta") > 0 {
				return "workload.theta takes the place of the hot set"
			}
			return ""
		}},
	},
	Knobs: []string{"workload.accounts", "workload.hot", "workload.theta", "workload.scale"},
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
			Accounts: workload.Scaled(v, "workload.accounts"), HotPercent: v.Int("workload.hot"), Theta: v.Float("workload.theta"), Seed: testbed.Seed(v),
		})
	},
}}
