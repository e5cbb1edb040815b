package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"drtmx/engine/sim"
	"drtmx/engine/sim/cputime"
)

func TestPeerRows(t *testing.T) {
	rows := peerRows([]byte(`closed tandem, 64 jobs

| drtmx | events | 25.1 (24.0-26.0) | 39.84 | 1.000 | 0.2 |
events / ns-3: 0.372, at most 0.50: ok
process / simgo: 0.250, at most 0.20: too slow
process / SimGrid: not measured
`))
	if len(rows) != 3 {
		t.Fatalf("%d rows: %+v", len(rows), rows)
	}
	if r := rows[0]; !r.ok || r.value != 0.372 || !strings.HasSuffix(r.what, "our events / ns-3") {
		t.Errorf("%+v", r)
	}
	if r := rows[1]; !r.missed() || !strings.Contains(r.what, "our coroutines / simgo") {
		t.Errorf("%+v", r)
	}
	if r := rows[2]; r.missed() || !r.absent {
		t.Errorf("%+v", r)
	}
	text := table(rows)
	if strings.Count(text, "\n") != 5 || !strings.Contains(text, "| at most 0.20 (missed) |") {
		t.Error(text)
	}
}

// A measurement of a small system: everything but the numbers.
func TestMeasure(t *testing.T) {
	m := measurement{name: "t", what: "test", spec: smallbank("full").spec, warmNS: 20_000, spanNS: 100_000}
	var err error
	if m.spec, err = m.spec.With(map[string]any{"nodes": 3, "threads": 2, "coroutines": 2}); err != nil {
		t.Fatal(err)
	}
	v, err := m.run("")
	if err != nil {
		t.Fatal(err)
	}
	if v["rate"] <= 0 || v["events"] < 10 {
		t.Errorf("%v", v)
	}
	if rows := m.rows(map[string]sample{"t": sample{}.with(v)}); len(rows) != 1 || !rows[0].ok {
		t.Errorf("%+v", rows)
	}
	if err := printOne("nothing", ""); err == nil {
		t.Error("an unknown measurement is accepted")
	}
}

// The rows of a system: its rate, that over older versions', where they could be built, and what is required besides.
func TestFrozenRows(t *testing.T) {
	f := frozen{spec: "x", what: "X, small", required: 1.8, memory: 4e8, verbs: true}
	all := map[string]sample{"x now": {"rate": {300, 400, 500}, "allocs": {0.001}, "memory": {5e8}}, "x base": {"rate": {200}}, "x tiny": {"rate": {800}}}
	rows := f.rows(all)
	if len(rows) != 6 {
		t.Fatalf("%+v", rows)
	}
	for i, want := range []struct {
		text           string
		missed, absent bool
	}{{"400", false, false}, {"2.00", false, false}, {"not measured here", false, true}, {"0.50", false, false}, {"0.0010", false, false}, {"0.50 GB", true, false}} {
		if r := rows[i]; r.text != want.text || r.missed() != want.missed || r.absent != want.absent {
			t.Errorf("%+v, want %+v", r, want)
		}
	}
	all["x base"] = sample{"rate": {300}}
	if r := f.rows(all)[1]; !r.missed() {
		t.Errorf("%+v", r)
	}
}

// Bare READs complete, and pass their pipelines in order.
func TestBare(t *testing.T) {
	b := newBare()
	defer b.s.Close()
	for i := range b.mem {
		b.mem[i] = byte(i / bareBytes)
	}
	if err := b.s.Run(10 * sim.Microsecond); err != nil {
		t.Fatal(err)
	}
	if b.done < bareClients {
		t.Errorf("%d READs in 10 µs", b.done)
	}
	for i := range b.tx {
		if b.tx[i].OOO+b.rx[i].OOO > 0 {
			t.Errorf("pipeline %d served %d and %d out of order", i, b.tx[i].OOO, b.rx[i].OOO)
		}
	}
	if from, to := b.buf[0], b.buf[bareBytes-1]; from != to {
		t.Errorf("a READ brought bytes of two places: %d and %d", from, to)
	}
}

// A ratio is of CPU times, so of rates the other way round.
func TestRatioRow(t *testing.T) {
	m := measurement{name: "slow", what: "slow", against: "fast", atMost: 1.6}
	all := map[string]sample{"fast": {"rate": {300}}, "slow": {"rate": {200}}}
	if r := m.rows(all); len(r) != 1 || r[0].value != 1.5 || r[0].missed() {
		t.Errorf("%+v", r)
	}
	all["slow"] = sample{"rate": {150}}
	if r := m.rows(all); !r[0].missed() {
		t.Errorf("%+v", r)
	}
}

// A large system has its memory and its seconds, and no rate.
func TestLargeRows(t *testing.T) {
	m := measurement{name: "all", what: "all", once: true, memoryBelow: 2e9}
	s := sample{"rate": {300}, "memory": {3e9}, "seconds": {12}}
	if r := m.rows(map[string]sample{"all": s}); len(r) != 2 || r[0].missed() || !r[1].missed() || r[1].text != "3.0 GB" {
		t.Errorf("%+v", r)
	}
	s["memory"] = []float64{0}
	if r := m.rows(map[string]sample{"all": s}); len(r) != 1 {
		t.Errorf("%+v", r)
	}
	m.against, m.atMost, m.memoryBelow = "few", 2, 0
	s["memory"] = []float64{3e9}
	if r := m.rows(map[string]sample{"all": s, "few": {"rate": {450}}}); len(r) != 3 || r[0].value != 1.5 || r[0].missed() || r[2].missed() {
		t.Errorf("%+v", r)
	}
}

func TestMedian(t *testing.T) {
	if m := median([]float64{3, 1, 2}); m != 2 {
		t.Error(m)
	}
	if m := median([]float64{4, 1, 2, 3}); m != 2.5 {
		t.Error(m)
	}
	for x, want := range map[float64]string{1_234_000: "1.23 M", 81_400: "81.4 k", 2: "2"} {
		if got := si(x); got != want {
			t.Errorf("%g is %s, want %s", x, got, want)
		}
	}
}

// What of a profile is the transaction's own program.
func TestPartOfStack(t *testing.T) {
	const tx, occ, r2, body = "drtmx/engine/txn.(*Tx).", "drtmx/engine/protocol/occ.(*session).", "drtmx/engine/r2.", "drtmx/engine/workload/smallbank.(*runner).Next"
	below := []string{tx + "attempt", body, r2 + "(*Co).begin.func1", "drtmx/engine/sim.(*Sim).Go.func1"}
	for _, c := range []struct {
		want  string
		stack []string // above attempt
	}{
		{partTransaction, nil},
		{partExecution, []string{"runtime.memmove", occ + "readLocal", occ + "begin", occ + "Fetch"}},
		{partValidation, []string{occ + "lockByRNIC", occ + "lock", occ + "certify"}},
		{partLogging, []string{"drtmx/engine/record.(*EntryWriter).Add", "drtmx/engine/replication/redo.(*Writer).entry", occ + "logWrites", occ + "certify"}},
		{partCommit, []string{occ + "writeBackOne", occ + "writeBack", occ + "Commit"}},
		{partNone, []string{r2 + "(*List).Post", occ + "lockByRNIC", occ + "lock"}},
		{partNone, []string{"runtime.memmove", r2 + "(*List).Write", occ + "writeBackOne", occ + "writeBack"}},
		{partNone, []string{"drtmx/engine/kv.(*Cache).Get", occ + "begin", occ + "Fetch"}},
		{partNone, []string{"drtmx/engine/record.Stable", occ + "accept", occ + "Fetch"}},
		{partNone, []string{"drtmx/engine/history.(*Recorder).Add", tx + "endHistory"}},
		{partNone, []string{tx + "endHistory", occ + "Commit"}},
	} {
		if got := part(append(c.stack, below...)); got != c.want {
			t.Errorf("%v: part %q, want %q", c.stack, got, c.want)
		}
	}
	handler := []string{r2 + "(*Worker).handle", r2 + "(*Worker).event"}
	for stack, want := range map[string]string{ // order-free: cases of their own
		"drtmx/engine/replication/redo.(*Logs).serveReclaim": partReclaim, "drtmx/engine/protocol/occ.(*protocol).serveCommit": partNone,
		"drtmx/engine/r2/core.(*Program).Peek": partNone,
	} {
		if got := part(append([]string{stack}, handler...)); got != want {
			t.Errorf("%s: part %q, want %q", stack, got, want)
		}
	}
}

// A system is measured: everything but the numbers.
func TestCoordinated(t *testing.T) {
	if cputime.Now() == 0 {
		t.Skip("no clock of CPU time")
	}
	cycles, err := coordinatedSystems[0].measure(t.Context(), time.Millisecond)
	if err != nil && !strings.Contains(err.Error(), "without samples") {
		t.Fatal(err)
	}
	for p, v := range cycles { // order-free: each alone
		if v < 0 || !slices.Contains(parts, p) {
			t.Errorf("%s: %g cycles", p, v)
		}
	}
}
