package runs

import "errors"

type call struct {
	done chan struct{}
	body []byte
	err  error
}

// Do returns the stored result of a run, or computes and stores it. Concurrent
// calls for one key compute once. stored tells whether the result was there
// before. A result that cannot be stored (disk full) is returned all the same.
func (s *Store) Do(key string, compute func() ([]byte, error)) (body []byte, stored bool, err error) {
	if s == nil {
		body, err = compute()
		return body, false, err
	}
	for {
		s.mu.Lock()
		c, busy := s.flight[key]
		if !busy {
			c = &call{done: make(chan struct{})}
			s.flight[key] = c
		}
		s.mu.Unlock()
		if !busy {
			return s.lead(key, c, compute)
		}
		<-c.done
		if c.err == nil {
			return c.body, true, nil
		}
		// The other caller failed, perhaps because its own context ended:
		// this one computes for itself.
	}
}

func (s *Store) lead(key string, c *call, compute func() ([]byte, error)) (body []byte, stored bool, err error) {
	c.err = errors.New("runs: computation ended in a panic")
	defer func() {
		s.mu.Lock()
		delete(s.flight, key)
		s.mu.Unlock()
		close(c.done)
	}()
	if b, ok := s.Get(key); ok {
		c.body, c.err = b, nil
		return b, true, nil
	}
	c.body, c.err = compute()
	if c.err == nil {
		// A full or read-only disk costs time later, not the result now.
		s.Lost(s.Put(key, c.body))
	}
	return c.body, false, c.err
}
