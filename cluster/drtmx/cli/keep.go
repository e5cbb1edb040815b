package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"drtmx/cluster/runs"
	"drtmx/engine/experiment"
)

// KeepFlags say what is kept in the run store.
type KeepFlags struct {
	want bool
	Note string
}

// noteMost bounds a note, which stands in a line of a table.
const noteMost = 1000

// Add gives a command the choice to keep what it does.
func (f *KeepFlags) Add(cmd *cobra.Command, what string) {
	cmd.Flags().BoolVar(&f.want, "keep", false, "keep "+what+" in the run store, see drtmx runs; so do --note, --runs and "+runs.FileVariable)
	cmd.Flags().StringVar(&f.Note, "note", "", "keep "+what+" with a note, a `TEXT` by which drtmx runs finds it")
	RunsFlag(cmd)
}

// Always is add for what is kept in any case.
func (f *KeepFlags) Always(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&f.Note, "note", "", "a note on "+what+", a `TEXT` by which drtmx runs finds it")
	RunsFlag(cmd)
}

// Kept says that something is to be kept.
func (f *KeepFlags) Kept() bool { return f.want || f.Note != "" || runs.Named() }

// Check finds out before a long run that it cannot be kept.
func (f *KeepFlags) Check(cmd *cobra.Command) error {
	if err := CheckNote(f.Note); err != nil || !f.Kept() {
		return err
	}
	_, err := runs.Default()
	return err
}

func CheckNote(text string) error {
	if len(text) > noteMost {
		return &experiment.SpecError{Field: "note", Value: fmt.Sprintf("%.20s...", text), Rule: fmt.Sprintf("is longer than %d bytes", noteMost), Next: "shorten it"}
	}
	return nil
}

// Keep keeps what was printed, if that is wanted, and says under which id.
func (f *KeepFlags) Keep(say func(string, ...any), how func(*runs.Store) (runs.ID, error)) error {
	if !f.Kept() {
		return nil
	}
	s, err := runs.Default()
	if err != nil {
		return fmt.Errorf("not kept: %w", err)
	}
	id, err := how(s)
	if err != nil {
		return fmt.Errorf("not kept, but what was printed is whole: %w", err)
	}
	say("kept as %v; drtmx runs show %v", id, id)
	return nil
}

// SayTo says a line on standard error.
func SayTo(cmd *cobra.Command) func(string, ...any) {
	return func(format string, a ...any) { fmt.Fprintf(cmd.ErrOrStderr(), format+"\n", a...) }
}

// OpenStore opens the run store of a command that takes points from it. One that was named must be there; without the
// user's own every point is computed.
func OpenStore(cmd *cobra.Command) error {
	_, err := runs.Default()
	if err == nil || runs.Named() {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s; every point is computed, and none is kept\n", Line(err))
	return nil
}

// RunsFlag gives a command the choice of the run store.
func RunsFlag(cmd *cobra.Command) {
	cmd.Flags().Var(runsFile{}, "runs", "the run store, a `FILE` that is made if missing; without it that of "+runs.FileVariable+" or of the user's data folder")
}

// runsFile is the flag.
type runsFile struct{}

func (runsFile) String() string { return "" }
func (runsFile) Type() string   { return "string" }

func (runsFile) Set(file string) error {
	if file == "" {
		return fmt.Errorf("must name a file")
	}
	runs.Use(file)
	return nil
}
