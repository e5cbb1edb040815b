package agent

import (
	"testing"
	"time"

	"drtmx/engine/experiment"
)

func TestCheckPace(t *testing.T) {
	hour := int64(time.Hour)
	for ns, good := range map[int64]bool{0: true, 1: true, DefaultPace: true, hour: true, hour + 1: false, -1: false} {
		if err := CheckPace("pace", "typed", ns); (err == nil) != good || !good && !experiment.IsSpecError(err) {
			t.Errorf("%d ns per second: %v", ns, err)
		}
	}
}
