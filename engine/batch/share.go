package batch

import "sync"

// shares is how far many runs are together. A run weighs what it is estimated to take, and counts as far as it has come: by its own
// progress, which follows simulated time. nil: it is not asked for.
type shares struct {
	mu       sync.Mutex
	report   func(done, total int)
	weight   map[jobID]int64   // in ms
	came     map[jobID]float64 // 0 to 1
	total    int64             // of weights
	done     float64           // sum of weight times came
	reported int
}

// jobID names a job.
type jobID struct{ point, run int }

func (j *job) id() jobID { return jobID{j.point, j.run} }

const (
	sharesTotal = 1000 // what shares are parts of
	rounding    = 1e-6 // of the sum of many small steps, which is to reach the end
)

func newShares(jobs []job, report func(done, total int)) *shares {
	if report == nil {
		return nil
	}
	s := &shares{report: report, weight: map[jobID]int64{}, came: map[jobID]float64{}}
	for i := range jobs {
		w := max(int64(wallOf(jobs[i].values)), 1)
		s.weight[jobs[i].id()] = w
		s.total += w
	}
	return s
}

// of is the progress of a job.
func (s *shares) of(j job) func(done, total int) {
	if s == nil {
		return nil
	}
	return func(done, total int) { s.move(j.id(), float64(done)/float64(max(total, 1))) }
}

// ended takes a job that is done. What was kept from before took no time, so that it says nothing of the rest.
func (s *shares) ended(j job, cached bool) {
	if s == nil {
		return
	}
	if cached {
		s.mu.Lock()
		p := j.id()
		s.total -= s.weight[p]
		s.done -= float64(s.weight[p]) * s.came[p]
		s.weight[p] = 0
		s.mu.Unlock()
	}
	s.move(j.id(), 1)
}

// move moves a job on. One that is repeated stays where it was.
func (s *shares) move(p jobID, share float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.came[p]; share > before {
		s.came[p] = share
		s.done += float64(s.weight[p]) * (share - before)
	}
	now := sharesTotal
	if s.total > 0 {
		now = min(int(sharesTotal*s.done/float64(s.total)+rounding), sharesTotal)
	}
	if now > s.reported {
		s.reported = now
		s.report(now, sharesTotal)
	}
}
