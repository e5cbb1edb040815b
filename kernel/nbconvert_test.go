package kernel_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// notebook writes a notebook of code cells.
func notebook(t *testing.T, cells ...string) string {
	t.Helper()
	nb := map[string]any{
		"nbformat": 4, "nbformat_minor": 4,
		"metadata": map[string]any{
			"kernelspec":    map[string]any{"name": "drtmx", "display_name": "Go (drtmx)", "language": "go"},
			"language_info": map[string]any{"name": "go"},
		},
	}
	var list []any
	for _, c := range cells {
		list = append(list, map[string]any{
			"cell_type": "code", "source": c, "metadata": map[string]any{}, "outputs": []any{}, "execution_count": nil,
		})
	}
	nb["cells"] = list
	b, err := json.Marshal(nb)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "test.ipynb")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestNbconvert(t *testing.T) {
	t.Parallel()
	needNbconvert(t)
	file := notebook(t, "x := 20", probeImport+"probe.Steps(3)", "x + 22", "probe.Chart()")
	out, err := jupyter(t, "jupyter", "nbconvert", "--to", "notebook", "--execute", "--output", "done", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(filepath.Dir(file), "done.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"42"`, "image/svg+xml"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("executed notebook lacks %s", want)
		}
	}
}

func TestNbconvertFails(t *testing.T) {
	t.Parallel()
	needNbconvert(t)
	for _, bad := range []string{"probe.Panicking()", "probe.Failing()", "nope"} {
		file := notebook(t, probeImport+"1", bad, "2")
		out, err := jupyter(t, "jupyter", "nbconvert", "--to", "notebook", "--execute", "--output", "done", file).CombinedOutput()
		if err == nil {
			t.Errorf("%s: nbconvert succeeded\n%s", bad, out)
		}
	}
}
