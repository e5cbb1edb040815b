package figure

import (
	"testing"

	"drtmx/engine/experiment"
)

// A picture of bars says what a reader of its numbers has to know, as one of lines does.
func TestBarsSayTheirNote(t *testing.T) {
	for _, form := range []string{FormBars, FormStacked} {
		f := &Figure{ID: "t", Title: "bars", Form: form, Note: "half machines", Set: experiment.Knobs{"coroutines": 3},
			Series: []Series{{Name: "A", Points: []Point{{Y: 1, Name: "E"}}}}}
		if title, _, _, _ := f.Bars(nil); title != f.pictured() {
			t.Errorf("%s: %q over the picture, want %q", form, title, f.pictured())
		}
	}
}
