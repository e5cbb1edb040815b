package figures

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"drtmx/notebooks/figures/prediction"
)

// trustPage is the page of the handbook that counts the predictions.
const trustPage = "../../cluster/handbook/pages/trust.md"

// The counts in the handbook are those of what is recorded, a table for each chapter whose numbers are open. UPDATE=1 writes them.
func TestCountsInHandbook(t *testing.T) {
	text, err := os.ReadFile(trustPage)
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
			t.Errorf("the handbook has\n%s\nand recorded is\n%s\nUPDATE=1 go test ./notebooks/figures -run TestCountsInHandbook writes it", strings.Join(lines[from:to], "\n"), strings.Join(want, "\n"))
		}
		lines = slices.Replace(lines, from, to, want...)
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(trustPage, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The README says of the predictions of chapter 4 what is recorded.
func TestCountsInREADME(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	said := false
	for _, c := range recordedReport(4).Columns {
		if c.Name == prediction.Now && !c.Paper {
			said = true
			want := fmt.Sprintf("of the %d numbers that chapter 4 of the thesis publishes, %d are predicted within 20 %%", c.Numbers, c.Within20)
			if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
				t.Errorf("the README does not say: %s", want)
			}
		}
	}
	if !said {
		t.Error("no column now")
	}
}

// countRows are the counts of a chapter, a row for each column.
func countRows(chapter int) (out []string) {
	for _, row := range recordedReport(chapter).CountRows() {
		out = append(out, "| "+strings.Join(row, " | ")+" |")
	}
	return out
}
