package example

import (
	"testing"

	"drtmx/engine/example/inplace"
	"drtmx/engine/example/leased"
	"drtmx/engine/example/ordered"
	"drtmx/engine/example/prepared"
	"drtmx/engine/example/serial"
	"drtmx/engine/protocol/protocoltest"
)

// A protocol that is plugged in is held by the suite that holds those of drtmx: one call each.
func TestConforms(t *testing.T) {
	t.Run("serial", func(t *testing.T) { protocoltest.Conform(t, serial.Kind) })
	t.Run("inplace", func(t *testing.T) { protocoltest.Conform(t, inplace.Kind) })
	t.Run("leased", func(t *testing.T) { protocoltest.Conform(t, leased.Kind) })
	t.Run("ordered", func(t *testing.T) { protocoltest.Conform(t, ordered.Kind) })
	t.Run("prepared", func(t *testing.T) { protocoltest.Conform(t, prepared.Kind) })
}
