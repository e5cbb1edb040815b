package chapter5

import (
	"os"
	"testing"

	"drtmx/cluster/runs/runstest"
)

func TestMain(m *testing.M) { os.Exit(runstest.Main(m)) }
