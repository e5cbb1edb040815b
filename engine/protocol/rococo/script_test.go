package rococo

import (
	"fmt"
	"testing"

	"drtmx/engine/record"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/txn/scripttest"
)

// TestScripts runs the golden interaction scripts of what reads snapshots.
func TestScripts(t *testing.T) {
	scripttest.Run(t, scripttest.Protocol{
		Config: func(map[string]string) (txn.Config, error) { return Default(), nil },
		Row:    func(row []byte) string { return fmt.Sprintf("seq %x", record.LockSeq.StampOf(row)) },
		Dated: func(cfg txn.Config, o timestamp.Options) txn.Config {
			c := cfg.(Config)
			c.Timestamps = o
			return c
		},
	})
}
