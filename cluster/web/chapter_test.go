package web

import (
	"testing"

	"drtmx/cluster/system/systemtest"
)

// A chapter is computed figure by figure in its order, what is there already is left, and
// all of it can be cancelled.
func TestChapter(t *testing.T) {
	d := newFigureReader(t)
	s := served(t, d.jobs, Options{})
	all := func(method, body string) reply { return ask(t, s, method, "/api/figures", body) }
	states := func() (running, waits string) {
		for _, info := range d.jobs.Figures() {
			f, err := d.jobs.Figure(info.ID)
			if err != nil {
				t.Fatal(err)
			}
			if f.Running != nil && f.Running.Waits {
				waits += info.ID
			} else if f.Running != nil {
				running += info.ID
			}
		}
		return running, waits
	}
	are := func(running, waits string) {
		t.Helper()
		systemtest.Eventually(t, running+" runs and "+waits+" waits", func() bool { r, w := states(); return r == running && w == waits })
	}
	all("POST", `{"chapter":9}`).want(t, 400, "no figures of that chapter")
	all("POST", `{"chapter":2,"scale":"huge"}`).want(t, 400, "quick or paper")
	all("POST", `{"chapter":2}`).want(t, 202, `"figure 2-4a","figure 2-4b"`)
	are("2-4a", "2-4b")
	all("DELETE", `{"chapter":2}`).want(t, 200, `"cancelled":2`)
	are("", "")
	all("POST", `{"chapter":2}`).want(t, 202, `"figure 2-4a","figure 2-4b"`)
	for range 3 {
		d.next <- nil
	}
	are("2-4b", "")
	d.askOf("2-4b", "DELETE", "").want(t, 200, "cancelled")
	are("", "")
	all("POST", `{"chapter":2}`).want(t, 202, `["figure 2-4b"]`)
	for range 3 {
		d.next <- nil
	}
	are("", "")
	all("POST", `{"chapter":2}`).want(t, 202, `[]`)
	all("POST", `{"chapter":2,"scale":"paper"}`).want(t, 202, `"figure 2-4a","figure 2-4b"`)
	for range 6 {
		d.next <- nil
	}
	are("", "")
	all("POST", `{"chapter":2}`).want(t, 202, `[]`) // quick scale would take the place of what is better
	if svg, err := d.jobs.Sketch("2-4a"); err != nil || svg != "<svg/>" {
		t.Errorf("%q %v", svg, err)
	}
	if svg, err := newFigureReader(t).jobs.Sketch("2-4a"); err != nil || svg != "<svg><!-- published --></svg>" {
		t.Errorf("%q %v", svg, err)
	}
}
