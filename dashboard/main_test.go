package dashboard_test

import (
	"os"
	"testing"

	"drtmx/cluster/runs/runstest"
)

func TestMain(m *testing.M) {
	code := runstest.Main(m)
	if chromium.stop != nil {
		chromium.stop()
	}
	os.Exit(code)
}
