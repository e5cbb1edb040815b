package cluster

import (
	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
)

// Keep keeps a result in the user's run store under a note, which may be "", and returns its id: r.Keep("as in the
// paper"). KeptResult and drtmx runs find it again.
func (r *Result) Keep(note string) string {
	s, err := runs.Default()
	must(err)
	id, err := keep.Run(s, note, r.Raw)
	must(err)
	return id.String()
}

// KeptResult is a result that was kept, by its id: cluster.Compare(cluster.KeptResult("r12"), c.Run(time.Millisecond)).
// r12.3 is the third run of a sweep or figure. It has no windows.
func KeptResult(id string) *Result {
	s, err := runs.Default()
	must(err)
	k, err := keep.Load(s, id)
	must(err)
	r, err := k.Result()
	must(err)
	return newResult(r, nil)
}
