package dashboard

import (
	"net/http"

	"drtmx/cluster/job"
	"drtmx/cluster/system"
	"drtmx/dashboard/windows"
	"drtmx/engine/batch"
)

// why is what limits two systems side by side, and the difference.
type why struct {
	Running bool              `json:"running"`
	Done    int               `json:"done"` // of both, thousandths
	Failed  string            `json:"failed,omitempty"`
	Measure []string          `json:"measure"` // systems without causes under their present knobs
	Diff    *batch.CausesDiff `json:"diff,omitempty"`
}

// whyOf answers with the causes of two systems that were measured under their present knobs: ?a=&b=.
func (p *page) whyOf(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	out := why{Measure: []string{}}
	var states [2]job.CausesState
	for i, sys := range []string{q.Get("a"), q.Get("b")} {
		s, err := windows.SnapshotOf(p.source, sys)
		if err == nil {
			states[i], err = p.source.Causes(sys)
		}
		if err != nil {
			fail(w, err)
			return
		}
		c := &states[i]
		if c.Running {
			out.Running = true
			out.Done += c.Done / 2
			continue
		}
		if c.Failed != "" {
			out.Failed = "system " + sys + ": " + c.Failed
		}
		if !presentCauses(c, s) {
			out.Measure = append(out.Measure, sys)
			continue
		}
		out.Done += 500
	}
	if !out.Running && len(out.Measure) == 0 {
		a, b := states[0].Causes, states[1].Causes
		out.Diff = batch.CompareCauses(p.called(q.Get("a")), p.called(q.Get("b")), a, b)
	}
	answer(w, out)
}

// presentCauses says that all groups were measured under the knobs that a system has now.
func presentCauses(c *job.CausesState, s system.Snapshot) bool {
	return c.Causes != nil && c.Causes.Sum != nil && c.KnobsVersion == s.KnobsVersion && c.Epoch == s.Epoch
}

// called is what a sentence calls a system: as its card does.
func (p *page) called(sys string) string {
	all := p.source.Systems()
	var hs []history
	for _, s := range all {
		hs = append(hs, history{snap: s, ghost: isGhost(s, all)})
	}
	callByName(hs)
	for _, h := range hs {
		switch {
		case h.snap.Sys != sys:
		case h.ghost:
			return h.name()
		default:
			return shortName(h)
		}
	}
	return "system " + sys
}
