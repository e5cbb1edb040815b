package cluster

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"drtmx/cluster/agent/agenttest"
	"drtmx/cluster/system/systemtest"
)

// A fork ends alone, once, and leaves its name to the next.
func TestCloseOfAForkEndsTheForkAlone(t *testing.T) {
	up := Up(tiny())
	defer up.Close()
	for where, c := range map[string]*Cluster{"here": up, "behind an address": Attach(up.Dashboard().URL)} {
		f := c.Fork(nil)
		f.Close()
		fails(t, "no such system", func() { f.Run(20 * time.Microsecond) })
		g := c.Fork(Knobs{"coroutines": 1})
		f.Close() // its name is g's now
		g.Run(20 * time.Microsecond)
		c.Run(20 * time.Microsecond)
		if n := len(up.c.d.(*local).Agent.Systems()); n != 2 {
			t.Errorf("%s: %d systems", where, n)
		}
		g.Close()
	}
	f := up.Fork(nil)
	up.Close()
	f.Close()
}

// The next line uses the fork, also of a cluster behind an address.
func TestForkOfAnAttachedClusterHasCaughtUp(t *testing.T) {
	up := Up(tiny())
	defer up.Close()
	c := Attach(up.Dashboard().URL)
	c.Run(5 * time.Millisecond)
	f := c.Fork(Knobs{"coroutines": 1})
	if now := f.NowNS(); now != 5_000_000 {
		t.Errorf("the fork is at %d", now)
	}
	f.Run(20 * time.Microsecond)
}

// An interrupt while a fork catches up leaves none.
func TestInterruptedForkIsClosed(t *testing.T) {
	a := agenttest.Several(t, systemtest.Options{Slow: 20 * time.Millisecond})
	if err := a.Step(context.Background(), "a", 100_000); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := (&Client{d: &local{Agent: a}, sys: "a", ctx: ctx}).Fork(nil)
		ended <- err
	}()
	systemtest.Eventually(t, "there is a fork", func() bool { return len(a.Systems()) == 2 })
	cancel()
	if err := <-ended; err == nil {
		t.Error("a fork came of it")
	}
	if n := len(a.Systems()); n != 1 {
		t.Errorf("%d systems", n)
	}
}

// A cell with a fork can be run again and again; forks that a variable holds stay.
func TestForgottenForksMakeRoom(t *testing.T) {
	c := Up(tiny())
	defer c.Close()
	held := c.Fork(nil)
	for range 5 {
		c.Fork(Knobs{"coroutines": 1}).Run(20 * time.Microsecond)
	}
	held.Run(20 * time.Microsecond)
	second, third := c.Fork(nil), c.Fork(nil)
	fails(t, "at most 4 at once", func() { c.Fork(nil) })
	second.Run(20 * time.Microsecond)
	third.Run(20 * time.Microsecond)
	runtime.KeepAlive(held)
}

func TestClosedClusterSaysSo(t *testing.T) {
	c := Up(tiny())
	c.Dashboard()
	c.Close()
	if s := c.String(); !strings.Contains(s, "the cluster is closed") {
		t.Error(s)
	}
	fails(t, "the cluster is closed", func() { c.HTML() })
	fails(t, "the cluster is closed", func() { c.Dashboard() })
}
