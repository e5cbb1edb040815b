package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/drtmx/output"
	"drtmx/cluster/drtmx/progress"
	"drtmx/cluster/session"
	"drtmx/dashboard"
	"drtmx/engine/experiment"
	"drtmx/engine/knob"
)

func replayCommand() *cobra.Command {
	var asJSON bool
	var html, history string
	cmd := &cobra.Command{
		Use:   "replay SESSION [--html F] [--history F]",
		Short: "Run a recorded session again and compare digest and windows",
		Long: `Runs a recorded session again and compares digest and windows with what was recorded. With --html it also
writes what happened as one page that needs no network: lines, cards, knobs and the code version.`,
		Example: "  drtmx replay session.jsonl --html session.html",
		Args:    cli.Exactly(1, "one session file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := knob.OpenRegular(args[0])
			if err != nil {
				return &experiment.SpecError{Field: "session", Value: args[0], Rule: err.Error(), Next: "give a file that drtmx up --session wrote"}
			}
			defer f.Close()
			if err := output.Check(output.JSON(asJSON), output.To("--html", html)); err != nil {
				return err
			}
			o := session.ReplayOptions{}
			if history != "" {
				h, err := sessionHistory(f, history)
				if err != nil {
					return err
				}
				defer h.Close()
				o.History, o.HistoryName = h, history
			}
			b := progress.New(cmd.ErrOrStderr(), "replay")
			var raw bytes.Buffer
			var kept []session.Recording
			o.Progress = b.Update
			in := io.Reader(f)
			if html != "" {
				in = io.TeeReader(f, &raw)
				o.Keep = func(x session.Recording) { kept = append(kept, x) }
			}
			r, err := session.Replay(cmd.Context(), in, o)
			b.End()
			if err != nil {
				if cmd.Context().Err() != nil {
					return err
				}
				return &experiment.SpecError{Field: "session", Value: args[0], Rule: strings.TrimPrefix(cli.Line(err), "session: ")}
			}
			if html != "" {
				page, err := dashboard.ReplayedPage(r, kept, raw.Bytes()).HTML()
				if err != nil {
					return err
				}
				if err := output.Write(cmd.OutOrStdout(), html, page); err != nil {
					return err
				}
			}
			if html == "-" { // standard output is the page
				fmt.Fprintln(cmd.ErrOrStderr(), r)
			} else if err := cli.Show(cmd, r, asJSON); err != nil {
				return err
			}
			if !r.OK {
				return errors.New("the replay differs from the session: " + r.Why)
			}
			return historyOf(r.Result)
		},
	}
	cmd.Flags().StringVar(&html, "html", "", "write the session as a page that needs no network to `FILE`; - is standard output")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the outcome as JSON")
	cmd.Flags().StringVar(&history, "history", "", historyHelp+"; of the session's last reset on")
	return cmd
}

// sessionHistory opens the file for a session's history, and leaves the session at its begin.
func sessionHistory(recorded io.ReadSeeker, path string) (*session.HistoryFile, error) {
	s, err := session.Read(recorded)
	if err == nil {
		err = s.Replayable()
	}
	if err == nil {
		_, err = recorded.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, err
	}
	return openHistory(s.Segments[len(s.Segments)-1].Header.Spec, path)
}
