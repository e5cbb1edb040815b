package figure

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
)

// A step is taken once for equal options, an error is not kept, and nobody waits for a step when the context ends.
func TestSteps(t *testing.T) {
	store, err := runs.Open(runs.Options{File: filepath.Join(t.TempDir(), "runs.db")})
	if err != nil {
		t.Fatal(err)
	}
	keeping := keep.CacheOf(store).(keep.Computing)
	ctx, cancel := context.WithCancel(context.Background())
	c := &Computing{Ctx: ctx, store: keeping, report: func(int, int) {}}
	times := 0
	half := func(n int) (*float64, error) {
		if times++; n < 0 {
			return nil, errors.New("below 0")
		}
		v := float64(n) / 2
		return &v, nil
	}
	for _, n := range []int{3, 3, 5} {
		if v, err := Step(c, "half", n, half); err != nil || *v != float64(n)/2 {
			t.Errorf("%d: %v, %v", n, v, err)
		}
	}
	if times != 2 || c.done != 3 {
		t.Errorf("computed %d times in %d steps", times, c.done)
	}
	for range 2 {
		if _, err := Step(c, "half", -1, half); err == nil {
			t.Error("an error is kept")
		}
	}
	if times != 4 {
		t.Errorf("%d times", times)
	}
	running, release := make(chan bool), make(chan bool)
	go func() { <-running; cancel() }()
	if _, err := Step(c, "slow", 1, func(int) (*int, error) {
		running <- true
		<-release
		return new(int), nil
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(release)
	c.Ctx = context.Background() // what was begun is finished, and there for who comes next
	if _, err := Step(c, "slow", 1, func(int) (*int, error) { return nil, errors.New("begun again") }); err != nil {
		t.Error(err)
	}
}
