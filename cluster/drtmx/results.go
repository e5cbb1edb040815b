package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// resultFields are the fields of a result as JSON, in its order, and what each means.
var resultFields = []struct{ names, text string }{
	{"spec, preset_diff", "all knobs, and those that differ from the preset"},
	{"inputs", "content of the files that knobs name, where the run is a point of a sweep or figure"},
	{"name, code, profile, scope", "the system, the version of the code that ran, the hardware"},
	{"from_ns, virtual_ns", "the measured interval: its begin and its length"},
	{"wall_ms, events", "what the simulation took"},
	{"steady, unsteady_because", "whether the numbers are those of a system at rest with itself"},
	{"scale", "by how much populations were shrunk"},
	{"throughput, throughput_ci95", "commits per virtual second without those that are uncounted, and half of the 95 % interval as a share"},
	{"ci95, no_ci95", "such intervals of other numbers, and why one of them has none"},
	{"commits, aborts, abort_rate, rollbacks", "requests that committed, attempts that a conflict ended, requests that their own code gave up"},
	{"empty", "of the commits, those that found nothing to do: a key that is missing or taken, no result"},
	{"uncounted", "of those, the ones that the workload does not count: they are not in the throughput"},
	{"failed, lost", "requests that ended with an error since a machine had crashed; passive ones that were never confirmed"},
	{"by_type", "the same counts and the latency of each type of requests"},
	{"latency_us, latency_histogram", "from the begin of the first attempt to the commit decision"},
	{"staleness_ns", "how old what snapshots read was"},
	{"phases, milestones", "where the latency went"},
	{"verbs, round_trips_per_txn", "what was posted, and how often a commit waited"},
	{"utilization, nodes, bottleneck", "how busy each kind of resource was, each machine, and the busiest unit"},
	{"contention, limit", "conflicts and the hottest records; what limits the system"},
	{"little", "requests in flight, measured apart, against the rate at which they end times their latency"},
	{"nvm, parts, xstore", "what the parts of the system show of themselves"},
	{"drain, checks", "how the end went, and the verdict on the history, the replicas and the invariants"},
	{"changes, user_transactions, timeline, auto, auto_changes, history", "what was changed, added, recorded and chosen while it ran"},
	{"digest, digests", "of everything virtual: equal digests, equal runs"},
}

// resultsTopic is drtmx help results.
func resultsTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("A result has these fields, as run --json prints them. Tables (--csv, --parquet) name a number by its path, as by_type.insert.empty.\n\n")
	for _, f := range resultFields {
		fmt.Fprintf(&b, "  %s\n      %s\n", f.names, f.text)
	}
	return &cobra.Command{Use: "results", Short: "What the fields of a result mean", Long: strings.TrimRight(b.String(), "\n")}
}
