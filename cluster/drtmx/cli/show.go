package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"drtmx/dashboard/charts"
	"drtmx/engine/result"
)

// Show prints a value as JSON or as text.
func Show(cmd *cobra.Command, v fmt.Stringer, asJSON bool) error {
	if asJSON {
		return PrintJSON(cmd.OutOrStdout(), v)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), v)
	return err
}

// ChecksOf makes a run that found itself incorrect a failed one, and one that did not come to rest.
func ChecksOf(r *result.Result) error {
	c := r.Checks
	if !c.Failed() {
		return undrained(r)
	}
	what, how := c.Fault()
	return fmt.Errorf("checks: %s is violated: %s", what, how)
}

// undrained is the error of a run whose drain was given up.
func undrained(r *result.Result) error {
	if text := r.Undrained(); text != "" {
		return errors.New(text)
	}
	return nil
}

// HTMLPage is a page that needs nothing but itself.
func HTMLPage(title, body string) []byte {
	head := "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>" + title + "</title>\n"
	if charts.HasLibrary() {
		head += charts.Loader()
	}
	return []byte(head + "<body style=\"font:15px sans-serif;margin:2em\">\n" + body + "\n</body></html>\n")
}
