package server

import (
	"context"
	"testing"
	"time"

	"drtmx/cluster/work"
	"drtmx/cluster/work/worktest"
)

func start(t testing.TB, o Options) *Server {
	t.Helper()
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func dial(t testing.TB, o work.Options) *work.Remote {
	t.Helper()
	if o.AckWait == 0 {
		o.AckWait = 2 * time.Second
	}
	q, err := work.Dial(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q
}

func TestRemote(t *testing.T) {
	worktest.Suite(t, func(t *testing.T) work.Queue { return dial(t, work.Options{URL: start(t, Options{}).URL()}) })
}
