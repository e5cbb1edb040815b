package chapter2

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"drtmx/notebooks/figures/figure"
)

// These figures of §2.2 are in a notebook, and a test of the kernel runs it and wants what is committed. So they are not
// computed here again: what must hold of them is read from the notebook.
func TestFiguresOfTheNotebook(t *testing.T) {
	texts := figuresOf(t, "../../02-rdma-primitives.ipynb")
	off := regexp.MustCompile(`is ([0-9.]+) % (below|above) paper scale's`)
	for id, must := range map[string][]string{
		"2-2a": {"f2-2a-shared-drop", "f2-2a-order"},
		"2-5a": {"f2-5-co-one", "f2-5-co-two", "f2-5-or-order", "f2-5a-reads-peak", "s2-mmio-order"},
		"2-5b": nil,
	} {
		text, r := texts[id], recipe(t, id)
		claims := r.From(figure.Quick, r.Unmeasured()).Claims
		for _, want := range must {
			i := slices.IndexFunc(claims, func(c figure.Claim) bool { return c.ID == want })
			if i < 0 {
				t.Fatalf("%s has no claim %s", id, want)
			}
			if !regexp.MustCompile(`(?m)^✓ holds +` + regexp.QuoteMeta(claims[i].Claim) + `: `).MatchString(text) {
				t.Errorf("%s does not hold in the notebook:\n%s", want, text)
			}
		}
		gap := off.FindStringSubmatch(text)
		if gap == nil {
			t.Errorf("%s: nothing is said of paper scale in the notebook:\n%s", id, text)
			continue
		}
		if share, err := strconv.ParseFloat(gap[1], 64); err != nil || share > 5 {
			t.Errorf("%s is %s %% off paper scale, at most 5 are allowed", id, gap[1])
		}
	}
}

// figuresOf are the figures that a notebook shows at quick scale, as text.
func figuresOf(t *testing.T, file string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var nb struct {
		Cells []struct {
			Source  []string `json:"source"`
			Outputs []struct {
				Data map[string]json.RawMessage `json:"data"`
			} `json:"outputs"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(b, &nb); err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`^figures\.Get\("([^"]+)"\)\.Show\(\)$`)
	out := map[string]string{}
	for _, c := range nb.Cells {
		id := shown.FindStringSubmatch(strings.TrimSpace(strings.Join(c.Source, "")))
		if id == nil {
			continue
		}
		for _, o := range c.Outputs {
			var lines []string
			if json.Unmarshal(o.Data["text/plain"], &lines) == nil {
				out[id[1]] = strings.Join(lines, "")
			}
		}
	}
	return out
}
