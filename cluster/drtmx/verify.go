package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"drtmx/cluster"
	"drtmx/engine"
)

// row is a published number that the simulator is held to.
type row struct {
	id        string
	use       string // fit, check, constant, order
	claim     string
	reference float64
	unit      string
	note      string
	within    float64                                      // accepted relative error
	measure   func(m *measurer) (value float64, err error) // for an order: 1 if it holds
}

// perMachine measures millions of requests per second and machine at the peak:
// 16 nodes, 24 threads, the micro-benchmark's closed loop.
func perMachine(workload string, payload int) func(*measurer) (float64, error) {
	return func(m *measurer) (float64, error) {
		r, err := m.run(workload, engine.Knobs{"nodes": 16, "threads": 24, "coroutines": 16, "workload.payload": payload})
		if err != nil {
			return 0, err
		}
		return r.Throughput / 16 / 1e6, nil
	}
}

// alone measures the mean microseconds of a lone request.
func alone(workload string, payload int) func(*measurer) (float64, error) {
	return func(m *measurer) (float64, error) {
		r, err := m.run(workload, engine.Knobs{"nodes": 2, "threads": 1, "coroutines": 1, "workload.payload": payload})
		if err != nil {
			return 0, err
		}
		return r.LatencyUS.Mean, nil
	}
}

// ordered is 1 if the first value is above the second.
func ordered(a, b func(*measurer) (float64, error)) func(*measurer) (float64, error) {
	return func(m *measurer) (float64, error) {
		x, err := a(m)
		if err != nil {
			return 0, err
		}
		y, err := b(m)
		if err != nil || x <= y {
			return 0, err
		}
		return 1, nil
	}
}

// calibration are the rows that exist in this version, with the ids of the
// thesis's numbers; all on profile val.
var calibration = []row{
	{id: "f2-4a-read-peak", use: "fit", claim: "one-sided READ, 64 bytes, 16 nodes x 24 threads", reference: 86.9, unit: "Mreq/s", within: 0.15, measure: perMachine("micro-read", 64)},
	{id: "f2-4a-write-peak", use: "fit", claim: "one-sided WRITE, up to 64 bytes", reference: 130, unit: "Mreq/s", within: 0.15, measure: perMachine("micro-write", 64)},
	{id: "f2-4-atomic-peak", use: "fit", claim: "one-sided ATOMIC, 8 bytes", reference: 48, unit: "Mreq/s", within: 0.15, measure: perMachine("micro-atomic", 8)},
	{id: "f2-2b-ud-rpc-peak", use: "fit", claim: "RPC over UD SEND/RECV, symmetric", reference: 79, unit: "Mreq/s", note: "also given as 76: either is accepted", within: 0.15, measure: perMachine("micro-rpc", 8)},
	{id: "s2-onesided-lat", use: "fit", claim: "a lone one-sided request", reference: 2, unit: "us", within: 0.15, measure: alone("micro-read", 64)},
	{id: "f2-4a-write-vs-read", use: "order", claim: "WRITE above READ at small payloads", measure: ordered(perMachine("micro-write", 16), perMachine("micro-read", 16))},
	{id: "f2-4a-order", use: "order", claim: "one-sided READ above two-sided at 16 nodes", measure: ordered(perMachine("micro-read", 64), perMachine("micro-rpc", 64))},
}

// verified is a row of the table as it is printed.
type verified struct {
	ID        string   `json:"id"`
	Use       string   `json:"use"`
	Claim     string   `json:"claim"`
	Reference *float64 `json:"reference"`
	Measured  *float64 `json:"measured"`
	Unit      string   `json:"unit,omitempty"`
	Error     *float64 `json:"error"` // signed, relative; null for an ordering
	Pass      bool     `json:"pass"`
	Note      string   `json:"note,omitempty"`
}

type verification struct {
	Rows        []verified `json:"rows"`
	FitWithin10 float64    `json:"fit_within_10"` // share of the fit rows
	FitWithin25 float64    `json:"fit_within_25"`
}

// measurer runs each spec once.
type measurer struct {
	ctx   context.Context
	cache engine.Cache
	done  map[string]*engine.Result
}

func (m *measurer) run(workload string, set engine.Knobs) (*engine.Result, error) {
	set["warmup_ns"], set["duration_ns"], set["window_ns"] = 30_000, 100_000, 10_000
	set["check"] = "off"
	spec, err := engine.Spec{Workload: workload}.With(set)
	if err != nil {
		return nil, err
	}
	key, err := engine.RunKey(spec)
	if err != nil {
		return nil, err
	}
	if r, ok := m.done[key]; ok {
		return r, nil
	}
	r, ok := (*engine.Result)(nil), false
	if m.cache != nil {
		r, ok = m.cache.Get(key)
	}
	if !ok {
		if r, err = engine.Run(m.ctx, spec, nil); err != nil {
			return nil, err
		}
		if m.cache != nil {
			// A full disk costs the time of the next verification, not this one.
			_ = m.cache.Put(key, r)
		}
	}
	m.done[key] = r
	return r, nil
}

func verifyCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "The calibration table: published numbers against measured ones",
		Args:  exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m := &measurer{ctx: cmd.Context(), cache: cluster.RunCache(), done: map[string]*engine.Result{}}
			b := newBar(cmd.ErrOrStderr(), "verify")
			v, err := verify(m, calibration, b.update)
			b.end()
			if err != nil {
				return err
			}
			if err := show(cmd, v, asJSON); err != nil {
				return err
			}
			for _, r := range v.Rows {
				if !r.Pass {
					return errors.New("a row of the calibration table is off: " + r.ID)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the table as JSON")
	return cmd
}

func verify(m *measurer, rows []row, progress func(done, total int)) (*verification, error) {
	out := &verification{Rows: []verified{}}
	fits, in10, in25 := 0, 0, 0
	for i, r := range rows {
		progress(i, len(rows))
		x, err := r.measure(m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.id, err)
		}
		v := verified{ID: r.id, Use: r.use, Claim: r.claim, Unit: r.unit, Note: r.note}
		if r.use == "order" {
			v.Pass = x == 1
			out.Rows = append(out.Rows, v)
			continue
		}
		e := (x - r.reference) / r.reference
		v.Reference, v.Measured, v.Error = &r.reference, &x, &e
		v.Pass = math.Abs(e) <= r.within
		if r.use == "fit" {
			fits++
			if math.Abs(e) <= 0.10 {
				in10++
			}
			if math.Abs(e) <= 0.25 {
				in25++
			}
		}
		out.Rows = append(out.Rows, v)
	}
	if fits > 0 {
		out.FitWithin10, out.FitWithin25 = float64(in10)/float64(fits), float64(in25)/float64(fits)
	}
	return out, nil
}

func (v *verification) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range v.Rows {
		verdict := "ok"
		if !r.Pass {
			verdict = "OFF"
		}
		if r.Error == nil {
			fmt.Fprintf(t, "%s\t%s\t\t\t\t%s\t%s\n", verdict, r.ID, r.Use, r.Claim)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%.4g\t%.4g %s\t%+.1f %%\t%s\t%s\n", verdict, r.ID, *r.Reference, *r.Measured, r.Unit, 100**r.Error, r.Use, r.Claim)
	}
	t.Flush()
	fmt.Fprintf(&b, "of the fit rows %.0f %% are within 10 %%, %.0f %% within 25 %%", 100*v.FitWithin10, 100*v.FitWithin25)
	return b.String()
}
