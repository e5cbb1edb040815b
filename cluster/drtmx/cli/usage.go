package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"drtmx/engine/experiment"
	"drtmx/engine/knob"
)

// UsageError is a command line that cannot be understood.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

func Usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Line makes one line of an error. What a person mistyped may come with
// suggestions on lines of their own; a simulator bug comes with a stack, which
// DRTMX_STACK=1 shows.
func Line(err error) string {
	text := err.Error()
	var u *UsageError
	if !errors.As(err, &u) && !experiment.IsSpecError(err) {
		if os.Getenv("DRTMX_STACK") != "" {
			return text
		}
		text, _, _ = strings.Cut(text, "\n")
	}
	return strings.Join(strings.Fields(text), " ")
}

// AtMost is cobra.MaximumNArgs with our exit status.
func AtMost(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return Usage("%s: %s takes %s", args[n], cmd.CommandPath(), what)
		}
		return nil
	}
}

func Exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return Usage("%s takes %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

// elsewhere is what other programs name some flags of ours.
var elsewhere = map[string]string{"addr": "listen", "address": "listen", "bind": "listen", "knob": "set", "param": "set", "output": "out", "file": "out", "label": "note", "name": "note", "format": "json"}

// WrongFlag says of a flag that a command does not have, or of its value, what is wrong and what to write.
func WrongFlag(cmd *cobra.Command, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown {
		return Usage("%v; see %s --help", Mistyped(cmd, err), cmd.CommandPath())
	}
	has := func(flag string) bool { return cmd.Flags().Lookup(flag) != nil }
	switch full, kerr := experiment.KnobName(strings.ReplaceAll(name, "-", "_")); {
	case name == "spec":
		return Usage("%v; a spec has no flag, as in %s nvm", err, cmd.CommandPath())
	case name == "port" && has("listen"):
		return Usage("%v; the port is part of the address, as in %s --listen 127.0.0.1:7071", err, cmd.CommandPath())
	case has(elsewhere[name]):
		return Usage("%v, did you mean --%s? see %s --help", err, elsewhere[name], cmd.CommandPath())
	case kerr == nil && has("set"):
		return Usage("%v; %s is a knob: --set %s=VALUE", err, full, full)
	}
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
	if like := knob.DidYouMean(name, flags); like != "" {
		return Usage("%v%s see %s --help", err, strings.Replace(like, "mean ", "mean --", 1), cmd.CommandPath())
	}
	return Usage("%v; see %s --help", err, cmd.CommandPath())
}

// pflagSays is how pflag refuses a value. What follows it is for authors of the program.
var pflagSays = regexp.MustCompile(`^invalid argument ("(?:[^"\\]|\\.)*") for "(?:-\w, )?--([\w-]+)" flag: `)

// Mistyped says of a flag's value what pflag says, in the form of all errors here.
func Mistyped(cmd *cobra.Command, err error) error {
	m := pflagSays.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	value, uerr := strconv.Unquote(m[1])
	flag := cmd.Flags().Lookup(m[2])
	if uerr != nil || flag == nil {
		return err
	}
	if value == "" {
		value = m[1]
	}
	rule, ok := map[string]string{"int": "must be a whole number such as 5", "int64": "must be a whole number such as 5",
		"duration": "must be a time such as 30s or 5m", "bool": "must be true or false"}[flag.Value.Type()]
	if !ok {
		return err
	}
	return &experiment.SpecError{Field: flag.Name, Value: value, Rule: rule}
}

// PrintJSON writes one JSON value.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Named refuses a flag that is there and names nothing: what it chooses from would all
// be meant, or nothing at all be found in order.
func Named(cmd *cobra.Command, flag string, ids []string) error {
	if len(ids) == 0 && cmd.Flags().Changed(flag) {
		return Usage("--%s names nothing; name some, or leave it out for all", flag)
	}
	return nil
}
