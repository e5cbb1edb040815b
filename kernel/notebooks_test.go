package kernel_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
	"drtmx/cluster/runs/runstest"
	"drtmx/engine/batch"
	"drtmx/notebooks/figures"
)

var update = flag.Bool("update", false, "execute the notebooks and write them back")

// ipynb is as much of a notebook file as is looked at here.
type ipynb struct {
	Cells    []map[string]any `json:"cells"`
	Metadata map[string]any   `json:"metadata"`
	Format   int              `json:"nbformat"`
	Minor    int              `json:"nbformat_minor"`
}

// readNotebook reads a notebook without the outputs in which nothing is left:
// whether there was one depends on how fast the machine was.
func readNotebook(t *testing.T, file string) *ipynb {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var nb ipynb
	if err := json.Unmarshal(b, &nb); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, c := range nb.Cells {
		old, ok := c["outputs"].([]any)
		if !ok {
			continue
		}
		kept := []any{}
		for _, o := range old {
			o, ok := o.(map[string]any)
			if !ok || blank(o) {
				continue
			}
			if n := len(kept); n > 0 && o["output_type"] == "stream" && sameStream(kept[n-1], o) {
				last := kept[n-1].(map[string]any)
				last["text"] = lines(text(last["text"]) + text(o["text"]))
				continue
			}
			kept = append(kept, o)
		}
		c["outputs"] = kept
	}
	return &nb
}

func sameStream(a any, b map[string]any) bool {
	m, ok := a.(map[string]any)
	return ok && m["output_type"] == "stream" && m["name"] == b["name"]
}

// text and lines convert between a string and the list of lines that notebook
// files prefer.
func text(v any) string {
	list, ok := v.([]any)
	if !ok {
		s, _ := v.(string)
		return s
	}
	var b strings.Builder
	for _, l := range list {
		fmt.Fprint(&b, l)
	}
	return b.String()
}

func lines(s string) []any {
	list := []any{}
	for l := range strings.Lines(s) {
		list = append(list, l)
	}
	return list
}

// blank says whether nothing is left of an output: a finished progress bar.
func blank(output map[string]any) bool {
	data, ok := output["data"].(map[string]any)
	if !ok {
		return false
	}
	for _, v := range data {
		if fmt.Sprint(v) != "" && fmt.Sprint(v) != "[]" {
			return false
		}
	}
	return true
}

// executed runs a notebook in a copy and returns it. Where store is not empty, it is the file of the run store that the notebook has
// points of sweeps and figures from, and puts them into.
func executed(t *testing.T, file, store string) *ipynb {
	t.Helper()
	needNbconvert(t)
	dir := t.TempDir()
	cmd := jupyter(t, "jupyter", "nbconvert", "--to", "notebook", "--execute",
		"--ExecutePreprocessor.timeout=1200", "--ExecutePreprocessor.record_timing=False",
		"--output-dir", dir, "--output", "done", file)
	cmd.Env = append(cmd.Env, "DRTMX_ECHARTS=off")
	if store != "" {
		cmd.Env = append(cmd.Env, runs.FileVariable+"="+store)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", file, err, out)
	}
	return readNotebook(t, filepath.Join(dir, "done.ipynb"))
}

// outputs of each cell, to compare.
func outputs(t *testing.T, nb *ipynb) []string {
	t.Helper()
	var all []string
	for _, c := range nb.Cells {
		b, err := json.Marshal(c["outputs"])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(b))
	}
	return all
}

func different(t *testing.T, what string, a, b *ipynb) {
	t.Helper()
	x, y := outputs(t, a), outputs(t, b)
	if len(x) != len(y) {
		t.Errorf("%s: %d and %d cells", what, len(x), len(y))
		return
	}
	for i := range x {
		if x[i] != y[i] {
			at := 0
			for at < min(len(x[i]), len(y[i])) && x[i][at] == y[i][at] {
				at++
			}
			from := max(0, at-100)
			t.Errorf("%s: cell %d (%v) differs:\n%.300s\n%.300s", what, i, a.Cells[i]["source"], x[i][from:], y[i][from:])
		}
	}
}

// manyMachines is the notebook whose points other processes compute. What it shows is that they do: its run store is empty.
const manyMachines = "10-many-machines.ipynb"

// share puts the points of the figure that workers have computed for manyMachines into the run store of all tests. The notebook of
// primitives, which shows the same figure, then has the numbers that this process would compute.
func share(t *testing.T, own, shared string) {
	t.Helper()
	open := func(file string) *runs.Store {
		s, err := runs.Open(runs.Options{File: file})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	from, to := open(own), open(shared)
	specs, err := figures.Get("2-5a").AllSpecs(figures.Quick)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range specs {
		k, err := batch.RunKey(s)
		if err != nil {
			t.Fatal(err)
		}
		body, ok := from.Get(keep.StoreKey(k))
		if !ok {
			t.Errorf("%v: the notebook has shown figure 2-5a, and its run store has no such point", s)
			continue
		}
		if err := to.Put(keep.StoreKey(k), body); err != nil {
			t.Fatal(err)
		}
	}
}

// The notebooks of the repository run, and hold the numbers that this code gives. Points of sweeps and figures may come from the
// run store of all tests, which has those of this code alone. That points are the same each time is proven where they are computed
// twice: by the digests of package engine's tests, and by the notebook of many machines, whose workers compute what it computes itself.
// That notebook comes first, alone, for it has as many workers as there are cores, and others show what they have computed.
func TestNotebooks(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../notebooks/*.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(files, func(a, b string) int {
		return cmp.Compare(strings.Index(b, manyMachines), strings.Index(a, manyMachines))
	})
	shared, ok := runstest.Shared()
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			store, alone := shared, filepath.Base(file) == manyMachines
			if !alone {
				t.Parallel()
			}
			if *update {
				write(t, file, executed(t, file, ""))
				return
			}
			if alone {
				store = filepath.Join(t.TempDir(), "runs.db")
			}
			first, committed := executed(t, file, store), readNotebook(t, file)
			if alone && ok {
				share(t, store, shared)
			}
			if slices.Equal(outputs(t, committed), outputs(t, first)) {
				return // what is committed was executed too: that is twice
			}
			different(t, "committed and executed (go test ./kernel -run TestNotebooks -update writes it anew)", committed, first)
			different(t, "executed twice", first, executed(t, file, "")) // tells an old notebook from one that is not the same each time
		})
	}
}

// write keeps what a reader needs and nothing of this machine.
func write(t *testing.T, file string, nb *ipynb) {
	t.Helper()
	nb.Metadata = map[string]any{
		"kernelspec":    map[string]any{"display_name": "Go (drtmx)", "language": "go", "name": "drtmx"},
		"language_info": map[string]any{"name": "go", "file_extension": ".go", "mimetype": "text/x-go", "pygments_lexer": "go"},
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(nb); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
