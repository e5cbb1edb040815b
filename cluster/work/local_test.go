package work_test

import (
	"context"
	"errors"
	"testing"

	"drtmx/cluster/work"
	"drtmx/cluster/work/worktest"
)

func TestLocal(t *testing.T) {
	worktest.Suite(t, func(t *testing.T) work.Queue {
		q := work.NewLocal()
		t.Cleanup(q.Close)
		return q
	})
}

func TestCloseEndsWhoWaits(t *testing.T) {
	q := work.NewLocal()
	ended := make(chan error)
	go func() {
		_, err := q.Do(context.Background(), worktest.Point(t, 1))
		ended <- err
	}()
	q.Close()
	if err := <-ended; err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
