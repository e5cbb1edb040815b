package keep

import (
	"encoding/json"

	"drtmx/cluster/runs"
	"drtmx/engine/batch"
	"drtmx/engine/code"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// OwnSweep keeps a sweep in the user's run store. Where that fails the store remembers why; the sweep is whole.
func OwnSweep(note string, spec experiment.Spec, r *batch.SweepResult) {
	if s, err := runs.Default(); err == nil {
		_, err = Sweep(s, note, spec, r)
		s.Lost(err)
	}
}

// Cache is the user's run store, or nil where there can be none.
func Cache() batch.Cache {
	s, err := runs.Default()
	if err != nil {
		return nil // every run is then computed
	}
	return CacheOf(s)
}

// CacheOf keeps results in a run store.
func CacheOf(s *runs.Store) batch.Cache { return storeCache{s} }

type storeCache struct{ s *runs.Store }

func (c storeCache) Get(key string) (*result.Result, bool) {
	b, ok := c.s.Get(StoreKey(key))
	if !ok {
		return nil, false
	}
	return ReadResult(b)
}

// ReadResult is a result from its JSON.
func ReadResult(b []byte) (*result.Result, bool) {
	r := &result.Result{}
	if json.Unmarshal(b, r) != nil {
		return nil, false
	}
	return r, true
}

func (c storeCache) Put(key string, r *result.Result) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	// A full or read-only disk costs time later, not this result.
	c.s.Lost(c.s.Put(StoreKey(key), b))
	return nil
}

// Computing is what a run store may do besides: it keeps what is computed without a run.
type Computing interface {
	// Compute gives what is kept under the options of a computation of a package, or computes and keeps it. Code of the
	// package and of all runs is a part of its address.
	Compute(pkg, name string, options any, compute func() ([]byte, error)) ([]byte, error)
}

func (c storeCache) Compute(pkg, name string, options any, compute func() ([]byte, error)) ([]byte, error) {
	key, err := runs.Key(code.OfPackage(pkg), "computed", pkg, name, options)
	if err != nil {
		return nil, err
	}
	body, _, err := c.s.Do(key, compute)
	return body, err
}

// StoreKey makes a key of the store from one of the engine, whatever its form. It is that of the run's point as well.
func StoreKey(k string) string {
	key, err := runs.Key("result", k)
	if err != nil {
		return "" // a string is always JSON; the store refuses "" in any case
	}
	return key
}
