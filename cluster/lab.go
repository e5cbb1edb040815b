package cluster

import (
	"context"

	"drtmx/cluster/lab"
	"drtmx/cluster/work"
	"drtmx/dashboard/charts"
	"drtmx/engine/batch"
)

// Lab is where workers compute the points of sweeps and figures, see package lab. Where that returns an error, this one
// fails the cell.
type Lab struct{ *lab.Lab }

// JoinLab connects to a lab, as "nats://host:4222". In a notebook:
//
//	lab := cluster.JoinLab("nats://host:4222")
//	cluster.Sweep(spec, axis, lab)
func JoinLab(url string) *Lab {
	l, err := OpenLab(charts.Context(), work.Options{URL: url})
	must(err)
	return l
}

// JoinLabWith is JoinLab with a credentials file and the certificate of the CA that signed the server's; "" for none.
func JoinLabWith(url, creds, ca string) *Lab {
	l, err := OpenLab(charts.Context(), work.Options{URL: url, Creds: creds, CA: ca})
	must(err)
	return l
}

// OpenLab is JoinLab for programs.
func OpenLab(ctx context.Context, o work.Options) (*Lab, error) {
	l, err := lab.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Lab{l}, nil
}

// StartLab starts a server and so many workers on this machine, each a process of its own with one point at once. It needs the
// command drtmx; see lab.CommandPath. Close ends them, and so does the end of this process.
func StartLab(workers int) *Lab {
	l, err := lab.Start(charts.Context(), workers)
	must(err)
	return &Lab{l}
}

// Use says where runs are computed: in the lab, or for nil in a queue of this process. The function is called when all have ended.
func (l *Lab) Use() (batch.Runner, func()) {
	if l == nil {
		return lab.InProcess()
	}
	return l.Runner(), func() {}
}

// Workers are those of the lab, as they are now.
func (l *Lab) Workers() *lab.Workers {
	w, err := l.Ask(charts.Context())
	must(err)
	return w
}

func (l *Lab) over(_ *[]Axis, o *SweepOptions) { o.Lab = l }
