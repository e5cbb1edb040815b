package result

import (
	"drtmx/engine/code"
	"drtmx/engine/experiment"
)

// Current says whether this program would execute the same code again for a run: a result of its spec is valid still. A system
// whose changes have chosen other parts has the version of the whole build.
func (r *Result) Current() bool {
	if len(r.Changes) > 0 && r.Code == code.Build() {
		return true
	}
	spec, err := experiment.SpecOf("", r.Spec)
	if err != nil {
		return false // a knob or a value that there is no more
	}
	v, err := experiment.Resolve(spec)
	return err == nil && r.Code == code.Of(v)
}

// CodeOf is the version of the code that several results come from, "" of none.
func CodeOf(rs ...*Result) string {
	var versions []string
	for _, r := range rs {
		if r != nil {
			versions = append(versions, r.Code)
		}
	}
	return code.Join(versions...)
}
