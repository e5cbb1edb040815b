package web

import (
	"errors"
	"testing"

	"drtmx/cluster/job"
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

// What was computed before the agent began is there at once; a chapter computes what of it other code has made.
func TestKnownFigures(t *testing.T) {
	d := newFigureReader(t)
	for id, differs := range map[string]bool{"2-4a": true, "2-4b": false} {
		load := func() (job.Figure, error) { return &fakeFigure{ID: id}, nil }
		d.known[id] = job.KnownFigure{Scale: "quick", Claims: job.Verdicts{Holds: 7}, Load: load, Made: &job.Made{Code: "src-1", Differs: differs}}
	}
	var list []struct{ N int }
	for _, info := range d.jobs.Figures() {
		s, err := d.jobs.FigureBrief(info.ID)
		if err != nil || s.Base == nil || s.Base.Made == nil || s.Base.N == 0 || s.Base.Figure != nil || s.Base.Claims.Holds != 7 {
			t.Fatalf("%+v %v", s, err)
		}
		list = append(list, struct{ N int }{s.Base.N})
	}
	if list[0] == list[1] {
		t.Errorf("both have number %d", list[0].N)
	}
	d.ask("GET", "", "").want(t, 200, `"figure":"2-4a"`)
	d.ask("GET", "/state", "").want(t, 200, `"differs":true`)
	if svg, err := d.jobs.Sketch("2-4b"); err != nil || svg != "<svg/>" {
		t.Errorf("%q %v", svg, err)
	}
	broken := newFigureReader(t)
	broken.known["2-4a"] = job.KnownFigure{Load: func() (job.Figure, error) { return nil, errors.New("half a file") }}
	if f, err := broken.jobs.Figure("2-4a"); err != nil || f.Base != nil || f.Failed != "half a file" {
		t.Errorf("what cannot be read: %+v %v", f, err)
	}
	s := served(t, d.jobs, Options{})
	ask(t, s, "POST", "/api/figures", `{"chapter":2}`).want(t, 202, `["figure 2-4a"]`)
	d.ends(3)
	if f, err := d.jobs.Figure("2-4a"); err != nil || f.Base.Made != nil {
		t.Errorf("it was computed here: %+v %v", f.Base, err)
	}
	ask(t, s, "POST", "/api/figures", `{"chapter":2}`).want(t, 202, `[]`)
}
