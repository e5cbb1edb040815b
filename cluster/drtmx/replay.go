package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"drtmx/cluster"
	"drtmx/engine"
)

func replayCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay SESSION",
		Short: "Run a recorded session again and compare digest and windows",
		Args:  exactly(1, "one session file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := engine.OpenRegular(args[0])
			if err != nil {
				return &engine.SpecError{Field: "session", Value: args[0], Rule: err.Error(), Next: "give a file that drtmx up --session wrote"}
			}
			defer f.Close()
			b := newBar(cmd.ErrOrStderr(), "replay")
			r, err := cluster.Replay(cmd.Context(), f, cluster.ReplayOptions{Progress: b.update})
			b.end()
			if err != nil {
				if cmd.Context().Err() != nil {
					return err
				}
				return &engine.SpecError{Field: "session", Value: args[0], Rule: strings.TrimPrefix(line(err), "session: ")}
			}
			if err := show(cmd, r, asJSON); err != nil {
				return err
			}
			if !r.OK {
				return errors.New("the replay differs from the session: " + r.Why)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the outcome as JSON")
	return cmd
}
