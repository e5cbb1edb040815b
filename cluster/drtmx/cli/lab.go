package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"drtmx/cluster"
	"drtmx/cluster/drtmx/progress"
	"drtmx/cluster/work"
)

// LabFlags are what every command takes that speaks to a NATS server.
type LabFlags struct {
	Server, creds, ca, cert, key string
}

func (f *LabFlags) Add(cmd *cobra.Command, what string) {
	fl := cmd.Flags()
	fl.StringVar(&f.Server, "server", "", what+" at the NATS server `URL`, as nats://host:4222")
	fl.StringVar(&f.creds, "creds", "", "credentials `FILE` of the server")
	fl.StringVar(&f.ca, "tls-ca", "", "`FILE` with the certificate of the CA that signed the server's")
	fl.StringVar(&f.cert, "tls-cert", "", "`FILE` with a certificate of one's own, if the server wants one")
	fl.StringVar(&f.key, "tls-key", "", "`FILE` with the key of that certificate")
}

func (f *LabFlags) Options(log func(string)) work.Options {
	return work.Options{URL: f.Server, Creds: f.creds, CA: f.ca, Cert: f.cert, Key: f.key, Log: log}
}

// check refuses flags that say nothing without a server.
func (f *LabFlags) check() error {
	if f.Server == "" && f.creds+f.ca+f.cert+f.key != "" {
		return Usage("--creds and --tls-* are about a server; name it: --server nats://host:4222")
	}
	return nil
}

// Open joins the lab; nil where no server is named.
func (f *LabFlags) Open(cmd *cobra.Command) (*cluster.Lab, error) {
	if err := f.check(); err != nil || f.Server == "" {
		return nil, err
	}
	return cluster.OpenLab(cmd.Context(), f.Options(LineWriter(cmd.ErrOrStderr())))
}

// LineWriter gives a function that writes lines to w, each under the name of the program.
func LineWriter(w io.Writer) func(string) {
	return func(line string) { fmt.Fprintln(w, "drtmx: "+line) }
}

const labEvery = 3 * time.Second

// FollowLab keeps beside a bar what the workers do, and says in a line of its own when points have to wait for one. The function ends it.
func FollowLab(ctx context.Context, lab *cluster.Lab, b *progress.Bar) (end func()) {
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
				b.Note(ws.Line())
				trouble := ws.Trouble()
				if trouble != said && trouble != "" {
					b.Line(trouble)
				}
				if said = trouble; first && trouble == "" {
					b.Line(ws.Line())
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
