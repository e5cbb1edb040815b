package nowait

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"testing"

	"drtmx/engine/coordinator"
	"drtmx/engine/knob"
	"drtmx/engine/txn"
	"drtmx/engine/txn/scripttest"
)

// TestScripts: what the protocol does, request by request. A cluster's options are mode, lock,
// logging, replicas, speculative and passive.
func TestScripts(t *testing.T) {
	scripttest.Run(t, scripttest.Protocol{
		Config: scripted,
		Row:    func(row []byte) string { return fmt.Sprintf("word %x", binary.LittleEndian.Uint64(row)) },
	})
}

// scripted makes the configuration of a script: one attempt.
func scripted(options map[string]string) (txn.Config, error) {
	cfg := Default()
	for k, v := range options { // order-free: each sets a field of its own
		var err error
		n := 0
		switch k {
		case "mode":
			n, err = knob.ParseName(k, modeNames[:], v)
			cfg.Mode = Mode(n)
		case "lock":
			cfg.Lock, err = coordinator.ParsePrim(v)
		case "commit":
			cfg.Commit, err = coordinator.ParsePrim(v)
		case "logging":
			cfg.Logging, err = coordinator.ParsePrim(v)
		case "replicas":
			cfg.Replicas, err = strconv.Atoi(v)
		case "speculative":
			cfg.Speculative = v == "true"
		case "passive":
			cfg.Opt[txn.Commit].Passive = v == "true"
		default:
			err = fmt.Errorf("no option %s", k)
		}
		if err != nil {
			return nil, err
		}
	}
	cfg.MaxAttempts = 1
	return cfg, nil
}
