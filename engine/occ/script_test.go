package occ

import (
	"fmt"
	"strconv"
	"testing"

	"drtmx/engine/record"
	"drtmx/engine/txn"
	"drtmx/engine/txn/scripttest"
)

// TestScripts: what the presets and some mixtures do, request by request. A cluster's options are
// preset, speculative, replicas, lock and commit.
func TestScripts(t *testing.T) {
	scripttest.Run(t, scripttest.Protocol{
		Config: scriptConfig,
		Row:    func(row []byte) string { return fmt.Sprintf("lock %x seq %d", record.Lock(row), record.Seq(row)) },
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
			cfg.ResendLog, cfg.AwaitReclaim = v != "background", v == "awaited"
		case "together":
			cfg.CommitTogether = v == "true"
		case "replicas":
			cfg.Replicas, err = strconv.Atoi(v)
		case "lock":
			cfg.Lock, err = ParsePrim(v)
		case "commit":
			cfg.Commit, err = ParsePrim(v)
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
