package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"drtmx/cluster"
	"drtmx/dashboard"
	"drtmx/engine"
)

func replayCommand() *cobra.Command {
	var asJSON bool
	var html string
	cmd := &cobra.Command{
		Use:   "replay SESSION [--html F]",
		Short: "Run a recorded session again and compare digest and windows",
		Long: `Runs a recorded session again and compares digest and windows with what was recorded. With --html it also
writes what happened as one page that needs no network: lines, cards, knobs and the code version.`,
		Example: "  drtmx replay session.jsonl --html session.html",
		Args:    exactly(1, "one session file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := engine.OpenRegular(args[0])
			if err != nil {
				return &engine.SpecError{Field: "session", Value: args[0], Rule: err.Error(), Next: "give a file that drtmx up --session wrote"}
			}
			defer f.Close()
			if err := outputs(jsonOut(asJSON), output{"--html", html}); err != nil {
				return err
			}
			b := newBar(cmd.ErrOrStderr(), "replay")
			var raw bytes.Buffer
			var kept []cluster.Recording
			o := cluster.ReplayOptions{Progress: b.update}
			in := io.Reader(f)
			if html != "" {
				in = io.TeeReader(f, &raw)
				o.Keep = func(x cluster.Recording) { kept = append(kept, x) }
			}
			r, err := cluster.Replay(cmd.Context(), in, o)
			b.end()
			if err != nil {
				if cmd.Context().Err() != nil {
					return err
				}
				return &engine.SpecError{Field: "session", Value: args[0], Rule: strings.TrimPrefix(line(err), "session: ")}
			}
			if html != "" {
				page, err := dashboard.ReplayedPage(r, kept, raw.Bytes()).HTML()
				if err != nil {
					return err
				}
				if err := outFile(cmd.OutOrStdout(), html, page); err != nil {
					return err
				}
			}
			if html == "-" { // standard output is the page
				fmt.Fprintln(cmd.ErrOrStderr(), r)
			} else if err := show(cmd, r, asJSON); err != nil {
				return err
			}
			if !r.OK {
				return errors.New("the replay differs from the session: " + r.Why)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&html, "html", "", "write the session as a page that needs no network to `FILE`; - is standard output")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the outcome as JSON")
	return cmd
}
