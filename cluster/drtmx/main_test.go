package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/parquet-go/parquet-go"

	"drtmx/cluster/drtmx/cli"
	"drtmx/engine"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(argsVariable); text != "" {
		os.Exit(asCommand(text))
	}
	dir, err := os.MkdirTemp("", "drtmx-test")
	if err != nil {
		panic(err)
	}
	os.Unsetenv("DRTMX_RUNS")
	os.Setenv("XDG_DATA_HOME", dir) // finished runs of the tests are not the user's
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// tiny is a cluster that runs in a fraction of a second.
var tiny = []string{"--set", "nodes=3", "--set", "threads=1", "--set", "coroutines=2", "--set", "workload.accounts=500",
	"--set", "warmup_ns=50us", "--set", "duration_ns=300us", "--set", "window_ns=20us"}

// call runs the command and returns its exit status and what it wrote.
func call(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return code, out.String(), errs.String()
}

// ok fails the test unless the command succeeds.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := call(args...)
	if code != success {
		t.Fatalf("%v: exit %d: %s", args, code, errs)
	}
	return out
}

func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v in %.300q", err, text)
	}
}

func with(args []string, more ...string) []string {
	return append(append([]string(nil), args...), more...)
}

func TestBadUsageIsOneLineAndStatusTwo(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		os.WriteFile(p, []byte(text), 0o644)
		return p
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for _, c := range []struct {
		says string
		args []string
	}{
		{"did you mean run", []string{"rnu"}},
		{"did you mean specs", []string{"list"}},
		{"no such command", []string{"zzzzzz"}},
		{"--sed", []string{"run", "--sed", "1"}},
		{"one spec", []string{"run", "phases", "phases"}},
		{"did you mean nodes", []string{"run", "--set", "node=3"}},
		{"did you mean xstore.submodels", []string{"run", "--set", "models=3"}},
		{"nodes = 1000", []string{"run", "--set", "nodes=1000"}},
		{"threads = x", []string{"run", "--set", "threads=x"}},
		{"preset", []string{"run", "--preset", "farms"}},
		{"KNOB=VALUE", []string{"run", "--set", "nodes"}},
		{"give it once", []string{"run", "--set", "nodes=3", "--set", "nodes=4"}},
		{"nosuch", []string{"run", "nosuch"}},
		{"cli: no shipped spec, no workload, no preset and no file", []string{"run", "cli"}}, // a folder
		{"xstore: no shipped spec, no workload, no preset and no file; store.ordered takes xstore", []string{"run", "xstore"}},
		{"profile", []string{"run", "--set", "profile=nosuch"}},
		{"seeds = 0", []string{"run", "--seeds", "0"}},
		{"seed = x: must be a whole number such as 5; see drtmx run", []string{"run", "--seed", "x"}},
		{"seeds = \"\": must be a whole number", []string{"run", "--seeds", ""}},
		{"for = 1x: must be a time", []string{"up", "--for", "1x"}},
		{"for = 0s: must be above 0", []string{"up", "--for", "0s", "--listen", "127.0.0.1:0"}},
		{"unknown flag: --port; the port is part of the address, as in drtmx up --listen 127.0.0.1:7071", []string{"up", "--port", "7150"}},
		{"unknown flag: --addr, did you mean --listen? see drtmx up --help", []string{"up", "--addr", ":7071"}},
		{"unknown flag: --lsten, did you mean --listen? see drtmx up --help", []string{"up", "--lsten", ":7071"}},
		{"unknown flag: --coroutines; coroutines is a knob: --set coroutines=VALUE", []string{"run", "--coroutines", "4"}},
		{"unknown flag: --xylophone; see drtmx run --help", []string{"run", "--xylophone"}},
		{"json = maybe: must be true or false", []string{"specs", "--json=maybe"}},
		{"preset = farm: --set says fasst; give it once", []string{"run", "--preset", "farm", "--set", "preset=fasst"}},
		{"seed = 3: --set says 4; give it once", []string{"run", "--seed", "3", "--set", "seed=4"}},
		{"seed = 9223372036854775807: the last of 2", []string{"run", "--seed", "9223372036854775807", "--seeds", "2"}},
		{"host = \"\": is no name", []string{"up", "--host", "", "--listen", "127.0.0.1:0"}},
		{"needs --over", []string{"sweep"}},
		{"coroutine", []string{"sweep", "--over", "coroutine=1,2"}},
		{"give each a flag of its own: --set ts.scheme=gts --set oracle=true", []string{"run", "--set", "ts.scheme=gts,oracle=true"}},
		{"drtmx sweep takes several: --over ts.staleness_ns=0,1ms", []string{"sweep", "--set", "ts.staleness_ns=0,1ms"}},
		{"nodes = 4: is set to 3 as well; give it once", []string{"figure", "4-8", "--set", "nodes=3", "--set", "nodes=4"}},
		{"coroutines: is an axis twice", []string{"sweep", "--over", "coroutines=1,2", "--over", "coroutines=4"}},
		{"nvm.ddio: is an axis twice", []string{"sweep", "--over", "ddio=true", "--over", "nvm.ddio=false"}},
		{"two results", []string{"compare", "a.json"}},
		{"not a result", []string{"compare", write("a.json", "{}"), write("b.json", "{}")}},
		{`knob "nodes" is "[1]"`, []string{"compare", write("list.json", `{"spec":{"nodes":[1]},"digest":"x"}`), filepath.Join(dir, "list.json")}},
		{`knob "later" is "map[]"`, []string{"compare", write("map.json", `{"spec":{"later":{}},"digest":"x"}`), filepath.Join(dir, "map.json")}},
		{"/dev/zero: is no regular file", []string{"compare", "/dev/zero", "/dev/zero"}},
		{"pipe3: is no regular file", []string{"compare", pipe(t, filepath.Join(dir, "pipe3")), "/dev/zero"}},
		{"pipe4: cannot be read: is no regular file", []string{"run", pipe(t, filepath.Join(dir, "pipe4"))}},
		{"no such file", []string{"compare", filepath.Join(dir, "none"), filepath.Join(dir, "none")}},
		{"pace = fast", []string{"up", "--pace", "fast"}},
		{"pace = 2h/s: must be from 0", []string{"up", "--pace", "2h/s", "--for", "10ms", "--listen", "127.0.0.1:0"}},
		{"pace = -1ms", []string{"up", "--pace=-1ms"}},
		{"is in use", []string{"up", "--listen", busy.Addr().String()}},
		{"needs a token", []string{"up", "--listen", "0.0.0.0:0"}},
		{"token-file", []string{"up", "--token-file", filepath.Join(dir, "none")}},
		{"16 characters", []string{"up", "--token-file", write("short", "abc")}},
		{"view-token-file = ", []string{"up", "--view-token-file", filepath.Join(dir, "none")}},
		{"resume", []string{"up", "--listen", "127.0.0.1:0", "--resume", filepath.Join(dir, "none")}},
		{"drop SPEC", []string{"up", "--resume", "x", "--seed", "1"}},
		{"never overwritten", with([]string{"up", "--listen", "127.0.0.1:0", "--session", write("s", "x")}, tiny...)},
		{"for", []string{"up", "--for", "-1s"}},
		{"is not YAML", []string{"run", write("bad.yaml", "set: {")}},
		{"no such file", []string{"replay", filepath.Join(dir, "none")}},
		{"pipe: is no regular file; give a file that drtmx up --session wrote", []string{"replay", pipe(t, filepath.Join(dir, "pipe"))}},
		{"token-file = ", []string{"up", "--token-file", pipe(t, filepath.Join(dir, "pipe2"))}},
		{"empty: no header", []string{"replay", write("empty", "")}},
		{"line 1", []string{"replay", write("session", "nonsense\n")}},
		{"format 2", []string{"replay", write("later", `{"session":{"format":2,"code":"x"}}`+"\n")}},
		{"needs -o", []string{"trace"}},
		{"--csv = -: standard output is for --json", []string{"sweep", "--over", "coroutines=1,2", "--json", "--csv", "-"}},
		{"--html = -: is what --csv writes", []string{"sweep", "--over", "coroutines=1,2", "--csv", "-", "--html", "-"}},
		{"--svg = -: standard output is for --json", []string{"figure", "t4-3", "--json", "--svg", "-"}},
		{"is what --svg writes", []string{"figure", "t4-3", "--svg", filepath.Join(dir, "x"), "--png", filepath.Join(dir, "no", "..", "x")}},
		{"is what --svg writes", []string{"figure", "t4-3", "--svg", write("y", ""), "--png", link(t, filepath.Join(dir, "y"))}},
		{"--record = -: standard output is for the table", []string{"verify", "--record", "-"}},
		{"--profile-out = -: standard output is for the report", []string{"fit", "val", "--profile-out", "-"}},
		{"is what --profile-out writes", []string{"fit", "val", "--profile-out", "x", "--residuals-out", "./x"}},
		{"with = /dev/zero: is no regular file", []string{"predict", "--with", "/dev/zero"}},
		{"pipe5: is no regular file", []string{"predict", "--with", pipe(t, filepath.Join(dir, "pipe5"))}},
		{"with = " + filepath.Join(dir, "long") + ": is over 16777216 bytes", []string{"predict", "--with", long(t, filepath.Join(dir, "long"))}},
		{"record = /dev/zero: is no regular file", []string{"predict", "--run", "--record", "/dev/zero"}},
		{"creds = /dev/zero: is no regular file", []string{"worker", "--creds", "/dev/zero", "--server", "nats://" + busy.Addr().String()}},
		{"tls-ca = /dev/zero: is no regular file", []string{"sweep", "--over", "coroutines=1,2", "--server", "nats://" + busy.Addr().String(), "--tls-ca", "/dev/zero"}},
		{"creds = /dev/zero: is no regular file", []string{"serve-work", "--listen", "127.0.0.1:0", "--store", filepath.Join(dir, "work"), "--creds", "/dev/zero"}},
		{"tls-key = /dev/zero: is no regular file", []string{"serve-work", "--listen", "127.0.0.1:0", "--store", filepath.Join(dir, "work"), "--tls-cert", filepath.Join(dir, "short"), "--tls-key", "/dev/zero"}},
		{"cc = rococo: transaction r0 i9 of workload.script", []string{"run", "--set", "workload=script", "--set", "cc=rococo", "--set", "workload.script=r0 i9"}},
		{"no such figure", []string{"figure", "9-99"}},
		{"quick or paper", []string{"figure", "2-4a", "--scale", "huge"}},
		{"kernel uninstall", []string{"kernel", "uninstall"}},
		{"nosuch", []string{"profiles", "nosuch"}},
		{"did you mean hardware.wire.switch?", []string{"knobs", "hardware.wire.swich"}},
		{"hardware.nvm.dimms: profile val has no NVM", []string{"knobs", "hardware.nvm.dimms"}},
		{"hardware.wire.switch = -1: must be from 0", []string{"run", "--set", "hardware.wire.switch=-1"}},
		{"hardware.nic.qp_contexts = 0: must be from 1", []string{"sweep", "--over", "hardware.nic.qp_contexts=0"}},
		{"hardware.nic.qp_contexts = some: must be a whole number", []string{"sweep", "--over", "hardware.nic.qp_contexts=1,some"}},
		{"nosuch", []string{"specs", "nosuch"}},
		{"not measured", []string{"verify", "--rows", "f9-9"}},
		{"--rows names nothing", []string{"verify", "--rows", ""}},
		{"--rows names nothing", []string{"fit", "val", "--rows", ""}},
		{"--params names nothing", []string{"fit", "val", "--params", ""}},
		{"leave out --rows", []string{"verify", "--rows", "t2-2-rc", "--record", filepath.Join(dir, "passed")}},
		{"no row to fit", []string{"fit", "val", "--rows", "f9-9"}},
		{"no fitted number", []string{"fit", "val", "--params", "wire.mtu"}},
		{"no row to fit", []string{"fit", "val", "--identify", "--rows", "f9-9"}},
		{"--identify fits nothing: leave out --evaluations", []string{"fit", "val", "--identify", "--evaluations", "3"}},
		{"--identify fits nothing: leave out --profile-out", []string{"fit", "val", "--identify", "--profile-out", "x"}},
		{"--table-out = -: standard output is for the table", []string{"fit", "val", "--identify", "--table-out", "-"}},
		{"--table-out is of --identify", []string{"fit", "val", "--table-out", "x"}},
	} {
		code, out, errs := call(c.args...)
		if code != misused || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.says) {
			t.Errorf("%v: exit %d, wrote %q, said %q; want 2 and a line with %q", c.args, code, out, errs, c.says)
		}
	}
}

// link is another name of a file.
func link(t *testing.T, file string) string {
	t.Helper()
	if err := os.Symlink(file, file+".link"); err != nil {
		t.Fatal(err)
	}
	return file + ".link"
}

// long makes a file of a gigabyte that takes no place.
func long(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Create(name)
	if err == nil {
		err = f.Truncate(1 << 30)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// pipe makes a named pipe, to which nobody writes.
func pipe(t *testing.T, name string) string {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A spec may be refused when a point begins: a file of keys is read then.
func TestSweepOfRefusedPointsIsMisused(t *testing.T) {
	code, out, stderr := call("sweep", "ycsb-c", "--set", "workload.dataset=sosd:/nosuch", "--over", "coroutines=1,2")
	if code != misused || strings.Count(out, "the file cannot be read") != 2 || !strings.HasPrefix(stderr, "drtmx: coroutines = 1: workload.dataset = sosd:/nosuch: the file cannot be read") {
		t.Errorf("exit %d, %s%s", code, out, stderr)
	}
}

func TestRunTwiceIsTheSameAndCompares(t *testing.T) {
	a, b := ok(t, with([]string{"run", "--json", "--seed", "5"}, tiny...)...), ok(t, with([]string{"run", "--json", "--seed", "5"}, tiny...)...)
	var ra, rb result.Result
	decode(t, a, &ra)
	decode(t, b, &rb)
	if ra.Digest == "" || ra.Digest != rb.Digest || ra.Spec["seed"] != 5 {
		t.Errorf("digests %q and %q, seed %v", ra.Digest, rb.Digest, ra.Spec["seed"])
	}
	c := ok(t, with([]string{"run", "--json", "--preset", "fasst"}, tiny...)...)
	dir := t.TempDir()
	pa, pc := filepath.Join(dir, "a.json"), filepath.Join(dir, "c.json")
	os.WriteFile(pa, []byte(a), 0o644)
	os.WriteFile(pc, []byte(c), 0o644)
	if text := ok(t, "compare", pa, pc); !strings.Contains(text, "throughput") || !strings.Contains(text, "fasst") {
		t.Errorf("compare: %s", text)
	}
	var cmp result.Comparison
	decode(t, ok(t, "compare", "--json", pa, pc), &cmp)
	if len(cmp.Spec) == 0 || len(cmp.Metrics) == 0 {
		t.Errorf("%+v", cmp)
	}
	if text := ok(t, with([]string{"run"}, tiny...)...); !strings.Contains(text, "throughput") || !strings.Contains(text, "digest") {
		t.Errorf("run: %s", text)
	}
	var seeds batch.SeedsResult
	decode(t, ok(t, with([]string{"run", "--json", "--seeds", "3"}, tiny...)...), &seeds)
	if len(seeds.Runs) != 3 || seeds.Means["throughput"].N != 3 {
		t.Errorf("%d runs, %+v", len(seeds.Runs), seeds.Means["throughput"])
	}
}

// A knob that does nothing in a spec is named where it is turned, also over an axis; one that works
// at some point of a sweep is not, and neither is what a shipped spec has in it.
func TestIdleKnobsAreNamed(t *testing.T) {
	spec, err := experiment.LoadSpec("phases")
	if err != nil {
		t.Fatal(err)
	}
	axis := func(knob string, values any) experiment.Axis {
		a, err := experiment.NewAxis(knob, values)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	const node = "fault.nic_slowdown_node"
	for _, tt := range []struct {
		turned []string
		axes   []experiment.Axis
		want   string
	}{
		{[]string{"coroutines"}, nil, ""},
		{[]string{"workload.payload", "coroutines"}, nil, `workload.payload: has no effect here: workload smallbank does not use it`},
		{nil, []experiment.Axis{axis("workload.payload", "8,16")}, `workload.payload = 8B,16B: has no effect here: workload smallbank does not use it`},
		{nil, []experiment.Axis{axis(node, "0,1")}, node + ` = 0,1: has no effect here: fault.nic_slowdown is 1: no RNIC is slow; leave it out, or change what keeps it from working; fault.nic_slowdown has an effect`},
		{nil, []experiment.Axis{axis(node, "0,1"), axis("fault.nic_slowdown", "1,4")}, ""},
	} {
		got := ""
		if err := cli.RefuseIdle(spec, tt.turned, tt.axes...); err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%v, %v: %q, want %q", tt.turned, tt.axes, got, tt.want)
		}
	}
	if code, _, stderr := call("run", "nvm", "--set", "phase.lock=two-sided", "--set", "duration_ns=20us", "--set", "warmup_ns=20us"); code != misused ||
		!strings.Contains(stderr, `phase.lock = two-sided: has no effect here: workload micro-write runs no transactions`) || strings.Count(stderr, "no effect") != 1 {
		t.Errorf("%d %s", code, stderr)
	}
}

func TestSweepIsKeptAndWritten(t *testing.T) {
	dir := t.TempDir()
	csv, page := filepath.Join(dir, "s.csv"), filepath.Join(dir, "s.html")
	args := with([]string{"sweep", "--over", "coroutines=1,2", "--over", "phase.validation=one-sided,two-sided"}, tiny...)
	var first, second batch.SweepResult
	decode(t, ok(t, with(args, "--json", "--csv", csv, "--html", page)...), &first)
	decode(t, ok(t, with(args, "--json")...), &second)
	if len(first.Points) != 4 || second.Points[0].Cached != 1 {
		t.Errorf("%d points, %d cached", len(first.Points), second.Points[0].Cached)
	}
	for i := range first.Points {
		if a, b := first.Points[i].Runs[0].Digest, second.Points[i].Runs[0].Digest; a != b {
			t.Errorf("point %d: %s, then %s", i, a, b)
		}
	}
	b, err := os.ReadFile(csv)
	if err != nil || strings.Count(string(b), "\n") != 5 {
		t.Errorf("%v: %s", err, b)
	}
	if b, err := os.ReadFile(page); err != nil || !strings.Contains(string(b), "<svg") && !strings.Contains(string(b), "image/svg") {
		t.Errorf("page: %v, %d bytes", err, len(b))
	}
	// A point that no spec may be is the caller's mistake, also beside others that ran.
	if code, out, errs := call(with([]string{"sweep", "--over", "replicas=1,5"}, tiny...)...); code != misused || !strings.Contains(out, "1") || !strings.Contains(errs, "replicas = 5: ") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	off := strings.Split(ok(t, with([]string{"sweep", "--over", "coroutines=1", "--csv", "-", "--set", "check=off"}, tiny...)...), "\n")
	if v := column(t, off, "checks"); v != "" {
		t.Errorf("not checked, and yet %q: %s", v, off)
	}
	if v := column(t, off, "coroutines"); v != "1" || column(t, off, "error") != "" || column(t, off, "verbs.read") == "" {
		t.Errorf("%s", off)
	}
	if text := ok(t, args...); strings.Count(text, "\n") != 7 || strings.Count(text, "not steady") != 4 { // a head, four points, two lines of legend
		t.Errorf("%s", text)
	}
	if text := ok(t, with(args, "--html", page)...); strings.Count(text, "\n") != 8 || !strings.HasSuffix(text, "\nwritten: "+page+"\n") {
		t.Errorf("%s", text)
	}
}

// column is the value of a column in the first row of a table.
func column(t *testing.T, lines []string, name string) string {
	t.Helper()
	i := slices.Index(strings.Split(lines[0], ","), name)
	if i < 0 {
		t.Fatalf("no column %s in %s", name, lines[0])
	}
	return strings.Split(lines[1], ",")[i]
}

// A row per seed, and the same table in both forms.
func TestRunWritesTables(t *testing.T) {
	dir := t.TempDir()
	csv, columns := filepath.Join(dir, "r.csv"), filepath.Join(dir, "r.parquet")
	text := ok(t, with([]string{"run", "--seeds", "2", "--csv", csv, "--parquet", columns}, tiny...)...)
	if !strings.Contains(text, "throughput") {
		t.Error(text)
	}
	b, err := os.ReadFile(csv)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != 3 || column(t, lines, "seed") != "1" || column(t, lines, "spec.workload") != "smallbank" {
		t.Errorf("%d lines: %.300s", len(lines), b)
	}
	f, err := os.Open(columns)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	p, err := parquet.OpenFile(f, size.Size())
	if err != nil || p.NumRows() != 2 || p.Schema().Fields()[0].Name() != "seed" {
		t.Errorf("%v: %v", err, p)
	}
	if code, _, errs := call("figure", "t4-3", "--csv", csv, "--parquet", csv); code != misused || !strings.Contains(errs, "--parquet") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if out := ok(t, with([]string{"run", "--csv", "-"}, tiny...)...); !strings.HasPrefix(out, "seed,throughput,") || strings.Count(out, "\n") != 2 {
		t.Errorf("%.300s", out)
	}
	ok(t, "figure", "t4-3", "--parquet", filepath.Join(dir, "f.parquet"))
}

func TestRegistryIsPrinted(t *testing.T) {
	var ks []map[string]any
	decode(t, ok(t, "knobs", "--json"), &ks)
	for _, k := range ks {
		for _, f := range []string{"name", "kind", "value", "default", "label", "doc", "live", "active"} {
			if _, has := k[f]; !has {
				t.Errorf("knob %v has no %s", k["name"], f)
			}
		}
	}
	for _, p := range experiment.PresetNames() {
		if text := ok(t, "knobs", "--preset", p); !strings.Contains(text, "phase.lock") || strings.Contains(text, "nodes") {
			t.Errorf("%s: %s", p, text)
		}
	}
	if text := ok(t, "knobs"); !strings.Contains(text, "inactive") || strings.Count(text, "\n") < len(ks) {
		t.Errorf("%s", text)
	}
	t.Chdir(t.TempDir())
	if err := os.Mkdir("xstore", 0o755); err != nil { // no spec, though there is something by that name
		t.Fatal(err)
	}
	if text := ok(t, "knobs", "xstore"); strings.Count(text, "(inactive: ") != 1 || !strings.Contains(text, "xstore.cache ") || !strings.Contains(text, "(inactive too)") {
		t.Errorf("%s", text)
	}
	text := ok(t, "knobs")
	for _, line := range strings.Split(text, "\n") {
		if values, _, _ := strings.Cut(line, " (inactive"); strings.HasPrefix(line, "workload ") && (len(values) > 160 || !strings.Contains(line, "|…")) {
			t.Errorf("a list of all workloads makes every line wide: %s", line)
		}
	}
	for _, group := range []string{"HARDWARE", "WORKLOAD", "OPTIMISATIONS"} {
		if n := strings.Count(text, "\n"+group+"\n"); n != 1 {
			t.Errorf("%s comes %d times", group, n)
		}
	}
	if text := ok(t, "knobs", "nvm", "cache.bytes", "workload.hot"); !strings.Contains(text, "64KiB..64GiB") || !strings.Contains(text, "default 300MB") ||
		!strings.Contains(text, "has no lookups") || strings.Contains(text, "nodes  ") {
		t.Error(text)
	}
	if text := ok(t, "knobs", "cache.bytes"); !strings.Contains(text, "thesis 4.3.1") {
		t.Error(text)
	}
	if !strings.Contains(text, "\nhardware.NUMBER=VALUE sets a number of the profile") || strings.Contains(text, "hardware.nic") {
		t.Error(text)
	}
	if text := ok(t, "knobs", "hardware.nic.qp_contexts"); !strings.HasPrefix(text, "hardware.nic.qp_contexts  480  1..1048576  reset") || !strings.Contains(text, "Queue-pair contexts kept") {
		t.Error(text)
	}
	if text := ok(t, "knobs", "--set", "hardware.wire.switch=0.5us"); !strings.Contains(text, "\nhardware.wire.switch") {
		t.Error(text)
	}
	for _, args := range [][]string{{"knobs", "nvm.ddio"}, {"knobs", "phases", "nvm.ddio"}} { // another name of it
		if text := ok(t, args...); !strings.HasPrefix(text, "ddio  ") {
			t.Errorf("%v: %q", args, text)
		}
	}
	for name, says := range map[string]string{"corotine": "did you mean coroutines?", "zzzzzzzz": "unknown knob", "no.yaml": "and no file"} {
		if code, _, stderr := call("knobs", name); code != misused || !strings.Contains(stderr, says) {
			t.Errorf("knobs %s: exit %d: %s", name, code, stderr)
		}
	}
	for word, want := range map[string][]string{"deadlock": {"2pl.deadlock"}, "doorbell": {"opt.db", "opt.lock.db", "nic.context"}, "Optane": {"nvm.generation"}} { // order-free: cases of their own
		for _, name := range want { // in its name, its label or its help
			if text := ok(t, "knobs", word); !strings.Contains("\n"+text, "\n"+name+" ") || strings.Contains(text, "\ncoroutines ") {
				t.Errorf("knobs %s, without %s:\n%s", word, name, text)
			}
		}
	}
	for _, parts := range []string{"phase", "phase."} {
		if text := ok(t, "knobs", parts); !strings.HasPrefix(text, "phase.execution") || !strings.Contains(text, "\nphase.ro_validation ") || strings.Contains(text, "opt.") {
			t.Errorf("knobs %s:\n%s", parts, text)
		}
	}
	if text := ok(t, "knobs", "nvm", "cache"); strings.Count(text, "\n") != strings.Count(text, "cache.") || !strings.Contains(text, "cache.bytes") {
		t.Error(text)
	}
	decode(t, ok(t, "knobs", "cache", "--json"), &ks)
	if len(ks) < 2 || ks[0]["name"] != "cache.bytes" && ks[0]["name"] != "cache.enabled" {
		t.Error(ks)
	}
	if code, _, stderr := call("knobs", "phases", "cache.bite"); code != misused || !strings.Contains(stderr, "did you mean cache.bytes?") {
		t.Errorf("%d %s", code, stderr)
	}
	if text := ok(t, "specs"); !strings.Contains(text, "phases") {
		t.Error(text)
	}
	if text := ok(t, "specs", "phases"); !strings.Contains(text, "preset: drtm+h") {
		t.Error(text)
	}
	if text := ok(t, "profiles"); !strings.Contains(text, "val@") {
		t.Error(text)
	}
	var p struct {
		Numbers []struct{ Unit, Kind, Meaning, Source string } `json:"numbers"`
	}
	decode(t, ok(t, "profiles", "val", "--json"), &p)
	for _, n := range p.Numbers {
		if n.Unit == "" || n.Meaning == "" || n.Source == "" || n.Kind == "" {
			t.Errorf("%+v", n)
		}
	}
	if text := ok(t, "profiles", "vale"); !strings.Contains(text, "--set profile=vale --set hardware.wire.switch=500") {
		t.Error(text)
	}
	if len(p.Numbers) < 40 {
		t.Errorf("%d numbers", len(p.Numbers))
	}
	var fs []map[string]any
	decode(t, ok(t, "figure", "list", "--json"), &fs)
	if len(fs) == 0 || fs[0]["state"] != "ok" {
		t.Errorf("%v", fs)
	}
}

func TestFigureSaysWhatItWrote(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.png")
	if text := ok(t, "figure", "t4-3", "--png", file); !strings.Contains(text, "written: "+file) || !strings.Contains(text, "holds") {
		t.Error(text)
	}
	if text := ok(t, "figure", "t4-3", "--csv", "-"); strings.Contains(text, "holds") || !strings.HasPrefix(text, "figure,series") {
		t.Error(text)
	}
}

func TestVerifyPrintsRows(t *testing.T) {
	if text := ok(t, "verify", "--rows", "t2-2-rc,s2-nvm-read-lat"); !strings.Contains(text, "s2-nvm-read-lat") || strings.Contains(text, "not measured") {
		t.Error(text)
	}
	// A row that follows from another one is counted with that one.
	if text := ok(t, "verify", "--rows", "t2-2-rc"); strings.Contains(text, "no quantity is a fit row") {
		t.Error(text)
	}
	if text := ok(t, "verify", "--list"); !strings.Contains(text, "\ns2-nvm-read-lat ") || strings.Count(text, "\n") < 50 {
		t.Error(text)
	}
	if code, _, stderr := call("verify", "--rows", "nope"); code != misused || !strings.Contains(stderr, "drtmx verify --list names the rows") {
		t.Errorf("%d %s", code, stderr)
	}
	if code, _, stderr := call("verify", "--list", "--rows", "t2-2-rc"); code != misused || !strings.Contains(stderr, "--list measures nothing") {
		t.Errorf("%d %s", code, stderr)
	}
}

func TestTraceOpensInPerfetto(t *testing.T) {
	var tr struct {
		TraceEvents []struct {
			Name, Cat, Ph string
			TS, Dur       float64
			PID, TID      int
		} `json:"traceEvents"`
	}
	decode(t, ok(t, with([]string{"trace", "--txns", "5", "-o", "-"}, tiny...)...), &tr)
	cats := map[string]int{}
	for _, e := range tr.TraceEvents {
		cats[e.Cat]++
		if e.Ph == "X" && e.Dur < 0 {
			t.Errorf("%+v", e)
		}
	}
	if cats["transaction"] != 5 || cats["phase"] == 0 || cats["verb"] == 0 || cats["milestone"] == 0 {
		t.Errorf("%v", cats)
	}
}

func TestTraceOfAPercentile(t *testing.T) {
	of := func(more ...string) []string {
		return with(append([]string{"trace", "--type", "balance", "--percentile", "90"}, more...), tiny...)
	}
	if text := ok(t, of()...); !strings.Contains(text, "A p90 balance: ") || !strings.Contains(text, "ro_read") {
		t.Error(text)
	}
	svg := filepath.Join(t.TempDir(), "x.svg")
	ok(t, of("-o", svg)...)
	if b, err := os.ReadFile(svg); err != nil || !bytes.HasPrefix(b, []byte("<svg")) || !bytes.Contains(b, []byte("balance on node")) {
		t.Errorf("%v: %.80s", err, b)
	}
	for _, args := range [][]string{
		{"trace", "--percentile", "0"}, {"trace", "--percentile", "100"}, {"trace", "--percentile", "50", "--type", "new-order"}, {"trace", "--type", "balance"},
		{"trace", "--percentile", "50", "--txns", "3"}, {"trace", "-o", svg},
	} {
		if code, _, errs := call(with(args, tiny...)...); code != misused || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
}

func TestDoctorNamesFixes(t *testing.T) {
	_, out, _ := call("doctor")
	for _, l := range strings.Split(strings.TrimSpace(out), "\n") {
		if strings.HasPrefix(l, "missing") && !strings.Contains(l, ": ") {
			t.Errorf("no fix in %q", l)
		}
	}
	if !strings.Contains(out, "drtmx") || !strings.Contains(out, "restart the kernel") {
		t.Error(out)
	}
}

// A port that another program serves is there, and not missing.
func TestDoctorKnowsAPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if line := portNeed(address).String(); !strings.HasPrefix(line, "in use   port") || !strings.Contains(line, "--listen") {
		t.Errorf("%q while it is served", line)
	}
	l.Close()
	if line := portNeed(address).String(); !strings.HasPrefix(line, "ok       port") {
		t.Errorf("%q afterwards", line)
	}
}

func TestTraceIsInterruptedBeforeItBegins(t *testing.T) {
	spec, err := experiment.LoadSpec("phases")
	if err != nil {
		t.Fatal(err)
	}
	s, err := engine.Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, interrupt := context.WithCancel(context.Background())
	interrupt()
	if err := advance(ctx, s, traceAfter, func(string, int, int) {}); !errors.Is(err, context.Canceled) || s.NowNS() != 0 {
		t.Errorf("%v at %d ns", err, s.NowNS())
	}
	if err := advance(context.Background(), s, traceStep+1, func(string, int, int) {}); err != nil || s.NowNS() != traceStep+1 {
		t.Errorf("%v at %d ns", err, s.NowNS())
	}
}

func TestTraceOfTooLittleSaysWhatHelps(t *testing.T) {
	code, _, errs := call(with([]string{"trace", "-o", "-", "--txns", "10000", "--set", "clients.arrival=open:1k"}, tiny...)...)
	if code != failed || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "ask for fewer with --txns") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// A run whose drain is given up ends with 1, its numbers, and a line that says what was under way.
func TestDrainIsGivenUp(t *testing.T) {
	short := with(tiny, "--set", "drain_ns=1us")
	code, out, errs := call(with([]string{"run", "--json"}, short...)...)
	var r result.Result
	decode(t, out, &r)
	if code != failed || r.Commits == 0 || r.Checks.Judged() || r.Checks.Why() != r.Undrained() || r.Undrained() == "" {
		t.Errorf("exit %d, %d commits, %+v, %+v", code, r.Commits, r.Drain, r.Checks)
	}
	if strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "the drain was given up after 0.001 ms (drain_ns) with ") || !strings.Contains(errs, " transactions under way: ") {
		t.Errorf("%q", errs)
	}
	code, out, errs = call(with([]string{"sweep", "--over", "seed=3,4"}, short...)...)
	if code != failed || strings.Count(out, "not drained") != 2 || !strings.Contains(errs, "seed = 3: the drain was given up") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}
