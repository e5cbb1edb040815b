// Package kernel_test runs the notebook kernel under Jupyter's own clients.
package kernel_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"drtmx/dashboard/charts"
	"drtmx/kernel/install"
)

// need skips the test if a program of the machine is missing, or fails it
// where everything is required.
func need(t *testing.T, what, fix string, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		needed(t, fmt.Sprintf("%s is missing (%v: %s); %s", what, err, lastLine(out), fix))
	}
}

func needed(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("DRTMX_REQUIRE") == "all" {
		t.Fatal(why)
	}
	t.Skip(why)
}

func notShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a kernel; not in short mode")
	}
}

// needClient returns a Python that has jupyter_client. The one of the system's
// packages is not always the first in the path.
func needClient(t *testing.T) string {
	t.Helper()
	notShort(t)
	pythons := []string{"python3", "/usr/bin/python3"}
	if file, err := exec.LookPath("jupyter"); err == nil {
		b, err := os.ReadFile(file)
		if program, ok := strings.CutPrefix(firstLine(b), "#!"); err == nil && ok {
			pythons = append(pythons, strings.TrimSpace(program))
		}
	}
	for _, p := range pythons {
		if exec.Command(p, "-c", "import jupyter_client").Run() == nil {
			return p
		}
	}
	need(t, "jupyter_client", "apt-get install --no-install-recommends jupyter-client", "python3", "-c", "import jupyter_client")
	return "python3"
}

func needNbconvert(t *testing.T) {
	t.Helper()
	notShort(t)
	need(t, "nbconvert", "apt-get install --no-install-recommends jupyter-nbconvert", "jupyter", "nbconvert", "--version")
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return line
}

func lastLine(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return lines[len(lines)-1]
}

var probeFolder string // to be removed

// probeKernel builds the kernel, with package probe in it, and installs it in a
// folder of its own.
var probeKernel = sync.OnceValues(func() (prefix string, err error) {
	tmp, err := os.MkdirTemp("", "drtmx-kernel")
	if err != nil {
		return "", err
	}
	probeFolder = tmp
	bin := filepath.Join(tmp, "drtmx-kernel")
	out, err := exec.Command("go", "run", "drtmx/kernel/mkkernel", "-tags", "drtmxprobe", "-o", bin).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	// The command stands beside it, as make leaves them: notebooks start workers with it.
	out, err = exec.Command("go", "build", "-o", filepath.Join(tmp, "drtmx"), "drtmx/cluster/drtmx").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	if _, err := install.Install(install.Options{Prefix: tmp, Binary: bin}); err != nil {
		return "", err
	}
	return tmp, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if probeFolder != "" {
		os.RemoveAll(probeFolder)
	}
	os.Exit(code)
}

var goroot = sync.OnceValue(func() string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
})

// jupyter prepares a command that sees only the kernel under test.
func jupyter(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	prefix, err := probeKernel()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(),
		"JUPYTER_PATH="+filepath.Join(prefix, "share", "jupyter"),
		"JUPYTER_RUNTIME_DIR="+t.TempDir(),
		"DRTMX_RUNS="+filepath.Join(t.TempDir(), "runs.db"), // no results of earlier runs
		"JUPYTER_CONFIG_DIR="+t.TempDir(),
		"GOROOT="+goroot()) // a Go installation in sight is what stock gophernotes dies of
	return cmd
}

// step is one cell to run, and when to press stop.
type step struct {
	Code           string   `json:"code"`
	Inspect        string   `json:"inspect,omitempty"`  // a name to ask about instead
	At             int      `json:"at,omitempty"`       // the cursor in it; 0: its end
	Complete       string   `json:"complete,omitempty"` // the begin of a name, instead
	All            []string `json:"all,omitempty"`      // cells that are sent without waiting, instead
	InterruptAfter float64  `json:"interrupt_after,omitempty"`
	InterruptAt    string   `json:"interrupt_at,omitempty"` // press when this text is shown
}

// outcome is what a cell did.
type outcome struct {
	Status         string
	Ename, Evalue  string
	Seconds        float64
	AfterInterrupt float64 `json:"after_interrupt"`
	Messages       []struct {
		Type    string
		Content struct {
			Name, Text string
			Data       map[string]string
			Transient  struct {
				DisplayID string `json:"display_id"`
			}
			Traceback []string
		}
		Seconds float64
	}
}

// drive runs cells one after the other in a new kernel.
func drive(t *testing.T, steps ...step) []outcome {
	t.Helper()
	python := needClient(t)
	in, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	cmd := jupyter(t, python, "testdata/drive.py", install.Name)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &stderr
	b, err := cmd.Output()
	if err != nil {
		t.Fatalf("drive.py: %v\n%s", err, &stderr)
	}
	var out []outcome
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatalf("drive.py: %v\n%s", err, b)
	}
	if len(out) != len(steps) {
		t.Fatalf("%d of %d cells ran; last: %+v\n%s", len(out), len(steps), out[len(out)-1], &stderr)
	}
	return out
}

// text is all plain text that a cell showed: streams and values.
func (o outcome) text() string {
	var b strings.Builder
	for _, m := range o.Messages {
		b.WriteString(m.Content.Text)
		if m.Type == "execute_result" || m.Type == "display_data" {
			b.WriteString(m.Content.Data["text/plain"])
		}
	}
	return b.String()
}

// isTrue says that a cell's value, which is the last that it showed, is true. What takes two seconds on a slow machine has shown
// its progress before.
func (o outcome) isTrue() bool {
	value := ""
	for _, m := range o.Messages {
		if m.Type == "execute_result" || m.Type == "display_data" {
			value = m.Content.Data["text/plain"]
		}
	}
	return o.Status == "ok" && value == "true"
}

const probeImport = `import "drtmx/kernel/internal/probe"` + "\n"

func TestCells(t *testing.T) {
	t.Parallel()
	cells := []struct{ code, status, shows string }{
		{"1 + 2", "ok", "3"},
		{"import (\"fmt\"; \"strings\")\nfmt.Println(strings.ToUpper(\"hello\"))", "ok", "HELLO\n"},
		{"x := map[string]interface{}{\"a\": []int{1, 2}}; x", "ok", "map[a:[1 2]]"},
		{"y := 1", "ok", ""},
		{"y.nope()", "error", ""},
		{"y", "ok", "1"}, // state survives an error
		{"import \"strconv\"\nstrconv.Atoi(\"12\")", "ok", "12"},
		{"strconv.Atoi(\"twelve\")", "error", ""},
		{"import \"slices\"", "error", ""},
		{probeImport + "probe.Failing()", "error", ""},
		{"n, err := probe.Failing()\nerr", "ok", `knob "x": 12 is above 7; use a smaller one`},
		{"probe.Panicking()", "error", ""},
		{"var a []int; a[3]", "error", ""},
		{"&probe.Value{7}", "ok", "value 7"},
		{"go func() { panic(\"lost\") }()\nprobe.Long(200 * 1000000)\n0", "ok", "a goroutine of this notebook stopped: line 1: lost\n0"},
		// Whatever a goroutine calls: a function with a name, a method, one with a list at its end, none.
		{"func lose(by int8, more ...string) { panic(fmt.Sprint(\"lost \", by, more)) }\ngo lose(2, \"a\", \"b\")\nprobe.Long(200 * 1000000)\n0", "ok", "a goroutine of this notebook stopped: line 1: lost 2 [a b]\n0"},
		{"type loser struct{ N int }\nfunc (l *loser) Lose(e error) { panic(fmt.Sprint(l.N, e)) }\nl := &loser{3}\ngo l.Lose(nil)\nprobe.Long(200 * 1000000)\n0", "ok", "a goroutine of this notebook stopped: line 2: 3 <nil>\n0"},
		{"var unset func()\ngo unset()\nprobe.Long(200 * 1000000)\n0", "ok", "a goroutine of this notebook stopped: reflect.Value.Call: call of nil function\n0"},
		{"import \"time\"\ntime.AfterFunc(1, func() {\n\tpanic(\"late\")\n})\nprobe.Long(200 * 1000000)\n0", "ok", "a goroutine of this notebook stopped: line 3: late\n0"},
		{"import \"context\"\nctx, cancel := context.WithCancel(context.Background())\ncontext.AfterFunc(ctx, func() { panic(\"after\") })\ncancel()\nprobe.Long(200 * 1000000)\n0", "ok", "a goroutine of this notebook stopped: line 3: after\n0"},
		{"go lose(\"a\")", "error", ""}, // arguments are checked as ever
		{"go lose(1, []string{\"a\"}...)", "error", ""},
		{"type wide interface { Wide() int }\ntype four struct{}\nfunc (four) Wide() int { return 4 }\nwidths := make(chan int)\nfunc send(w wide) { widths <- w.Wide() }\ngo send(four{})\n<-widths", "ok", "4 true"},
		{"template := 5; template", "ok", "5"}, // no word of the interpreter's own
		{"import \"os\"\nos.Exit(3)", "error", ""},
		{"import \"log\"\nlog.Fatal(\"no more\")", "error", ""},
		{"log.Fatalf(\"%d\", 4)", "error", ""},
		{"import \"runtime\"\nruntime.Goexit()", "error", ""},
		{"", "ok", ""},
		{"// a comment alone", "ok", ""},
		{"$ echo of the shell", "ok", "of the shell\n"},
		{"var none *probe.Value\nnone", "error", ""}, // its HTML panics
		{"type shown struct{ N int }\nfunc (s shown) HTML() string { panic(\"cannot be drawn\") }", "ok", ""},
		{"shown{1}", "error", ""},
		{"import \"strings\"\nstrings.Cut(\"a=b\", \"=\")", "ok", "a b true"}, // newer than gophernotes' own bindings
	}
	var steps []step
	for _, c := range cells {
		steps = append(steps, step{Code: c.code})
	}
	for i, o := range drive(t, steps...) {
		c := cells[i]
		if o.Status != c.status || o.Status == "ok" && o.text() != c.shows {
			t.Errorf("%q: %s %q %q, want %s %q", c.code, o.Status, o.Evalue, o.text(), c.status, c.shows)
		}
		if strings.Contains(o.Evalue, "\n") {
			t.Errorf("%q: error of more than one line: %q", c.code, o.Evalue)
		}
	}
}

func TestErrorIsTheLine(t *testing.T) {
	t.Parallel()
	out := drive(t,
		step{Code: probeImport + "probe.Failing()"},
		step{Code: "probe.Panicking()"},
		step{Code: "c := 1\nc.nope()"},
		step{Code: "\nundefinedName"},
		step{Code: `import "no/such/package"`},
		step{Code: "v := probe.Unset()"},
		step{Code: "v.N"},
		step{Code: "var list []int\n\nlist[3] = 1"},
		step{Code: "func third(list []int) int {\n\tn := len(list)\n\treturn list[n+2]\n}"},
		step{Code: "x := 1\nx += third(list)"},
		step{Code: "for i := 0; i < 3; i++ {\n\tif i == 2 {\n\t\tpanic(\"no more\")\n\t}\n}"})
	for i, want := range []string{
		`knob "x": 12 is above 7; use a smaller one`,
		`line 1: knob "y": unknown`,
		"line 2: c has no field or method like that: c.nope",
		"line 2: undefined identifier: undefinedName",
		`import "no/such/package": not among the packages of this kernel`,
		"line 1: nothing to return",
		"line 1: nil pointer dereference; a pointer or variable used here has no value: set it, or run the cell that does again",
		"line 3: reflect: slice index out of range",
		"",
		"cell [9] line 3: reflect: slice index out of range",
		"line 3: no more",
	} {
		if out[i].Evalue != want {
			t.Errorf("cell %d failed with %q, want %q", i, out[i].Evalue, want)
		}
	}
}

// TestTyposAreAnswered: a name that is nearly right, a package that is not imported, and arguments that do not fit.
func TestTyposAreAnswered(t *testing.T) {
	t.Parallel()
	out := drive(t,
		step{Code: probeImport + `import ("time"; "drtmx/cluster")`},
		step{Code: "var r *cluster.Result\nvar c *cluster.Cluster"},
		step{Code: "c.Runn(2)"},
		step{Code: "r.Thruput"},
		step{Code: "r.Zzzzzz"},
		step{Code: "fmt.Println(1)"},
		step{Code: "smallbank.Savings"},
		step{Code: `c.Set("coroutines")`},
		step{Code: `c.Run("2ms")`},
		step{Code: "time.Sleep(time.Minute)", InterruptAfter: 0.5},
		step{Code: "x := r.Raw.Phasess[0].Name"},
		step{Code: "y := r.Raw.Nodes[0].Utilizatio"},
		step{Code: "func f(row cluster.Row) string { return row.Str(`a`) }"},
		step{Code: `time.Sleeep(2)`},
		step{Code: `cluster.Up(cluster.Spec{Presett: "farm"})`},
		step{Code: `cluster.Axis{"coroutines", 1, 2}`},
		step{Code: `var q int = "s"`},
		step{Code: `import "slices"`},
		step{Code: "var p *struct{ A int }\np.A"})
	for i, want := range []string{
		"", "",
		"line 1: c has no field or method like that: c.Runn, did you mean Run?",
		"line 1: r has no field or method like that: r.Thruput, did you mean Throughput?",
		"line 1: r has no field or method like that: r.Zzzzzz",
		`line 1: undefined identifier: fmt; import "fmt" first`,
		`line 1: undefined identifier: smallbank; import "drtmx/engine/workload/smallbank" first`,
		"line 1: not enough arguments in call to c.Set: have (constant), want (string, any)",
		`"2ms" is a string where a time.Duration is wanted; write it as 2*time.Millisecond`,
		"interrupted",
		"line 1: r.Raw has no field or method like that: r.Raw.Phasess, did you mean Phases?",
		"line 1: r.Raw.Nodes[0] has no field or method like that: r.Raw.Nodes[0].Utilizatio, did you mean Utilization?",
		"line 1: row has no field or method like that: row.Str; there are Index, Num, String, Text, Value",
		"line 1: package time has no Sleeep, did you mean Sleep?",
		"line 1: drtmx/engine/experiment.Spec has no field like that: Presett, did you mean Preset?",
		"too many values in a literal of drtmx/cluster.Axis, which has 2 fields; several values of one are a slice, []int{1, 2}",
		`"s" is a constant of kind string, where int is wanted`,
		`import "slices": not among the packages of this kernel; it has no generics: use package sort, append, copy and loops`,
		"nil pointer dereference; a pointer or variable used here has no value: set it, or run the cell that does again",
	} {
		if out[i].Evalue != want {
			t.Errorf("cell %d failed with %q, want %q", i, out[i].Evalue, want)
		}
	}
}

// soon is by when an interrupt has ended what would go on for minutes or for ever, in seconds of a machine that is busy with other
// tests; an idle one needs a fifth of a second.
const soon = 10

func TestInterrupt(t *testing.T) {
	t.Parallel()
	const works = "1 + 1"
	loops := map[string]string{
		"interpreted loop":   "for {\n}",
		"loop with a body":   "k := 0\nfor {\n\tk++\n}",
		"compiled run":       probeImport + "probe.Long(60 * 1000 * 1000000)",
		"loop in coroutine":  probeImport + "probe.InCoroutines(1000, func(i int) {\n\tif i == 20 {\n\t\tfor {\n\t\t}\n\t}\n})",
		"always in the loop": probeImport + "probe.InCoroutines(1000, func(i int) {\n\tfor {\n\t}\n})",
		"endless coroutines": probeImport + "probe.InCoroutines(1 << 40, func(i int) {})",
		"loop in a drawing":  "type drawn struct{}\nfunc (d drawn) HTML() string {\n\tfor {\n\t}\n}\ndrawn{}",
		"loop in function":   "func spin() {\n\tfor {\n\t}\n}\ngo spin()\nfor {\n}",
		"loop in goroutine":  "done := make(chan bool)\ngo func() {\n\tfor {\n\t}\n}()\nfor {\n}",
	}
	for name, code := range loops {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Twice: what one interrupt leaves behind must not hit or spare the next.
			out := drive(t, step{Code: code, InterruptAfter: 0.5}, step{Code: works},
				step{Code: code, InterruptAfter: 0.5}, step{Code: works})
			for _, i := range []int{0, 2} {
				if o := out[i]; o.Status != "error" || o.Evalue != "interrupted" || o.AfterInterrupt > soon {
					t.Errorf("cell %d: %s %q %.2f s after the interrupt", i, o.Status, o.Evalue, o.AfterInterrupt)
				}
				if o := out[i+1]; o.Status != "ok" || o.text() != "2" {
					t.Errorf("next cell: %s %q %q", o.Status, o.Evalue, o.text())
				}
			}
		})
	}
}

// The compiler does not notice an interrupt, but what it has compiled then does not run.
func TestInterruptEndsSleep(t *testing.T) {
	t.Parallel()
	out := drive(t, step{Code: "import \"time\"\ntime.Sleep(time.Minute)\nslept := true", InterruptAfter: 0.5}, step{Code: "slept"})
	if o := out[0]; o.Status != "error" || o.Evalue != "interrupted" || o.AfterInterrupt > soon {
		t.Errorf("%s %q %.2f s after the interrupt", o.Status, o.Evalue, o.AfterInterrupt)
	}
	if o := out[1]; o.text() != "false" {
		t.Errorf("what follows the sleep was run: %q %q", o.text(), o.Evalue)
	}
}

// What waits in Go itself cannot be interrupted; the user is told so, and what to do.
func TestInterruptInVainSaysSo(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"var late = make(chan int)\ngo func(c chan int) { probe.Deaf(5000 * 1000000); c <- 1 }(late)\n<-late",
		"import \"sync\"\nvar mu sync.Mutex\nmu.Lock()\ngo probe.Later(5000*1000000, mu.Unlock)\nmu.Lock()",
	} {
		o := drive(t, step{Code: probeImport + "probe.Deaf(1)"}, step{Code: code, InterruptAfter: 0.3}, step{Code: "1 + 1"})
		if !strings.Contains(o[1].text(), "restart the kernel") || o[1].AfterInterrupt < 3 {
			t.Errorf("%s\n%s %q %q", code, o[1].Status, o[1].Evalue, o[1].text())
		}
		if o[2].text() != "2" {
			t.Errorf("next cell: %q %q", o[2].text(), o[2].Evalue)
		}
	}
}

func TestInterruptWhileACellIsCompiled(t *testing.T) {
	t.Parallel()
	long := "sum := func() int { return 1" + strings.Repeat("+1", 30000) + " }\nran = sum() > 0"
	out := drive(t, step{Code: "ran := false"}, step{Code: long, InterruptAfter: 0.2}, step{Code: "ran"})
	if out[1].Status != "error" || out[1].Evalue != "interrupted" || out[2].text() != "false" {
		t.Errorf("%s %q, and ran is %s", out[1].Status, out[1].Evalue, out[2].text())
	}
}

// An interrupt while nothing runs is nobody's; one that came too late hits no later cell.
func TestInterruptOutsideCells(t *testing.T) {
	t.Parallel()
	out := drive(t,
		step{Code: "1", InterruptAfter: 0.05},
		step{Code: probeImport + "probe.Deaf(300 * 1000000)", InterruptAfter: 0.1},
		step{Code: "s := 0\nfor i := 0; i < 1000000; i++ {\n\ts += i\n}\ns"})
	if out[0].Status != "ok" || out[2].Status != "ok" || out[2].text() != "499999500000" {
		t.Errorf("statuses %s, %s; last cell shows %q", out[0].Status, out[2].Status, out[2].text())
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	out := drive(t, step{Code: probeImport + "probe.Steps(50)"},
		step{Code: "import \"drtmx/dashboard/charts\"\nreport := charts.Progress(\"endless\")\nfor {\n\treport(1, 10)\n}", InterruptAfter: 1})
	for i, o := range out {
		id, updates, last := "", 0, ""
		for _, m := range o.Messages {
			switch m.Type {
			case "display_data":
				id = m.Content.Transient.DisplayID
			case "update_display_data":
				if m.Content.Transient.DisplayID != id {
					t.Errorf("cell %d: update of %q, displayed was %q", i, m.Content.Transient.DisplayID, id)
				}
				updates++
				last = m.Content.Data["text/plain"]
			}
		}
		if id == "" || updates < 1 || last != "" || i == 0 && (updates < 3 || updates > 15) {
			t.Errorf("cell %d: bar %q had %d updates, the last %q", i, id, updates, last)
		}
	}
}

func TestChartForms(t *testing.T) {
	t.Parallel()
	if !charts.HasLibrary() {
		needed(t, "this build has no echarts; run go run ./dashboard/charts/fetch")
	}
	out := drive(t,
		step{Code: probeImport + "probe.Chart()"},
		step{Code: "probe.Chart()\n"},
		step{Code: "probe.Line()"},
		step{Code: "probe.Chart().Show()\n1"},
		step{Code: probeImport + "probe.Chart()"}) // the first cell again: its output is being replaced
	loaders := []int{1, 0, 0, 0, 1}
	for i, o := range out {
		n, found := 0, false
		for _, m := range o.Messages {
			if strings.Contains(m.Content.Data["text/html"], "DecompressionStream") {
				n++
			}
			if !strings.Contains(m.Content.Data["text/html"], "data-drtmx=") {
				continue
			}
			found = true
			if svg := m.Content.Data["image/svg+xml"]; i != 2 && !strings.HasPrefix(svg, "<svg") {
				t.Errorf("cell %d: chart without picture: %q", i, svg)
			}
			if m.Content.Data["text/plain"] == "" || m.Content.Data["application/json"] != "" {
				t.Errorf("cell %d: forms %v", i, m.Content.Data)
			}
		}
		if !found || n != loaders[i] {
			t.Errorf("cell %d: chart %v, %d loaders, want %d", i, found, n, loaders[i])
		}
	}
}

func TestOutputIsComplete(t *testing.T) {
	t.Parallel()
	const lines = 100_000
	out := drive(t,
		step{Code: fmt.Sprintf("import \"fmt\"\nfor i := 0; i < %d; i++ {\n\tfmt.Println(i)\n}", lines)},
		step{Code: "start, end := make(chan bool), make(chan bool)\ngo func() {\n\t<-start\n\tfmt.Println(\"late\")\n\tend <- true\n}()"},
		step{Code: "start <- true\n_ = <-end"})
	if n := strings.Count(out[0].text(), "\n"); n != lines {
		t.Errorf("%d lines came of %d", n, lines)
	}
	if n := len(out[0].Messages); n > 200 {
		t.Errorf("%d messages for one cell: servers drop what is too much", n)
	}
	if got := out[2].text(); got != "late\n" {
		t.Errorf("output of a goroutine that outlived its cell: %q", got)
	}
}

// The kernel has many messages' worth of output; where it is cut is no place of the text.
func TestOutputIsCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("é日🎉", 100_000)
	out := drive(t,
		step{Code: "import (\"fmt\"; \"strings\"; \"time\")\nfmt.Print(strings.Repeat(\"é日🎉\", 100000))"},
		step{Code: "fmt.Print(\"\\xc3\"); time.Sleep(200 * time.Millisecond); fmt.Print(\"\\xa9\")"},
		step{Code: "fmt.Print(\"half: \\xc3\")"})
	if got := out[0].text(); got != text {
		t.Errorf("%d bytes came of %d, %d characters are broken", len(got), len(text), strings.Count(got, "\ufffd"))
	}
	if got := out[1].text(); got != "é" {
		t.Errorf("a character in two writes came as %q", got)
	}
	if got := out[2].text(); got != "half: \ufffd" {
		t.Errorf("a half that stays one came as %q", got)
	}
}

// A command's output is all there when it has ended, and an interrupt ends it.
func TestCommands(t *testing.T) {
	t.Parallel()
	needClient(t)
	self := filepath.Join(t.TempDir(), "self") // ends as a command does that hears of an interrupt before the kernel
	if err := os.WriteFile(self, []byte("kill -INT $$\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := drive(t,
		step{Code: "$ seq 1 30000"},
		step{Code: "$ ls /no/such/folder\n1"},
		step{Code: "$ sleep 100", InterruptAfter: 0.5},
		step{Code: "\n$ echo a\n\n2"},
		step{Code: "$ sh " + self})
	if got := strings.Count(out[0].text(), "\n"); got != 30_000 {
		t.Errorf("%d lines of a command came of 30000", got)
	}
	if o := out[1]; o.Status != "error" || o.Evalue != "ls: exit status 2" || !strings.Contains(o.text(), "/no/such/folder") {
		t.Errorf("a command that fails: %s %q %q", o.Status, o.Evalue, o.text())
	}
	for _, o := range []outcome{out[2], out[4]} {
		if o.Status != "error" || o.Evalue != "interrupted" {
			t.Errorf("a command that was interrupted: %s %q", o.Status, o.Evalue)
		}
	}
	if got := out[3].text(); got != "a\n2" {
		t.Errorf("a command above Go: %q, %s %q", got, out[3].Status, out[3].Evalue)
	}
}

// A cell that fails, or is interrupted, takes with it what waits behind it.
func TestRunAllEndsAtTheFirstError(t *testing.T) {
	t.Parallel()
	out := drive(t,
		step{Code: probeImport + "ran := 0"},
		step{All: []string{"ran++", "probe.Deaf(3000 * 1000000)\npanic(\"here\")", "ran += 10", "ran += 100"}},
		step{Code: "ran"})
	if got := out[1].Evalue; got != "ok error aborted aborted" {
		t.Errorf("four cells, of which the second fails: %s", got)
	}
	if got := out[2].text(); got != "1" {
		t.Errorf("cells behind the one that failed ran: %s", got)
	}
}

func TestTooltips(t *testing.T) {
	t.Parallel()
	names := map[string]string{
		"charts.Progress":   "func Progress(title string) func(done, total int)",
		"chart.SVG":         "func (c *Chart) SVG() string",
		"chart":             "*charts.Chart",
		"charts":            "Package charts",
		"strings.ToUpper":   "func ToUpper(s string) string",
		"nothing.like.this": "",
	}
	steps := []step{{Code: "import (\"strings\"; \"drtmx/dashboard/charts\")\nchart := charts.New(\"t\", nil, \"\")"}}
	var order []string
	for name := range names {
		order = append(order, name)
		steps = append(steps, step{Inspect: name})
	}
	for i, o := range drive(t, steps...)[1:] {
		want := names[order[i]]
		if want == "" && o.Evalue != "" || !strings.Contains(o.Evalue, want) {
			t.Errorf("tooltip of %s: %q, want %q in it", order[i], o.Evalue, want)
		}
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	begins := []struct{ begin, match string }{
		{"strings.ToUp", "strings.ToUpper"},
		{"chart.S", "chart.SVG"},
		{"charts.Prog", "charts.Progress"},
		{"char", "chart"},
		{"// 5 µs 🎉\nstrings.ToUp", "// 5 µs 🎉\nstrings.ToUpper"}, // positions count characters
		{"nothing.like", ""},
	}
	steps := []step{{Code: "import (\"strings\"; \"drtmx/dashboard/charts\")\nchart := charts.New(\"t\", nil, \"\")"}}
	for _, b := range begins {
		steps = append(steps, step{Complete: b.begin})
	}
	for i, o := range drive(t, steps...)[1:] {
		if o.Status != "ok" || !strings.Contains(o.Evalue, begins[i].match) {
			t.Errorf("completion of %s: %q, want %s in it", begins[i].begin, o.Evalue, begins[i].match)
		}
	}
}

// What a package keeps to itself cannot be named; the fields of the notebook's own types can.
func TestCompletionOfMembers(t *testing.T) {
	t.Parallel()
	o := drive(t, step{Code: "import (\"drtmx/dashboard/charts\"; \"bytes\")\ntype mine struct { low, High int }\nchart, b, my := charts.New(\"t\", nil, \"\"), bytes.NewBuffer(nil), mine{}"},
		step{Complete: "chart."}, step{Complete: "my."}, step{Complete: "b."})
	if got := o[1].Evalue; !strings.Contains(got, "chart.SVG") || strings.Contains(got, "chart.svg") {
		t.Errorf("completion of chart.: %q, want what is exported alone", got)
	}
	if got := o[2].Evalue; got != "my.High my.low" {
		t.Errorf("completion of my.: %q, want both fields", got)
	}
	if got := o[3].Evalue; !strings.Contains(got, "b.Reset") || strings.Contains(got, "b.buf") {
		t.Errorf("completion of b.: %q, want what is exported alone", got)
	}
}

// What the kernel itself declares in the interpreter is nobody's to complete.
func TestCompletionHidesTheKernelsNames(t *testing.T) {
	t.Parallel()
	mine := drive(t, step{Code: "drtmxMine, drtmx_ := 1, 2"}, step{Complete: "drtmx"}, step{Complete: "drtmx__"})
	if mine[1].Evalue != "drtmxMine drtmx_" && mine[1].Evalue != "drtmx_ drtmxMine" {
		t.Errorf("completion of drtmx: %q, want drtmxMine and drtmx_ alone", mine[1].Evalue)
	}
	if mine[2].Evalue != "" {
		t.Errorf("completion of drtmx__: %q, want nothing", mine[2].Evalue)
	}
}
