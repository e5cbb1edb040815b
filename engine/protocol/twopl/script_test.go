package twopl

import (
	"fmt"
	"strconv"
	"testing"

	"drtmx/dst/oracle"
	"drtmx/engine/knob"
	"drtmx/engine/record"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/txn/scripttest"
)

// TestScripts: what the protocol does, request by request. A cluster's options are deadlock, timeout (in ns), isolation,
// replicas, speculative and passive.
func TestScripts(t *testing.T) {
	plain := func(v uint64) string { return strconv.FormatUint(v, 10) }
	stamp := plain
	scripttest.Run(t, scripttest.Protocol{
		Config: scripted,
		Row: func(row []byte) string {
			if h := record.Versioned; len(row) == h.Bytes+8 {
				return fmt.Sprintf("lock %x tuple %d version %s", record.LockSeq.LockOf(row), h.ReadOf(row), stamp(h.VersionOf(row)))
			}
			return fmt.Sprintf("lock %x seq %x", record.LockSeq.LockOf(row), record.LockSeq.StampOf(row))
		},
		Dated: func(cfg txn.Config, o timestamp.Options) txn.Config {
			c := cfg.(Config)
			c.Timestamps = o
			if stamp = plain; o.Scheme == oracle.VTS.Name {
				stamp = func(v uint64) string { return scripttest.StampText(timestamp.Stamp(v)) }
			}
			return c
		},
	})
}

// scripted makes the configuration of a script: one attempt.
func scripted(options map[string]string) (txn.Config, error) {
	cfg := Default()
	for k, v := range options { // order-free: each sets a field of its own
		var err error
		n := 0
		switch k {
		case "deadlock":
			n, err = knob.ParseName(k, deadlockNames[:], v)
			cfg.Deadlock = Deadlock(n)
		case "timeout":
			cfg.TimeoutNS, err = strconv.ParseInt(v, 10, 64)
		case "isolation":
			n, err = knob.ParseName(k, isolationNames[:], v)
			cfg.Isolation = Isolation(n)
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
