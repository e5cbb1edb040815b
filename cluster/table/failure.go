package table

import (
	"context"
	"errors"

	"drtmx/cluster/words"
)

// Failure is what calls of a notebook panic with.
type Failure struct{ Err error }

func (f *Failure) Error() string { return words.OneLine(f.Err.Error()) }

// String is what a cell shows.
func (f *Failure) String() string { return f.Error() }

func (f *Failure) Unwrap() error { return f.Err }

// Must panics with an error, if there is one.
func Must(err error) {
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	if err != nil {
		panic(&Failure{err})
	}
}
