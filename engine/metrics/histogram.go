package metrics

// Histogram is a distribution as results carry it: how many durations lie in each interval that has some. An interval
// ends at its UpperUS, in us, and is a hundredth of that wide, or a nanosecond.
type Histogram struct {
	UpperUS []float64 `json:"upper_us"` // rising
	Counts  []uint64  `json:"counts"`
}

// Histogram lists what was recorded, nil for nothing.
func (h *Hist) Histogram() *Histogram {
	if h.n == 0 {
		return nil
	}
	coarse := h.buckets()
	if fine := coarse; !h.Coarse {
		coarse = newBuckets(histDigitsCoarse)
		coarse.merge(fine)
	}
	out := &Histogram{}
	for i, n := range coarse.used() {
		if n > 0 {
			out.UpperUS = append(out.UpperUS, float64(min(coarse.top(coarse.lo+i), h.MaxNS()))/1e3)
			out.Counts = append(out.Counts, n)
		}
	}
	return out
}

// Count is the number of durations.
func (h *Histogram) Count() (n uint64) {
	if h != nil {
		for _, c := range h.Counts {
			n += c
		}
	}
	return n
}

// Below is the share of durations of at most us, that are in whole intervals.
func (h *Histogram) Below(us float64) float64 {
	n := h.Count()
	if n == 0 {
		return 0
	}
	var below uint64
	for i, c := range h.Counts {
		if h.UpperUS[i] > us {
			break
		}
		below += c
	}
	return float64(below) / float64(n)
}

// CDF is the cumulative distribution as a line: at x[i] us lie the share y[i] of all durations at or below. Steps
// of less than a two-hundredth are left out, but for the last hundredth, where the tail is.
func (h *Histogram) CDF() (x, y []float64) {
	const step, tail = 0.005, 0.99
	n := h.Count()
	if n == 0 {
		return nil, nil
	}
	var below uint64
	last := -1.0
	for i, c := range h.Counts {
		below += c
		share := float64(below) / float64(n)
		if share-last >= step || share >= tail {
			x, y, last = append(x, h.UpperUS[i]), append(y, share), share
		}
	}
	return x, y
}
