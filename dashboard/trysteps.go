package dashboard

import (
	"cmp"
	"net/http"

	"drtmx/dashboard/steps"
	"drtmx/dashboard/windows"
)

// trySteps answers with the steps of the spec that runs.
func (p *page) trySteps(w http.ResponseWriter, r *http.Request) {
	spec, err := p.source.Spec(r.Context(), sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	sys, err := windows.SnapshotOf(p.source, sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	name := cmp.Or(sys.Of, spec.Name)
	for _, s := range p.steps {
		if s.Spec == name {
			s.Each = sys.Of != ""
			answer(w, s)
			return
		}
	}
	answer(w, steps.Offer{Spec: name, Steps: []steps.Step{}})
}
