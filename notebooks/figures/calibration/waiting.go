package calibration

import (
	"strings"

	"drtmx/notebooks/figures/published"
)

// Waiting is a row that this version does not measure.
type Waiting struct {
	ID    string `json:"id"`
	Use   string `json:"use"`
	Claim string `json:"claim"`
	Why   string `json:"why"`
}

// waits are the reasons, by id or by the beginning of ids.
var waits = []struct{ id, reason string }{
	{"t2-1-r74v-nvm-cap", "NVM has no capacity here, it is as large as what is allocated"},
	{"s2-nextgen-rnic-", "cited, no profile has that RNIC"},
	{"s2-conclusion-gain", "a summary of systems that are compared in other chapters, without an experiment of its own"},
	{"f5-6a-need-", "a reference line, of clusters that the chapter does not name"},
}

// waiting finds the reason why a row is not measured, "" if there is none.
func waiting(id string) string {
	for _, w := range waits {
		if w.id == id || strings.HasSuffix(w.id, "-") && strings.HasPrefix(id, w.id) {
			return w.reason
		}
	}
	return ""
}

// unmeasured are the rows of the table that nothing measures.
func unmeasured() []Waiting {
	measured := map[string]bool{}
	for _, m := range measures() {
		measured[m.id] = true
	}
	out := []Waiting{}
	for _, p := range published.Table() {
		if !measured[p.ID] {
			out = append(out, Waiting{p.ID, p.Use, p.Claim, waiting(p.ID)})
		}
	}
	return out
}
