package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"drtmx/cluster/agent"
	"drtmx/cluster/agent/agenttest"
	"drtmx/cluster/session"
	"drtmx/cluster/system/systemtest"
	"drtmx/dashboard/charts/palette"
	"drtmx/dashboard/charts/palette/palettetest"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/txn"
	"drtmx/engine/workload/smallbank"
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "drtmx-cluster-test")
	if err != nil {
		panic(err)
	}
	os.Unsetenv("DRTMX_RUNS")
	os.Setenv("XDG_DATA_HOME", dir) // finished runs of the tests are not the user's
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func tiny() Spec { return systemtest.Tiny() }

func fails(t *testing.T, says string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		f, ok := recover().(*Failure)
		if !ok || !strings.Contains(f.Error(), says) || strings.Contains(f.Error(), "\n") {
			t.Errorf("failed with %v, want a line with %q", f, says)
		}
	}()
	f()
	t.Error("did not fail")
}

// drawn checks that a value shows itself, as text and in a notebook.
func drawn(t *testing.T, v interface {
	String() string
	HTML() string
}, says ...string) {
	t.Helper()
	h := v.HTML()
	for _, s := range says {
		if !strings.Contains(v.String(), s) {
			t.Errorf("%T as text lacks %q: %s", v, s, v.String())
		}
		if !strings.Contains(h, s) {
			t.Errorf("%T as HTML lacks %q", v, s)
		}
	}
	palettetest.Check(t, fmt.Sprintf("%T", v), h, 0)
	if strings.Contains(h, "http://") && !strings.Contains(h, "127.0.0.1") && !strings.Contains(h, "www.w3.org") {
		t.Errorf("%T refers to another machine", v)
	}
}

// notebook is the contract's example, and returns what it showed.
func notebook(t *testing.T) string {
	c := Up(tiny())
	defer c.Close()
	drawn(t, c, "drtm+h", "nodes")
	base := c.Run(400 * time.Microsecond)
	drawn(t, base, "strict-serializable")
	drawn(t, base.Why(), "transaction")
	drawn(t, base.Checks(), "strict-serializable")
	if ch := c.Set("phase.commit", "two-sided"); !strings.Contains(ch.String(), "phase.commit = two-sided") {
		t.Errorf("%s", ch)
	}
	if _, err := c.c.Set("workload.payload", 16); err == nil || !strings.Contains(err.Error(), "workload.payload = 16B: has no effect here: workload "+c.Spec().Workload+" does not use it") {
		t.Errorf("%v", err)
	}
	if ch := c.Set("workload.payload", "64B"); !strings.HasSuffix(ch.String(), "\nworkload.payload has no effect here: workload "+c.Spec().Workload+" does not use it") {
		t.Errorf("%s", ch)
	}
	after := c.Run(400 * time.Microsecond)
	cmp := Compare(base, after)
	drawn(t, cmp, "phase.commit", "throughput", "two-sided")
	if d := cmp.Metric("throughput"); d.A != base.Throughput || d.B != after.Metric("throughput") {
		t.Errorf("%+v", d)
	}
	ab := AB(c.Spec(), Knobs{"ddio": true}, Knobs{"ddio": false})
	watched := ab.Watch(300 * time.Microsecond)
	ab.Close()
	drawn(t, watched, "ddio")
	s := Sweep(c.Spec(), Axis{"coroutines", []int{1, 2}}, Axis{"phase.validation", []string{"one-sided", "two-sided"}})
	drawn(t, s, "coroutines")
	if svg := s.Chart("throughput", "latency_us.p50").SVG(); !strings.Contains(svg, "<svg") {
		t.Errorf("chart without SVG: %.80q", svg)
	}
	tr := c.Trace(2)
	if text := tr.String(); !strings.Contains(text, "after 1 attempt, ") || !strings.Contains(text, " to machine ") {
		t.Error(text)
	}
	drawn(t, tr, "execution")
	palettetest.Check(t, "trace", tr.SVG(), 5)
	for _, p := range tr.Raw[0].Phases {
		if l, _ := palette.Phases.Of(p.Phase); !strings.Contains(tr.SVG(), l.Colour) {
			t.Errorf("phase %s is not drawn in %s", p.Phase, l.Colour)
		}
	}
	if !strings.HasPrefix(tr.SVG(), "<svg") {
		t.Errorf("trace: %.80q", tr.SVG())
	}
	picked := c.TraceOf("balance", 0.9)
	drawn(t, picked, "p90 balance")
	inside := base.Node(0).Beside(after.Node(1))
	drawn(t, inside, "Node 0", "Node 1")
	if svg := base.Node(2).SVG(); !strings.HasPrefix(svg, "<svg") || !strings.Contains(svg, "DDIO in") {
		t.Errorf("node: %.80q", svg)
	}
	calls := 0
	c.AddTransaction("swap", 100, func(tx *txn.Tx) error {
		calls++
		for k, v := range []int64{1, 2} {
			if err := tx.PutInt(smallbank.Checking, uint64(k), v); err != nil {
				return err
			}
		}
		return nil
	})
	last := c.Run(300 * time.Microsecond)
	if calls == 0 || last.Raw.ByType["swap"].Commits == 0 || !last.Checks().OK() {
		t.Errorf("%d calls, %+v, %s", calls, last.Raw.ByType["swap"], last.Checks())
	}
	return fmt.Sprint(base.Digest, cmp, watched, s, tr, picked, inside, last.Digest)
}

func TestNotebookGivesTheSameNumbersTwice(t *testing.T) {
	if a, b := notebook(t), notebook(t); a != b {
		t.Errorf("first\n%s\nthen\n%s", a, b)
	}
}

func TestErrorsFailTheCellWithOneLine(t *testing.T) {
	fails(t, "nodez", func() { Up(Spec{Set: Knobs{"nodez": 1}}) })
	fails(t, "is drtmx up", func() { Attach("127.0.0.1:1") })
	c := Up(tiny())
	defer c.Close()
	fails(t, "coroutinez", func() { c.Set("coroutinez", 1) })
	fails(t, "nodes", func() { c.Set("nodes", 4) })
	fails(t, "above 0", func() { c.Run(0) })
	fails(t, "txns", func() { c.Trace(0) })
	fails(t, "percentile", func() { c.TraceOf("balance", 99) })
	fails(t, "no such transaction type", func() { c.TraceOf("new-order", 0.5) })
	fails(t, "from 0 to", func() { c.Run(20 * time.Microsecond).Node(99) })
	fails(t, "coroutines", func() { Sweep(c.Spec(), Axis{"coroutines", []int{}}) })
	fails(t, "none given", func() { Sweep(c.Spec()) })
	s := Sweep(c.Spec(), Axis{"coroutines", []int{1, 2}})
	fails(t, `metric = "nonsense": no point of the sweep has such a number; there are throughput, latency_us.p50, `, func() { s.Chart("throughput", "nonsense") })
	fails(t, "utilization.*", func() { s.Table("utilization.gpu.mean") })
	s.Chart("phases.execution.share")
	axis, err := experiment.NewAxis("coroutines", []int{1})
	if err != nil {
		t.Fatal(err)
	}
	stuck := &SweepResult{&batch.SweepResult{Axes: []experiment.Axis{axis}, Points: []batch.SweepPoint{{Set: Knobs{"coroutines": 1}, Error: "no progress"}}}}
	drawn(t, stuck, "no progress")
	fails(t, "coroutines = 1: no progress", func() { stuck.Chart() })
	fails(t, "weight", func() { c.AddTransaction("x", -1, func(*txn.Tx) error { return nil }) })
	fails(t, "no such number", func() { c.Run(100 * time.Microsecond).Metric("speed") })
	fails(t, "did you mean throughput?", func() { c.Run(100 * time.Microsecond).Metric("thruput") })
	fails(t, "no such knob", func() { c.Knob("speed") })
	c.AddTransaction("broken", 50, func(*txn.Tx) error { panic("oops") })
	fails(t, "transaction broken panicked: oops", func() { c.Run(time.Millisecond) })
	fails(t, "reset it", func() { c.Run(time.Millisecond) })
	c.Reset(nil)
	if c.Run(100*time.Microsecond).Raw.Commits == 0 {
		t.Error("nothing runs after a reset")
	}
}

func TestNotebookAndPageSeeEachOther(t *testing.T) {
	c := Up(tiny())
	defer c.Close()
	page := c.Dashboard()
	if page.URL != c.Dashboard().URL {
		t.Error("a second page")
	}
	drawn(t, page, page.URL)
	drawn(t, c, "drtm+h")
	other := Attach(page.URL)
	r := other.Run(200 * time.Microsecond)
	if c.NowNS() != 200_000 || r.Raw.VirtualNS != 200_000 {
		t.Errorf("at %d", c.NowNS())
	}
	other.Set("coroutines", 1)
	if fmt.Sprint(c.Knob("coroutines")) != "1" {
		t.Errorf("coroutines = %v", c.Knob("coroutines"))
	}
	c.Set("coroutines", 2)
	l := c.c.d.(*local)
	ev, err := l.Agent.Events(context.Background(), "a")
	if err != nil || len(ev) != 2 || ev[0].By != "notebook" || ev[1].By != "notebook" {
		t.Errorf("%+v, %v", ev, err)
	}
	f := other.Fork(Knobs{"phase.validation": "two-sided"})
	systemtest.Eventually(t, "the fork has caught up", func() bool { return !agenttest.State(t, l.Agent, f.c.Sys()).CatchingUp })
	if a, b := c.Run(200*time.Microsecond), f.Run(200*time.Microsecond); a.Digest == b.Digest {
		t.Error("the fork does not differ")
	}
	fails(t, "another process", func() { other.AddTransaction("x", 1, func(*txn.Tx) error { return nil }) })
	if tr := other.Trace(1); len(tr.Raw) != 1 {
		t.Errorf("%+v", tr)
	}
}

func TestForkAndSessionOfARealCluster(t *testing.T) {
	c, err := Start(tiny())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i, k := range []Knobs{{"phase.validation": "two-sided"}, {"coroutines": 1}, {"preset": "fasst"}, {"preset": "farm", "coroutines": 2}, {"ddio": false}} {
		if _, err := c.Run(time.Duration(50+i*7) * time.Microsecond); err != nil {
			t.Fatal(err)
		}
		if _, err := c.SetAll(k); err != nil {
			t.Fatal(err)
		}
	}
	f, err := c.Fork(nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Run(100 * time.Microsecond)
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.Run(100 * time.Microsecond)
	if err != nil {
		t.Fatal(err)
	}
	if a.Digest != b.Digest {
		t.Errorf("the fork has digest %s, its origin %s", b.Digest, a.Digest)
	}
	s, err := c.Session()
	if err != nil {
		t.Fatal(err)
	}
	r, err := session.Replay(context.Background(), bytes.NewReader(s), session.ReplayOptions{})
	if err != nil || !r.OK || r.Digest != a.Digest {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestForgottenClustersAreClosed(t *testing.T) {
	before := alive.Load()
	for range 3 {
		Up(tiny()).Run(20 * time.Microsecond) // kept alive by its own run only
	}
	systemtest.Eventually(t, "nothing is left", func() bool { runtime.GC(); return alive.Load() <= before })
}

func TestInterruptedRunSaysSo(t *testing.T) {
	fails(t, "interrupted", func() { must(fmt.Errorf("run: %w", errInterrupted())) })
	var f *Failure
	if !errors.As(error(&Failure{Err: agent.ErrClosed}), &f) || !errors.Is(f, agent.ErrClosed) {
		t.Error("a failure hides its cause")
	}
}

func errInterrupted() error {
	c, err := Start(tiny())
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = c.WithContext(ctx).Run(time.Second)
	return err
}

// A transaction that calls its own cluster would wait for itself.
func TestTransactionCannotCallItsCluster(t *testing.T) {
	for name, call := range map[string]func(c *Cluster){
		"run":     func(c *Cluster) { c.Run(time.Microsecond) },
		"set":     func(c *Cluster) { c.Set("coroutines", 3) },
		"windows": func(c *Cluster) { c.Windows(0) },
	} {
		c := Up(tiny())
		c.AddTransaction("own", 100, func(*txn.Tx) error {
			var deep func(n int)
			deep = func(n int) { // as the interpreter's calls
				if n == 0 {
					call(c)
					return
				}
				deep(n - 1)
			}
			deep(200)
			return nil
		})
		fails(t, "transaction own panicked: a transaction cannot call Run, Set and the like", func() { c.Run(time.Millisecond) })
		c.Reset(nil)
		if r := c.Run(100 * time.Microsecond); r.Throughput == 0 {
			t.Errorf("%s: nothing runs after a reset", name)
		}
		c.Close()
	}
}

// A number of the hardware goes wherever the other knobs go: the spec, a reset, a fork, the session.
func TestHardwareOfACluster(t *testing.T) {
	spec := tiny()
	spec.Set["hardware.wire.switch"] = 500 * time.Nanosecond
	c := Up(spec)
	defer c.Close()
	fails(t, "reset the system", func() { c.Set("hardware.wire.switch", 400) })
	first := c.Run(50 * time.Microsecond)
	if want := "val@1+hardware.wire.switch=500"; first.Raw.Profile != want || c.Knob("hardware.wire.switch") != 500.0 || !strings.Contains(c.String(), "hardware.wire.switch 500 ns") {
		t.Errorf("profile %s, the card:\n%s", first.Raw.Profile, c)
	}
	f := c.Fork(Knobs{"coroutines": 1})
	if got := f.Knob("hardware.wire.switch"); got != 500.0 {
		t.Errorf("the fork's is %v", got)
	}
	f.Close()
	text, err := c.c.d.(*local).Agent.Session(context.Background(), "a")
	if err != nil {
		t.Fatal(err)
	}
	again, err := session.Replay(context.Background(), bytes.NewReader(text), session.ReplayOptions{})
	if err != nil || !again.OK || again.Result.Profile != first.Raw.Profile {
		t.Errorf("replayed: %+v, %v", again, err)
	}
	c.Reset(Knobs{"hardware.wire.switch": 90})
	plain := c.Run(50 * time.Microsecond)
	if plain.Raw.Profile != "val@1" || plain.Raw.LatencyUS.Mean >= first.Raw.LatencyUS.Mean {
		t.Errorf("after the reset %s, %.3f µs, before %.3f", plain.Raw.Profile, plain.Raw.LatencyUS.Mean, first.Raw.LatencyUS.Mean)
	}
	chart := Sweep(c.Spec(), Axis{"hardware.wire.switch", []int{90, 500}}).Chart("latency_us.p50")
	if !strings.Contains(chart.SVG(), "hardware.wire.switch (ns)") {
		t.Error("the axis has no unit")
	}
}

// TestKnobsAreATable: the list that notebooks show is no dump of a struct.
func TestKnobsAreATable(t *testing.T) {
	c := Up(tiny())
	defer c.Close()
	ks := c.Knobs()
	if text := ks.String(); strings.Count(text, "\n") != len(ks) || !strings.Contains(text, "\nnodes  ") || strings.Contains(text, "<nil>") {
		t.Error(text)
	}
	if page := ks.HTML(); strings.Count(page, "<tr>") != len(ks)+1 || !strings.Contains(page, "by Reset") {
		t.Error(page)
	}
}

// TestSetSaysHowToReset: the error of a knob that is not live is the cell that does what was meant.
func TestSetSaysHowToReset(t *testing.T) {
	c := Up(tiny())
	defer c.Close()
	fails(t, `c.Reset(cluster.Knobs{"nodes": 4}) begins again with it`, func() { c.Set("nodes", 4) })
	fails(t, `c.Reset(cluster.Knobs{"coroutines": 4, "workload": "cycle"}) begins again with it`, func() { c.SetAll(Knobs{"workload": "cycle", "coroutines": 4}) })
	c.Reset(Knobs{"nodes": 4})
	if n := c.Knob("nodes"); n != 4 {
		t.Error(n)
	}
}
