package result

import (
	"encoding/json"
	"sort"
	"strings"
)

// Metric reads a number of a result by its JSON path, as "latency_us.p50", "by_type.balance.commits"
// or "phases.execution.mean_us". It is false where the result has no such number.
func (r *Result) Metric(path string) (float64, bool) {
	x, ok := r.flat()[path]
	return x, ok
}

// Metrics lists the paths of all numbers of a result, headline numbers first.
func (r *Result) Metrics() []string {
	paths, _ := r.Numbers()
	return paths
}

// Numbers are all numbers of a result by path, and the paths in the order of Metrics.
func (r *Result) Numbers() (paths []string, by map[string]float64) {
	by = r.flat()
	paths = make([]string, 0, len(by))
	for p := range by { // order-free: fills a list that is sorted
		paths = append(paths, p)
	}
	sortMetrics(paths)
	return paths, by
}

// sortMetrics puts headline numbers first.
func sortMetrics(paths []string) {
	rank := func(p string) int {
		top, _, _ := strings.Cut(p, ".")
		for i, h := range metricOrder {
			if p == h || top == h {
				return i
			}
		}
		return len(metricOrder)
	}
	sort.Slice(paths, func(i, j int) bool {
		if a, b := rank(paths[i]), rank(paths[j]); a != b {
			return a < b
		}
		return paths[i] < paths[j]
	})
}

// metricOrder is the order in which comparisons and tables list metrics.
var metricOrder = []string{
	"throughput", "latency_us.p50", "latency_us.p99", "latency_us", "abort_rate", "round_trips_per_txn",
	"commits", "empty", "uncounted", "aborts", "rollbacks", "failed", "lost", "phases", "milestones", "by_type", "utilization", "bottleneck", "little", "nvm", "parts", "verbs",
}

// notCompared are numbers that describe the run and not the system, and those that are names: the
// bottleneck's machine 1.5 is none.
var notCompared = []string{"spec.", "preset_diff.", "scale.", "checks.", "drain.", "nodes.", "changes.", "virtual_ns", "from_ns", "wall_ms", "events", "throughput_ci95", "ci95.",
	"bottleneck.node", "bottleneck.index", "limit."}

// flat is every number of the JSON form by path.
func (r *Result) flat() map[string]float64 {
	text, err := json.Marshal(r)
	if err != nil {
		panic("engine: result: " + err.Error())
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		panic("engine: result: " + err.Error())
	}
	out := map[string]float64{}
	flatten(out, "", tree)
	return out
}

func flatten(out map[string]float64, path string, v any) {
	switch x := v.(type) {
	case float64:
		out[path] = x
	case map[string]any:
		for k, sub := range x { // order-free: fills a map
			p := k
			if path != "" {
				p = path + "." + k
			}
			flatten(out, p, sub)
		}
	}
}

// SideBySide lists the paths that are worth comparing between these results and that each of them
// knows, with the values.
func SideBySide(results ...*Result) (paths []string, values map[string][]float64) {
	flats := make([]map[string]float64, len(results))
	all := map[string]bool{}
	for i, r := range results {
		flats[i] = r.flat()
		for p := range flats[i] { // order-free: fills a map
			all[p] = true
		}
	}
	values = map[string][]float64{}
next:
	for p := range all { // order-free: fills a map, and a list that is sorted
		for _, skip := range notCompared {
			if strings.HasPrefix(p, skip) {
				continue next
			}
		}
		xs := make([]float64, len(results))
		for i, r := range results {
			x, ok := flats[i][p]
			if !ok && !r.noneOf(p) {
				continue next
			}
			xs[i] = x
		}
		paths, values[p] = append(paths, p), xs
	}
	sortMetrics(paths)
	return paths, values
}

// noneOf says that a number which the result does not have is 0 and not unknown: nothing failed, or
// no transaction was in the phase. A percentile that is absent had too few samples.
func (r *Result) noneOf(path string) bool {
	top, rest, _ := strings.Cut(path, ".")
	switch top {
	case "empty", "uncounted", "failed", "lost":
		return true
	case "by_type":
		return strings.HasSuffix(rest, ".empty") || strings.HasSuffix(rest, ".uncounted")
	case "phases":
		return len(r.Phases) > 0 && !strings.HasSuffix(rest, ".p50_us")
	case "milestones":
		return len(r.Milestones) > 0
	}
	return false
}
