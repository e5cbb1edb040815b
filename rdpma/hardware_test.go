package rdpma

import (
	"testing"

	"drtmx/engine/fabric"
)

func prepare(t testing.TB, c *fabric.Config) {}
