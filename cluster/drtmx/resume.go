package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"drtmx/cluster/atomicfile"
	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/runs"
	"drtmx/engine/experiment"
)

// argsKey is the key under which the context has the words of the command line.
type argsKey struct{}

func withArgs(ctx context.Context, args []string) context.Context {
	return context.WithValue(ctx, argsKey{}, slices.Clone(args))
}

// begun is a sweep that was begun and did not end: the words of its command line, and where they were given.
type begun struct {
	Args []string `json:"args"`
	Dir  string   `json:"dir"`
}

const begunLimit = 1 << 20

// begunFile is where the last sweep stands while it has not ended: beside the run store that has its points.
func begunFile() (string, error) {
	store, err := runs.File()
	return store + ".interrupted", err
}

// noteBegun remembers a sweep until the returned function is told how it ended. Points are kept by what they are, so
// giving its command again finishes it. Where nothing can be written it cannot be resumed by --resume, and that is all.
func noteBegun(ctx context.Context) (ended func(err error)) {
	none := func(error) {}
	args, _ := ctx.Value(argsKey{}).([]string)
	file, err := begunFile()
	dir, derr := os.Getwd()
	if len(args) == 0 || err != nil || derr != nil {
		return none
	}
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--fresh" }) // what it has computed is fresh
	text, err := json.Marshal(begun{args, dir})
	if err != nil || os.MkdirAll(filepath.Dir(file), 0o755) != nil || atomicfile.Replace(file, text, 0o600) != nil {
		return none
	}
	return func(err error) {
		if now, rerr := os.ReadFile(file); errors.Is(err, context.Canceled) || rerr != nil || !bytes.Equal(now, text) {
			return // it was interrupted, or another one has begun since
		}
		_ = os.Remove(file) // resuming one that ended costs no more than a look at the store
	}
}

// resume gives the command line of the last sweep that did not end again.
func resume(cmd *cobra.Command) error {
	refused := func(rule, next string) error {
		return &experiment.SpecError{Field: "resume", Rule: rule, Next: next}
	}
	file, err := begunFile()
	if err != nil {
		return err
	}
	text, err := atomicfile.ReadUpTo(file, begunLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return refused("no sweep was interrupted", "give the sweep again: what is computed is kept")
	}
	if err != nil {
		return err
	}
	var b begun
	if json.Unmarshal(text, &b) != nil || len(b.Args) == 0 || slices.Contains(b.Args, "--resume") {
		return refused(file+" does not say which sweep was interrupted", "give the sweep again: what is computed is kept")
	}
	if dir, err := os.Getwd(); err != nil || dir != b.Dir {
		return refused("the sweep was begun in "+b.Dir, "cd there first: it may name files")
	}
	cli.LineWriter(cmd.ErrOrStderr())("drtmx " + strings.Join(b.Args, " "))
	root := rootCommand()
	root.SetArgs(b.Args)
	root.SetOut(cmd.OutOrStdout())
	root.SetErr(cmd.ErrOrStderr())
	return root.ExecuteContext(withArgs(cmd.Context(), b.Args))
}
