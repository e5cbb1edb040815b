package thesis

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"drtmx/cluster/lab"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures"
)

// estimates writes what figures are going to take, and all together.
func estimates(w io.Writer, scale string, list []figures.Needs, workers *lab.Workers) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "figure\truns\tkept\tCPU hours\tlongest run\tmemory\n")
	var all figures.Needs
	for _, n := range list {
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\n", n.ID, n.Runs, n.Kept, hours(n.CPUMS), span(n.LongestMS), experiment.BytesText(n.MemoryBytes))
		all.Runs, all.Kept, all.CPUMS = all.Runs+n.Runs, all.Kept+n.Kept, all.CPUMS+n.CPUMS
		all.LongestMS, all.MemoryBytes = max(all.LongestMS, n.LongestMS), max(all.MemoryBytes, n.MemoryBytes)
	}
	fmt.Fprintf(t, "all\t%d\t%d\t%s\t%s\t%s\n", all.Runs, all.Kept, hours(all.CPUMS), span(all.LongestMS), experiment.BytesText(all.MemoryBytes))
	if err := t.Flush(); err != nil {
		return err
	}
	atOnce, who := 1, "one core"
	if workers != nil {
		atOnce, who = cmp.Or(workers.AtOnce(), 1), fmt.Sprintf("%d workers (%d points at once)", len(workers.Same), workers.AtOnce())
	}
	_, err := fmt.Fprintf(w, "%s scale: about %s on %s, within a factor of two or so\n", scale, span(max(all.CPUMS/int64(atOnce), all.LongestMS)), who)
	return err
}

func hours(ms int64) string {
	return fmt.Sprintf("%.2f", time.Duration(ms*int64(time.Millisecond)).Hours())
}

func span(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d > time.Minute {
		return d.Round(time.Minute).String()
	}
	return d.Round(time.Second).String()
}
