package points

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/work"
	"drtmx/cluster/work/server"
	"drtmx/engine/experiment"
)

func ServeWorkCommand() *cobra.Command {
	var o server.Options
	var most string
	var untilEOF bool
	cmd := &cobra.Command{
		Use:   "serve-work",
		Short: "The server between clients that send points and workers",
		Long: "Runs a NATS server with JetStream, for labs that have none, until Ctrl-C. Points and results are kept in a folder, so a restart loses none. " +
			"On an address that others can reach it wants --creds: the file is made when it is not there, and workers and senders take a copy.",
		Args: cli.Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var ok bool
			if o.Bytes, ok = parseBytes(most); !ok || o.Bytes < 64<<20 {
				return &experiment.SpecError{Field: "max-store", Value: most, Rule: "must be an amount of at least 64MB", Next: "such as --max-store 20GB"}
			}
			if o.Age < time.Minute {
				return &experiment.SpecError{Field: "max-age", Value: o.Age.String(), Rule: "must be at least a minute", Next: "such as --max-age 168h"}
			}
			if (o.Cert == "") != (o.Key == "") {
				return cli.Usage("--tls-cert and --tls-key go together")
			}
			if o.Dir == "" {
				base, err := os.UserCacheDir()
				if err != nil {
					return fmt.Errorf("store: %w; name a folder with --store", err)
				}
				o.Dir = filepath.Join(base, "drtmx", "work")
			}
			ctx, stop := withStdinEOF(cmd.Context(), untilEOF)
			defer stop()
			return serveWork(ctx, cmd, o)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&o.Listen, "listen", "127.0.0.1:4222", "`ADDR` to listen on, host:port")
	fl.StringVar(&o.Dir, "store", "", "`DIR` for points and results; default: drtmx/work in the user's cache folder")
	fl.StringVar(&o.Creds, "creds", "", "credentials `FILE` that clients need, made if it is not there")
	fl.StringVar(&o.Cert, "tls-cert", "", "`FILE` with the server's certificate")
	fl.StringVar(&o.Key, "tls-key", "", "`FILE` with the key of the certificate")
	fl.StringVar(&o.ClientCA, "tls-ca", "", "`FILE` with the certificate of the CA that signed those of clients, which then need one")
	fl.StringVar(&most, "max-store", "8GB", "most `BYTES` to keep; the oldest results go first. Counts when the store is new")
	fl.DurationVar(&o.Age, "max-age", 7*24*time.Hour, "how long points and results are kept. Counts when the store is new")
	fl.BoolVar(&untilEOF, "until-eof", false, "end when standard input ends, as with the program that started it")
	cmd.AddCommand(workGCCommand())
	return cmd
}

// serveWork runs a server until ctx ends. The first line of its output is the URL.
func serveWork(ctx context.Context, cmd *cobra.Command, o server.Options) error {
	s, err := server.Start(o)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := fmt.Fprintln(cmd.OutOrStdout(), s.URL()); err != nil {
		return err
	}
	say := cli.LineWriter(cmd.ErrOrStderr())
	say("serving points and results in " + o.Dir)
	if o.Creds != "" && o.Cert == "" {
		say("connections are not encrypted: add --tls-cert and --tls-key where the network is not trusted")
	}
	for look := time.NewTicker(time.Second); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
			if err := s.Check(); err != nil {
				return err
			}
		}
	}
}

func workGCCommand() *cobra.Command {
	var f cli.LabFlags
	var age time.Duration
	cmd := &cobra.Command{
		Use:   "gc --server URL",
		Short: "Removes what a server of points keeps",
		Long:  "Removes outcomes and results that are older than --older, and points that wait for longer, then says what is left. Senders ask again for what they still wait for.",
		Args:  cli.Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Server == "" {
				f.Server = defaultServer
			}
			if age < 0 {
				return &experiment.SpecError{Field: "older", Value: age.String(), Rule: "must not be negative", Next: "such as --older 24h; 0 removes all"}
			}
			q, err := work.Dial(cmd.Context(), f.Options(cli.LineWriter(cmd.ErrOrStderr())))
			if err != nil {
				return err
			}
			defer q.Close()
			if err := q.GC(cmd.Context(), age); err != nil {
				return err
			}
			list, err := q.Kept(cmd.Context())
			if err != nil {
				return err
			}
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, k := range list {
				fmt.Fprintf(t, "%s\t%d messages\t%s\n", k.Name, k.Messages, experiment.BytesText(int64(k.Bytes)))
			}
			return t.Flush()
		},
	}
	f.Add(cmd, "clean up")
	cmd.Flags().DurationVar(&age, "older", 24*time.Hour, "remove what is older; 0 removes all")
	return cmd
}
