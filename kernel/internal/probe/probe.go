// Package probe is what the kernel's tests call from notebooks: small compiled
// code with the habits of the real one (a long run that watches its context,
// user code inside a coroutine, progress, charts, errors), so that the kernel
// can be tested without a cluster. Only a kernel built with the tag drtmxprobe
// has it.
package probe

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	echarts "github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"drtmx/dashboard/charts"
)

// Long works until its time is over or the cell is interrupted.
func Long(d time.Duration) int {
	end := time.Now().Add(d)
	for n := 0; ; n++ {
		if charts.Context().Err() != nil {
			panic(errors.New("stopped"))
		}
		if time.Now().After(end) {
			return n
		}
		time.Sleep(time.Millisecond)
	}
}

// Deaf works without looking at the context.
func Deaf(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// InCoroutines calls f as a simulator calls a user's transaction: from several
// coroutines, resumed in turn, until the cell is interrupted or f was called n
// times. A panic in a coroutine ends the run with an error of many lines.
func InCoroutines(n int, f func(i int)) {
	if err := inCoroutines(charts.Context(), n, f); err != nil {
		panic(err)
	}
}

func inCoroutines(ctx context.Context, n int, f func(i int)) error {
	const coroutines = 8
	var next [coroutines]func() (error, bool)
	calls := 0
	for c := range next {
		resume, stop := iter.Pull(func(yield func(error) bool) {
			for ctx.Err() == nil && calls < n {
				calls++
				if err := call(c, f, calls); err != nil {
					yield(err)
					return
				}
				if !yield(nil) {
					return
				}
			}
		})
		defer stop()
		next[c] = resume
	}
	for calls < n && ctx.Err() == nil {
		for _, resume := range next {
			if err, ok := resume(); ok && err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

func call(coroutine int, f func(int), i int) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("coroutine %d: %v\nstack line 1\nstack line 2", coroutine, x)
		}
	}()
	f(i)
	return nil
}

// Steps reports progress n times.
func Steps(n int) {
	report := charts.Progress("steps")
	for i := 1; i <= n; i++ {
		time.Sleep(20 * time.Millisecond)
		report(i, n)
	}
}

// Failing returns an error.
func Failing() (int, error) { return 0, errors.New("knob \"x\": 12 is above 7; use a smaller one") }

// Panicking panics with an error of more than one line.
func Panicking() { panic(errors.New("knob \"y\": unknown\nsecond line")) }

// Line returns a go-echarts chart.
func Line() *echarts.Line {
	l := echarts.NewLine()
	l.SetGlobalOptions(echarts.WithTitleOpts(opts.Title{Title: "a <b>title</b> & more</script>"}))
	l.SetXAxis([]string{"a", "b"}).AddSeries("s", []opts.LineData{{Value: 1}, {Value: 2}})
	return l
}

// Chart returns a chart with both forms.
func Chart() *charts.Chart {
	return charts.New("probe chart", Line(),
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10"><rect width="20" height="10"/></svg>`)
}

// Value has forms of its own, as the results of a cluster have.
type Value struct{ N int }

func (v *Value) String() string { return fmt.Sprintf("value %d", v.N) }

// HTML shows the value as a table row.
func (v *Value) HTML() string { return fmt.Sprintf("<b>%d</b>", v.N) }

// Unset fails where a value is wanted.
func Unset() *Value { panic(errors.New("nothing to return")) }

// Later calls f after a time.
func Later(d time.Duration, f func()) {
	Deaf(d)
	f()
}
