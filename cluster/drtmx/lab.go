package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"drtmx/cluster"
	"drtmx/cluster/lab"
	"drtmx/cluster/work"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures"
)

// labFlags are what every command takes that speaks to a NATS server.
type labFlags struct {
	server, creds, ca, cert, key string
}

func (f *labFlags) add(cmd *cobra.Command, what string) {
	fl := cmd.Flags()
	fl.StringVar(&f.server, "server", "", what+" at the NATS server `URL`, as nats://host:4222")
	fl.StringVar(&f.creds, "creds", "", "credentials `FILE` of the server")
	fl.StringVar(&f.ca, "tls-ca", "", "`FILE` with the certificate of who signed the server's")
	fl.StringVar(&f.cert, "tls-cert", "", "`FILE` with a certificate of one's own, if the server wants one")
	fl.StringVar(&f.key, "tls-key", "", "`FILE` with the key of that certificate")
}

func (f *labFlags) options(log func(string)) work.Options {
	return work.Options{URL: f.server, Creds: f.creds, CA: f.ca, Cert: f.cert, Key: f.key, Log: log}
}

// check refuses flags that say nothing without a server.
func (f *labFlags) check() error {
	if f.server == "" && f.creds+f.ca+f.cert+f.key != "" {
		return usage("--creds and --tls-* are about a server; name it: --server nats://host:4222")
	}
	return nil
}

// open joins the lab; nil where no server is named.
func (f *labFlags) open(cmd *cobra.Command) (*cluster.Lab, error) {
	if err := f.check(); err != nil || f.server == "" {
		return nil, err
	}
	return cluster.OpenLab(cmd.Context(), f.options(teller(cmd.ErrOrStderr())))
}

// teller writes lines.
func teller(w io.Writer) func(string) {
	return func(line string) { fmt.Fprintln(w, "drtmx: "+line) }
}

const labEvery = 3 * time.Second

// followLab keeps beside a bar what the workers do, and says in a line of its own when points have to wait for one. The function ends it.
func followLab(ctx context.Context, lab *cluster.Lab, b *bar) (end func()) {
	if lab == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		said := ""
		for first := true; ctx.Err() == nil; first = false {
			if ws, err := lab.Ask(ctx); err == nil {
				b.note(ws.Line())
				trouble := ws.Trouble()
				if trouble != said && trouble != "" {
					b.line(trouble)
				}
				if said = trouble; first && trouble == "" {
					b.line(ws.Line())
				}
			}
			select {
			case <-time.After(labEvery):
			case <-ctx.Done():
			}
		}
	}()
	return func() { cancel(); <-over }
}

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
