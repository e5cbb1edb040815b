package txn

import (
	"fmt"

	"drtmx/engine/replication"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
)

// Settings are what configurations of all protocols have. Where a field is 0 the
// default holds.
type Settings struct {
	// Replicas counts the primary. Three in the thesis; 1 turns logging off.
	// Fixed when the database is opened.
	Replicas int

	// CacheEnabled looks record locations up in, and fills, the location cache
	// of the machine. Off, one-sided reads READ index buckets each time.
	CacheEnabled bool
	// CacheBytes is the budget of that cache per machine; 300 MB in §4.3.1.
	CacheBytes uint64

	// After an abort a coroutine sleeps a random time below a bound that
	// doubles from BackoffMinNS to BackoffMaxNS. Too small and hot records
	// live-lock, too large and they idle.
	BackoffMinNS int64
	BackoffMaxNS int64
	// Reclaim is how backups are told to apply what logs have.
	Reclaim replication.Reclaiming

	// MaxAttempts ends a transaction with an error instead of retrying for
	// ever: a sign of a protocol bug, not of contention.
	MaxAttempts int

	// Timestamps says which scheme gives versions their stamps. If there is one, records have versions, and read-only
	// transactions run in the protocol's second session, see Snapshots.
	Timestamps timestamp.Options

	// IgnoresAborts is a switch of the released code, under which its TPC-C/no ran: a transaction commits whatever its locks
	// and its validation say, and reads records that are locked. What it is to take out may be gone.
	IgnoresAborts bool
}

// Defaults. How often and how late to retry is assumed: the thesis does not state it.
const (
	DefaultReplicas     = 3
	DefaultCacheBytes   = 300 << 20
	defaultBackoffMinNS = 2_000
	defaultBackoffMaxNS = 64_000
	defaultMaxAttempts  = 100_000
)

// Common is what configurations say that embed it.
func (c Settings) Common() Settings { return c }

// WithDefaults fills in what is 0.
func (c Settings) WithDefaults() Settings {
	if c.Replicas == 0 {
		c.Replicas = DefaultReplicas
	}
	if c.CacheBytes == 0 {
		c.CacheBytes = DefaultCacheBytes
	}
	if c.BackoffMinNS == 0 {
		c.BackoffMinNS = defaultBackoffMinNS
	}
	if c.BackoffMaxNS == 0 {
		c.BackoffMaxNS = max(defaultBackoffMaxNS, c.BackoffMinNS)
	}
	if c.MaxAttempts == 0 {
		c.MaxAttempts = defaultMaxAttempts
	}
	return c
}

// Validate reports the first field that cannot be, with the reason.
func (c Settings) Validate() error {
	switch {
	case c.Replicas < 1 || c.Replicas > maxReplicas:
		return fmt.Errorf("replicas %d: from 1 (no backup) to %d", c.Replicas, maxReplicas)
	case c.BackoffMinNS < 1 || c.BackoffMaxNS < c.BackoffMinNS:
		return fmt.Errorf("back-off from %d to %d ns: at least 1 ns, rising", c.BackoffMinNS, c.BackoffMaxNS)
	case c.CacheBytes < store.MinCacheBytes:
		return fmt.Errorf("cache.bytes %d: at least %d; to run without, set cache.enabled=false", c.CacheBytes, store.MinCacheBytes)
	case c.MaxAttempts < 1:
		return fmt.Errorf("max attempts %d: at least 1", c.MaxAttempts)
	}
	return nil
}
