package dataset

// sample is n different numbers of [0, size), drawn in strata: each window of neighbours is uniformly random in
// its share of the range. So the numbers are noisy as a random sample is, within the window, and evenly spread
// beyond it.
type sample struct {
	n, size, window, seed uint64
	halves                halving
}

func newSample(n, size, window, seed uint64) sample {
	return sample{n: n, size: size, window: window, seed: seed}
}

// stratum is that of a number's window.
func (s *sample) stratum(i uint64) part {
	first := i - i%s.window
	end := min(first+s.window, s.n)
	return part{seeded(s.seed, first), times(s.size, first, s.n), s.edge(end), end - first}
}

// edge is where the stratum behind a number begins. At the end of all it is size, which times could not hold.
func (s *sample) edge(i uint64) uint64 {
	if i == s.n {
		return s.size
	}
	return times(s.size, i, s.n)
}

func (s *sample) key(i uint64) uint64 { return s.halves.key(s.stratum(i), i%s.window) }

func (s *sample) rank(x uint64) (uint64, bool) {
	if x >= s.size {
		return s.n, false
	}
	i := times(x, s.n, s.size)
	p := s.stratum(i)
	if x >= p.hi { // its edge was rounded down
		i += s.window
		p = s.stratum(i)
	}
	r, ok := s.halves.rank(p, x)
	return i - i%s.window + r, ok
}

func (s *sample) append(dst []uint64, from, n uint64) []uint64 {
	for n > 0 {
		p, i := s.stratum(from), from%s.window
		some := min(n, p.m-i)
		dst = s.halves.append(dst, p, i, some)
		from, n = from+some, n-some
	}
	return dst
}
