package engine

import (
	"context"
	"fmt"
	"io"
	"math"

	"drtmx/engine/experiment"
	"drtmx/engine/measure"
	"drtmx/engine/result"
)

// What "automatic" means for warmup_ns and duration_ns (and for steady).
const (
	autoWarmupNS    = 1_000_000
	autoCommits     = 10_000
	autoLatencies   = 20
	targetCI        = 0.01 // an automatic window grows until the interval is this narrow,
	autoGrowth      = 4    // but at most this many times its least length
	openShare       = 100  // of progress, once the system is there
	warmupShare     = 250  // at the end of the warm-up
	measuredShare   = 950  // at the end of the measured interval
	tryShare        = 0.75 // of what is left until then that a try gets which may not be the last
	warmupLatencies = 5    // times p99
	warmupTries     = 4    // measured intervals that may turn out to belong to the warm-up, but for the last
)

// interruptNS is how much virtual time passes between two looks at the context. The largest clusters
// take a tenth of a second of wall time for it, and a good part of one on a computer that is busy.
const interruptNS = 2_000

// Run is one batch run: automatic warm-up and measured interval where the spec leaves them open,
// then a drain and the checks, if there are any: a run with check: off ends with its interval.
// Progress comes in thousandths. A cancelled context ends the run: between two steps of its opening and
// of its end, and within interruptNS of virtual time in between.
func Run(ctx context.Context, spec experiment.Spec, progress func(done, total int)) (*result.Result, error) {
	if progress == nil {
		return RunWith(ctx, spec, nil)
	}
	return RunWith(ctx, spec, func(_ string, done, total int) { progress(done, total) })
}

// RunWith is Run that also tells what is being done.
func RunWith(ctx context.Context, spec experiment.Spec, progress Progress) (*result.Result, error) {
	return runWith(ctx, spec, progress, nil)
}

// runWith is RunWith that begins with a call of opened, unless nil.
func runWith(ctx context.Context, spec experiment.Spec, progress Progress, opened func(*System) error) (*result.Result, error) {
	r := runner{ctx: ctx, progress: progress}
	s, err := OpenWith(ctx, spec, func(doing string, done, total int) { r.report(doing, openShare*done/total) })
	if err != nil {
		return nil, err
	}
	defer s.Close()
	defer s.EndHistory() // also of a run that fails
	r.s = s
	if opened != nil {
		if err := opened(s); err != nil {
			return nil, err
		}
	}
	if err := r.warmup(); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		s.Mark()
		finite, _ := s.load.ends()
		last := finite || try == warmupTries || s.values.Int("warmup_ns") > 0 || s.values.Int("duration_ns") > 0
		if err := r.measure(last); err != nil {
			return nil, err
		}
		// A drift, or a primitive that changed by itself, says that the warm-up was too short: what was
		// measured belongs to it.
		if last || !s.quality().drift {
			break
		}
	}
	if s.values.Text("check") != "off" {
		err := s.DrainWith(ctx, func(doing string, done, total int) {
			r.report(doing, measuredShare+(ProgressTotal-measuredShare)*done/total)
		})
		if err != nil {
			return nil, err
		}
	}
	s.EndHistory()
	r.report("done", ProgressTotal)
	return s.Result(), nil
}

type runner struct {
	s        *System
	ctx      context.Context
	progress Progress
	doing    string // as reported
	reported int
}

// report tells what is news, and never goes back.
func (r *runner) report(doing string, done int) {
	if r.progress != nil && (done > r.reported || doing != r.doing) {
		r.doing, r.reported = doing, max(done, r.reported)
		r.progress(doing, r.reported, ProgressTotal)
	}
}

// step advances to the end of the current window, or to until if that is sooner. It does so in slices,
// and reports after each: a window may be too long to wait for its end. Nor does
// one set how long an automatic span is: one longer than the least warm-up ends in pieces of that.
func (r *runner) step(until int64, report func()) error {
	w := min(int64(r.s.values.Int("window_ns")), autoWarmupNS)
	until = min((r.s.NowNS()/w+1)*w, until)
	for r.s.NowNS() < until {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := r.s.Advance(min(interruptNS, until-r.s.NowNS())); err != nil {
			return err
		}
		report()
	}
	return nil
}

func (r *runner) warmup() error {
	if ns := int64(r.s.values.Int("warmup_ns")); ns > 0 {
		for r.s.NowNS() < ns {
			if err := r.step(ns, func() { r.warming(ns) }); err != nil {
				return err
			}
		}
		return nil
	}
	if finite, _ := r.s.load.ends(); finite {
		return nil // each of its requests is to be measured
	}
	need := int64(autoWarmupNS)
	for {
		if err := r.step(math.MaxInt64, func() { r.warming(need) }); err != nil {
			return err
		}
		need = autoWarmupNS
		if p99, ok := r.s.meter.Measured().Latency.QuantileNS(0.99); ok {
			need = max(need, warmupLatencies*p99)
		}
		if now := r.s.NowNS(); now >= min(need, experiment.MaxAutomatic) || now >= autoWarmupNS && r.s.overloadedSince(&measure.Cut{}) {
			return nil // where the queue grows latencies do, and no time is enough
		}
	}
}

// warming reports a warm-up that ends at ns.
func (r *runner) warming(ns int64) {
	r.report("warming up", openShare+int(float64(warmupShare-openShare)*min(1, float64(r.s.NowNS())/float64(ns))))
}

// measure lets the measured interval pass. Unless last, another may have to follow: then its progress
// keeps something back.
func (r *runner) measure(last bool) error {
	from := r.s.NowNS()
	if ns := int64(r.s.values.Int("duration_ns")); ns > 0 {
		report := func() {
			r.report("measuring", warmupShare+int(float64(measuredShare-warmupShare)*float64(r.s.NowNS()-from)/float64(ns)))
		}
		for r.s.NowNS() < from+ns {
			if err := r.step(from+ns, report); err != nil {
				return err
			}
		}
		return nil
	}
	if finite, _ := r.s.load.ends(); finite {
		return r.toEnd()
	}
	least := int64(0) // when the least length was reached
	begin := float64(max(r.reported, warmupShare))
	span := measuredShare - begin
	if !last {
		span *= tryShare
	}
	report := func() {
		doing, share := r.growing(r.s.NowNS()-from, least)
		r.report(doing, int(begin+span*share))
	}
	for {
		if err := r.step(math.MaxInt64, report); err != nil {
			return err
		}
		if a := &r.s.auto; !last && !a.pending && a.changedSince(r.s.marked.PS) {
			return nil // another one begins
		}
		now := r.s.NowNS() - from
		if least == 0 {
			enough := r.s.measured().Commits >= autoCommits && (float64(now) >= autoLatencies*r.s.measured().MeanNS() || r.s.overloadedSince(&r.s.marked))
			if enough || now >= experiment.MaxAutomatic {
				least = now
			}
			if least == 0 {
				continue
			}
		}
		if q := r.s.quality(); q.ci95 > 0 && q.ci95 <= targetCI || now >= autoGrowth*least || now >= experiment.MaxAutomatic {
			return nil
		}
	}
}

// toEnd lets a workload that comes to an end do so.
func (r *runner) toEnd() error {
	for r.s.NowNS() < experiment.MaxAutomatic {
		if _, finished := r.s.load.ends(); finished {
			return nil
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := r.s.Advance(interruptNS); err != nil {
			return err
		}
		r.report("running all requests", max(r.reported, warmupShare))
	}
	return nil
}

// growing is how far an automatic interval is that has lasted for now. Until it has its least length,
// that is what it needs of commits and of latencies; then it grows to autoGrowth times that at most, and
// ends before if it becomes narrow enough. So the least length is a share of 1/autoGrowth in either view.
func (r *runner) growing(now, least int64) (doing string, share float64) {
	if least > 0 {
		most := min(autoGrowth*least, experiment.MaxAutomatic)
		return fmt.Sprintf("measuring, %s of at most %s ms", result.Digits(float64(now)/1e6), result.Digits(float64(most)/1e6)), min(1, float64(now)/float64(most))
	}
	commits := min(r.s.measured().Commits, autoCommits)
	share = float64(commits) / autoCommits
	if ns := r.s.measured().MeanNS(); ns > 0 && !r.s.overloadedSince(&r.s.marked) {
		share = min(share, float64(now)/(autoLatencies*ns))
	}
	return fmt.Sprintf("measuring, %d of at least %d commits", commits, autoCommits), max(share, float64(now)/experiment.MaxAutomatic) / autoGrowth
}

// RunRecorded is RunWith that writes the history of the run to out.
func RunRecorded(ctx context.Context, spec experiment.Spec, file string, out io.Writer, progress Progress) (*result.Result, error) {
	return runWith(ctx, spec, progress, func(s *System) error { return s.RecordHistory(file, out) })
}
