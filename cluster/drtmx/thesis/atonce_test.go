package thesis

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"drtmx/cluster"
	"drtmx/cluster/lab"
	"drtmx/cluster/work"
	"drtmx/cluster/work/server"
	"drtmx/engine/code"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures"
)

// Several figures that workers compute come in their order, and one that is none ends all.
func TestFiguresAtOnce(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir()) // a run store of the test's own
	s, err := server.Start(server.Options{Listen: "127.0.0.1:0", Dir: t.TempDir(), Limits: work.Limits{Bytes: 1 << 30, Age: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	o := work.Options{URL: s.URL()}
	worker, err := work.Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	go worker.Work(ctx, work.Worker{Name: "w", Code: code.Build(), Parallel: 2, Compute: lab.Compute})
	l, err := cluster.OpenLab(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f := figureFlags{scale: figures.Quick, on: l}
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	cmd.SetErr(io.Discard)
	done, err := f.compute(cmd, []string{"2-persist", "2-14b", "3-12a"}, nil)
	if err != nil || len(done) != 3 || done[0].ID != "2-persist" || done[1].ID != "2-14b" || done[2].ID != "3-12a" {
		t.Errorf("%v, %v", done, err)
	}
	if _, err := f.compute(cmd, []string{"2-persist", "9-99"}, nil); !experiment.IsSpecError(err) {
		t.Errorf("%v", err)
	}
}
