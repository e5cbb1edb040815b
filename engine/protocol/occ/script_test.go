package occ

import (
	"fmt"
	"strconv"
	"testing"

	"drtmx/engine/coordinator"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/txn/scripttest"
)

// TestScripts: what the presets and some mixtures do, request by request. A cluster's options are
// preset, speculative, replicas, lock and commit, and where records have versions ro_read and inline.
func TestScripts(t *testing.T) {
	scripttest.Run(t, scripttest.Protocol{
		Config: scriptConfig,
		Row: func(row []byte) string {
			if h := record.Versioned; len(row) == h.Bytes+8 {
				return fmt.Sprintf("lock %x tuple %d version %d", record.LockSeq.LockOf(row), h.ReadOf(row), h.VersionOf(row))
			}
			return fmt.Sprintf("lock %x seq %d", record.LockSeq.LockOf(row), record.LockSeq.StampOf(row))
		},
		Dated: func(cfg txn.Config, o timestamp.Options) txn.Config {
			c := cfg.(Config)
			o.Inline = c.Timestamps.Inline
			c.Timestamps = o
			c.Lock, c.Validation, c.Commit = TwoSided, TwoSided, TwoSided
			return c
		},
	})
}

// scriptConfig makes the configuration of a script: one attempt, with one more look at a locked record.
func scriptConfig(options map[string]string) (txn.Config, error) {
	cfg, _ := Preset(options["preset"])
	for k, v := range options { // order-free: each sets a field of its own
		var err error
		switch k {
		case "preset":
		case "speculative":
			cfg.Speculative = v == "true"
		case "reclaim":
			cfg.Reclaim = replication.ReclaimingOf(v)
		case "together":
			cfg.CommitTogether = v == "true"
		case "replicas":
			cfg.Replicas, err = strconv.Atoi(v)
		case "lock":
			cfg.Lock, err = coordinator.ParsePrim(v)
		case "ro_read":
			cfg.RORead, err = coordinator.ParsePrim(v)
		case "inline":
			cfg.Timestamps.Inline, err = strconv.Atoi(v)
		case "commit":
			cfg.Commit, err = coordinator.ParsePrim(v)
		default:
			err = fmt.Errorf("no option %s", k)
		}
		if err != nil {
			return nil, err
		}
	}
	cfg.MaxAttempts, cfg.ReadRetries = 1, 1
	return cfg, nil
}
