package thesis

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"
)

// A figure with panels that is asked for without a letter is its first panel, and the command names the others.
func TestFigureNamesOtherPanels(t *testing.T) {
	for id, want := range map[string]string{
		"5-10":      "figure 5-10 has several panels, this is 5-10a; there is also 5-10b\n",
		"4-8":       "figure 4-8 has several panels, this is 4-8a; there is also 4-8b, 4-8c\n",
		"5-1":       "figure 5-1 has several panels, this is 5-1a; there is also 5-1b\n",
		"5-hybrid-": "figure 5-hybrid- has several panels, this is 5-hybrid-a; there is also 5-hybrid-b\n",
		"5-10b":     "",
		"3-21":      "",
		"2-persist": "",
		"t5-1":      "",
	} {
		var said bytes.Buffer
		cmd := &cobra.Command{}
		cmd.SetErr(&said)
		if _, err := new(figureFlags).recipe(cmd, id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		if said.String() != want {
			t.Errorf("%s: said %q, want %q", id, said.String(), want)
		}
	}
}
