package manual

import (
	"errors"
	"testing"

	"drtmx/engine/experiment"
)

// An error of knobs that do not fit together names the page that explains them; one of a value, or that names a command, does not.
func TestPointer(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&experiment.SpecError{Field: "fault.crash", Value: "2", Rule: "there is no recovery yet", Next: "leave it at -1"}, "; drtmx help nvm explains it"},
		{&experiment.SpecError{Field: "coroutines", Value: "0", Rule: "must be from 1 to 64", Next: "see `drtmx knobs coroutines`"}, ""},
		{&experiment.SpecError{Field: "ddio", Value: "2", Rule: "must be true or false"}, ""},
		{&experiment.SpecError{Field: "seed", Value: "2", Rule: "is set twice", Next: "drtmx sweep takes several"}, ""},
		{&experiment.SpecError{Field: "nope", Rule: "unknown"}, ""},
		{errors.New("fault.crash"), ""},
	} {
		if got := Pointer(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
