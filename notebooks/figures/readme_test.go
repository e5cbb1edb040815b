package figures

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"drtmx/notebooks/figures/prediction"
)

// The counts in the README are those of what is recorded, a table for each chapter whose numbers are open. UPDATE=1 writes them.
func TestCountsInREADME(t *testing.T) {
	const file = "../../README.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	var chapters []int
	for _, p := range prediction.Results() {
		if !slices.Contains(chapters, p.Chapter) {
			chapters = append(chapters, p.Chapter)
		}
	}
	for _, chapter := range chapters {
		head := fmt.Sprintf("| predictions of chapter %d |", chapter)
		from := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, head) })
		if from < 0 {
			t.Fatalf("no table %q", head)
		}
		from += 2 // behind the head and its rule
		to := from
		for strings.HasPrefix(lines[to], "|") {
			to++
		}
		want := countRows(chapter)
		if slices.Equal(lines[from:to], want) {
			continue
		}
		if os.Getenv("UPDATE") == "" {
			t.Errorf("the README has\n%s\nand recorded is\n%s\nUPDATE=1 go test ./notebooks/figures -run TestCountsInREADME writes it", strings.Join(lines[from:to], "\n"), strings.Join(want, "\n"))
		}
		lines = slices.Replace(lines, from, to, want...)
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// countRows are the counts of a chapter, a row for each column.
func countRows(chapter int) (out []string) {
	for _, c := range recordedReport(chapter).Columns {
		row := "| " + c.String()
		for _, n := range []int{c.Numbers, c.Within10, c.Within20, c.Within35, c.Orders, c.OrdersHold, c.OrdersContradicted, c.OrdersUndecided} {
			row += fmt.Sprintf(" | %d", n)
		}
		out = append(out, row+" |")
	}
	return out
}
