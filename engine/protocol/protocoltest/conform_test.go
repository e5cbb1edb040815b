package protocoltest

import (
	"testing"

	"drtmx/engine/experiment"
)

// Every concurrency control of the list of parts.
func TestProtocols(t *testing.T) {
	for _, k := range experiment.Protocols {
		t.Run(k.Name, func(t *testing.T) { Conform(t, k) })
	}
}
