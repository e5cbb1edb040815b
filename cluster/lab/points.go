package lab

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"drtmx/cluster/keep"
	"drtmx/cluster/work"
	"drtmx/engine"
	"drtmx/engine/batch"
	"drtmx/engine/code"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/xstore/dataset"
)

// portable says whether every worker with this version of the code makes the same of a spec. Parts of the user's own are not, nor
// are files of this machine.
func portable(v experiment.Knobs) bool {
	if strings.HasPrefix(v.Text("workload.dataset"), dataset.FilePrefix) {
		return false
	}
	_, plugged := experiment.PluggedAt(v) // no code version covers it, and workers do not have it
	return plugged == 0
}

// pointOf is the point of a spec that resolves to these values.
func pointOf(spec experiment.Spec, v experiment.Knobs) (work.Point, error) {
	k, err := batch.RunKey(spec)
	if err != nil {
		return work.Point{}, err
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return work.Point{}, err
	}
	e := experiment.EstimateOfValues(v)
	return work.Point{Key: keep.StoreKey(k), Code: code.Build(), Spec: text, MemoryBytes: e.MemoryBytes, WallMS: e.WallMS}, nil
}

// Compute is what workers do: the run of a point, as JSON. Every step of the simulator's progress is a sign of life.
func Compute(ctx context.Context, p work.Point, alive func()) ([]byte, error) {
	var spec experiment.Spec
	d := json.NewDecoder(bytes.NewReader(p.Spec))
	d.DisallowUnknownFields()
	if err := d.Decode(&spec); err != nil {
		return nil, &work.Refusal{Err: fmt.Errorf("the point has no spec: %w", err)}
	}
	v, err := experiment.Resolve(spec)
	if err != nil {
		return nil, &work.Refusal{Err: err}
	}
	own, err := pointOf(spec, v)
	if err != nil || own.Key != p.Key {
		return nil, &work.Refusal{Err: errors.New("the spec resolves to another run here than where it was sent")}
	}
	if !portable(v) {
		return nil, &work.Refusal{Err: errors.New("the spec needs code or files of the machine that sent it")}
	}
	if err := experiment.RefuseTooBig(v); err != nil {
		return nil, err // another worker, or another moment, may have the memory
	}
	r, err := engine.RunWith(ctx, spec, func(string, int, int) { alive() })
	switch {
	case experiment.IsSpecError(err):
		return nil, &work.Refusal{Err: err}
	case err != nil:
		return nil, err
	}
	return json.Marshal(r)
}

// underWay bounds the points that a sender has in a queue at a time: there may be many workers.
const underWay = 1024

// sender has the runs of sweeps and figures computed by a queue.
type sender struct {
	q      work.Queue
	atOnce int
	limit  int64 // of memory, where the queue is in this process; 0: workers say what they have

	mu    sync.Mutex
	asked map[string]int64 // memory of the points that are under way
}

func newSender(q work.Queue, atOnce int, limit int64) *sender {
	return &sender{q: q, atOnce: atOnce, limit: limit, asked: map[string]int64{}}
}

// Takes is that of batch.Runner.
func (s *sender) Takes(_ experiment.Spec, v experiment.Knobs) bool {
	return portable(v) && (s.limit == 0 || experiment.EstimateOfValues(v).MemoryBytes <= s.limit)
}

// AtOnce is that of batch.Runner.
func (s *sender) AtOnce() int { return s.atOnce }

// Run is that of batch.Runner.
func (s *sender) Run(ctx context.Context, spec experiment.Spec, v experiment.Knobs) (*result.Result, error) {
	p, err := pointOf(spec, v)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.asked[p.Key] = p.MemoryBytes
	s.mu.Unlock()
	out, err := s.q.Do(ctx, p)
	s.mu.Lock()
	delete(s.asked, p.Key)
	s.mu.Unlock()
	var f *work.Failed
	if errors.As(err, &f) && f.Tries == 1 {
		return nil, cmp.Or(f.Err, errors.New(f.Why))
	}
	if err != nil {
		return nil, err
	}
	r, ok := keep.ReadResult(out.Body)
	if !ok {
		return nil, fmt.Errorf("worker %s sent no result", out.Worker)
	}
	return r, nil
}

// beyond counts the points under way that none of these workers has the memory for, and what they need.
func (s *sender) beyond(workers []work.Info) (n int, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	build := code.Build()
	for _, need := range s.asked { // order-free: counts
		takes := false
		for _, w := range workers {
			takes = takes || w.Takes(build, need)
		}
		if !takes {
			n, bytes = n+1, max(bytes, need)
		}
	}
	return n, bytes
}

// InProcess computes runs by a queue in this process with a worker that has its cores and memory, until end is called.
func InProcess() (r batch.Runner, end func()) {
	parallel, memory := runtime.GOMAXPROCS(0), experiment.AvailableMemory()
	q := work.NewLocal()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = q.Work(ctx, work.Worker{Name: "here", Code: code.Build(), Parallel: parallel, MemoryBytes: memory, Compute: computeOnce}) // that of Local has no error
	})
	return newSender(q, parallel, memory), func() { cancel(); wg.Wait(); q.Close() }
}

// computeOnce is ComputePoint for this process alone: what fails here fails here again.
func computeOnce(ctx context.Context, p work.Point, alive func()) ([]byte, error) {
	body, err := Compute(ctx, p, alive)
	var refused *work.Refusal
	if err != nil && ctx.Err() == nil && !errors.As(err, &refused) {
		err = &work.Refusal{Err: err}
	}
	return body, err
}
