package dashboard

import (
	"strings"
	"testing"

	"drtmx/cluster/system"
)

// Every system is a line that ends at 1, which is the top, named and drawn as on the timeline.
func TestDistribution(t *testing.T) {
	f := newFake(t)
	f.systems = append(f.systems, system.Snapshot{Sys: "b", Epoch: "e2", ForkedFrom: "a", ForkEpoch: "e1"})
	x := get(t, Handler(f), "/page/distribution?w=700&h=300&format=option")
	option := x.Body.String()
	if x.Code != 200 || !strings.Contains(option, "[3,1") || !strings.Contains(option, `"name":"system a"`) || !strings.Contains(option, `"name":"ghost b"`) || !strings.Contains(option, `"dashed"`) || !strings.Contains(option, `"max":1,`) || !strings.Contains(option, "share of requests") {
		t.Errorf("%d: %.2000s", x.Code, option)
	}
	if x := get(t, Handler(f), "/page/distribution?w=700&h=300"); x.Code != 200 || !strings.Contains(x.Body.String(), "<svg") {
		t.Errorf("%d: %.200s", x.Code, x.Body)
	}
	if x := get(t, Handler(&fakeSource{}), "/page/distribution"); x.Code != 204 {
		t.Errorf("without a system: %d", x.Code)
	}
}
