package dashboard

import (
	"strings"
	"testing"

	"drtmx/cluster/system"
)

// Every system in which snapshots run is a line, and one whose scheme promises a bound has a mark there.
func TestStaleness(t *testing.T) {
	f := newFake(t)
	f.systems = append(f.systems, system.Snapshot{Sys: "b", Epoch: "e2"})
	x := get(t, Handler(f), "/page/staleness?w=700&h=300&format=option")
	option := x.Body.String()
	if x.Code != 200 || !strings.Contains(option, "[1,100") || !strings.Contains(option, "[30,25") || strings.Count(option, "bound of system") != 1 || !strings.Contains(option, "bound of system a") || !strings.Contains(option, `"xAxis":40`) || !strings.Contains(option, "reads at least as old") {
		t.Errorf("%d: %.2500s", x.Code, option)
	}
	if x := get(t, Handler(f), "/page/staleness?w=700&h=300"); x.Code != 200 || !strings.Contains(x.Body.String(), "<svg") || !strings.Contains(x.Body.String(), "bound") {
		t.Errorf("%d: %.200s", x.Code, x.Body)
	}
	if x := get(t, Handler(&fakeSource{}), "/page/staleness"); x.Code != 204 {
		t.Errorf("without a system: %d", x.Code)
	}
}
