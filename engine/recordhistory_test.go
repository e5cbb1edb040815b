package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"drtmx/engine/experiment"
)

// dense is a small system in which transactions meet.
func dense(k experiment.Knobs) experiment.Spec {
	k["workload"], k["workload.keys"] = "registers", 60
	return small(k)
}

// TestRecordHistory: the file has every attempt, whatever share of the accesses is checked, and the run is
// the same run.
func TestRecordHistory(t *testing.T) {
	for _, check := range []string{"full", "sampled", "off"} {
		for _, file := range []string{"h.jsonl", "h.edn"} {
			spec := dense(experiment.Knobs{"check": check})
			plain := mustRun(t, spec)
			var out bytes.Buffer
			r, err := RunRecorded(context.Background(), spec, file, &out, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.Digest != plain.Digest || r.Events != plain.Events || r.Commits != plain.Commits {
				t.Errorf("%s, %s: digest %s, without a history %s", check, file, r.Digest, plain.Digest)
			}
			lines := uint64(bytes.Count(out.Bytes(), []byte("\n")))
			if strings.HasSuffix(file, "edn") {
				lines = uint64(bytes.Count(out.Bytes(), []byte(":type :ok")) + bytes.Count(out.Bytes(), []byte(":type :fail")))
			}
			// From the begin of the warm-up to the end of the drain there are more than in the interval.
			if h := r.History; h == nil || h.Error != "" || h.File != file || h.Attempts != lines || lines < r.Commits+r.Aborts || r.Aborts == 0 {
				t.Errorf("%s, %s: %+v, %d lines, %d commits, %d aborts", check, file, h, lines, r.Commits, r.Aborts)
			}
			if !strings.Contains(r.String(), fmt.Sprintf("%d attempts of transactions in %s", lines, file)) {
				t.Errorf("the text does not tell of it:\n%s", r)
			}
		}
	}
}

// TestHistoryLines: each line has the fields of the documented form, and the commits after the warm-up are those
// that the result counts, by type.
func TestHistoryLines(t *testing.T) {
	spec := small(experiment.Knobs{"duration_ns": 200_000})
	var out bytes.Buffer
	r, err := RunRecorded(context.Background(), spec, "h.jsonl", &out, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen, status := map[string]uint64{}, map[string]int{}
	dec := json.NewDecoder(&out)
	dec.DisallowUnknownFields()
	ids := map[uint64]bool{}
	for dec.More() {
		var x struct {
			ID           uint64
			Node, Thread int
			Type, Status string
			BeginNS      int64 `json:"begin_ns"`
			EndNS        int64 `json:"end_ns"`
			Reads        []struct {
				Table        string
				Key, Version uint64
				Found        bool
			}
			Writes []struct {
				Table        string
				Key, Version uint64
				Kind         string
			}
		}
		if err := dec.Decode(&x); err != nil {
			t.Fatal(err)
		}
		if ids[x.ID] || x.EndNS < x.BeginNS || x.Node < 0 || x.Node > 3 {
			t.Fatalf("%+v", x)
		}
		ids[x.ID] = true
		status[x.Status]++
		if x.Status == "committed" {
			seen[x.Type]++
			if len(x.Reads) == 0 {
				t.Errorf("nothing was read: %+v", x)
			}
		}
		for _, w := range x.Writes {
			if w.Kind != "update" || (w.Version == 0) != (x.Status != "committed") {
				t.Errorf("%+v", x)
			}
		}
	}
	for name, s := range r.ByType {
		if seen[name] < s.Commits || s.Commits == 0 {
			t.Errorf("%s: %d commits in the file, %d in the result", name, seen[name], s.Commits)
		}
	}
	if status["committed"] == 0 || status["aborted"] == 0 || status["rolled-back"] == 0 || len(status) != 3 {
		t.Error(status)
	}
}

// TestHistoryRefused names what does not go with a history.
func TestHistoryRefused(t *testing.T) {
	for want, err := range map[string]error{
		`history = h.txt: must end in .jsonl`:  CheckHistory(small(nil), "h.txt"),
		"workload micro-read runs no transact": CheckHistory(small(experiment.Knobs{"workload": "micro-read"}), "h.edn"),
	} {
		if err == nil || !strings.Contains(err.Error(), want) || !experiment.IsSpecError(err) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	s := open(t, small(nil))
	var out bytes.Buffer
	if err := s.RecordHistory("a.edn", &out); err != nil {
		t.Fatal(err)
	}
	if err := s.RecordHistory("b.edn", &out); err == nil || !strings.Contains(err.Error(), "is written to a.edn already") {
		t.Error(err)
	}
	s = open(t, small(nil))
	if err := s.Advance(1000); err != nil {
		t.Fatal(err)
	}
	if err := s.RecordHistory("b.edn", &out); err == nil || !strings.Contains(err.Error(), "it is 1000 ns") {
		t.Error(err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestHistoryDiskFull: the run goes on, its numbers are those of a run without, and the result says what is missing.
func TestHistoryDiskFull(t *testing.T) {
	spec := dense(experiment.Knobs{})
	r, err := RunRecorded(context.Background(), spec, "h.jsonl", full{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Digest != mustRun(t, spec).Digest || r.History.Error != "no space left on device" {
		t.Errorf("%+v", r.History)
	}
	if !strings.Contains(r.String(), "h.jsonl is not whole: no space left on device") {
		t.Error(r.String())
	}
}

// TestOthersCanCheck: a checker that shares nothing with ours reads the EDN and comes to the same verdict, on the
// correct protocol and on one whose transactions read of different moments. engine/planted has others that are wrong.
func TestOthersCanCheck(t *testing.T) {
	serves := map[bool]string{true: "right", false: "wrong"}
	for _, x := range []struct {
		load, preset, cc string
	}{
		{"churn", "drtm+h", "occ"}, {"churn", "fasst", "occ"}, {"churn", "farm", "occ"},
		{"registers", "drtm+h", "occ"}, {"registers", "fasst", "occ"}, {"registers", "farm", "occ"}, {"registers", "drtm+h", "rc"},
	} {
		t.Run(x.cc+"/"+x.load+"/"+x.preset, func(t *testing.T) {
			set := experiment.Knobs{"preset": x.preset, "cc": x.cc}
			spec := dense(set)
			if x.load == "churn" {
				set["workload"], set["workload.keys"] = "churn", 24
				spec = small(set)
			}
			s := open(t, spec)
			var out bytes.Buffer
			if err := s.RecordHistory("h.edn", &out); err != nil {
				t.Fatal(err)
			}
			advance(t, s, 3_000_000)
			if err := s.Drain(); err != nil {
				t.Fatal(err)
			}
			s.EndHistory()
			n, why := serialise(t, out.String())
			checks := s.Result().Checks
			ours := checks.Passed() && len(checks.Anomalies) == 0 // what it claims or not
			if want := x.cc == "occ"; ours != want || (why == "") != want {
				t.Errorf("%d transactions: ours says %s, the other says %s %s", n, serves[ours], serves[why == ""], why)
			}
		})
	}
}

// TestHistoryOfRowsThatComeAndGo: inserts, deletes and reads of what is not there are written with versions that only
// grow, each from one that somebody wrote before or that was there at the start.
func TestHistoryOfRowsThatComeAndGo(t *testing.T) {
	var out bytes.Buffer
	spec := small(experiment.Knobs{"workload": "churn", "workload.keys": 40})
	if _, err := RunRecorded(context.Background(), spec, "h.jsonl", &out, nil); err != nil {
		t.Fatal(err)
	}
	type version struct{ key, number uint64 }
	written, kinds := map[version]string{}, map[string]int{}
	type read struct {
		version
		found bool
	}
	var reads []read
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		var x struct {
			Status string
			Reads  []struct {
				Key, Version uint64
				Found        bool
			}
			Writes []struct {
				Key, Version uint64
				Kind         string
			}
		}
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		if x.Status != "committed" {
			continue
		}
		for _, r := range x.Reads {
			reads = append(reads, read{version{r.Key, r.Version}, r.Found})
		}
		for _, w := range x.Writes {
			if v := (version{w.Key, w.Version}); written[v] != "" {
				t.Errorf("key %d has version %d twice", w.Key, w.Version)
			} else {
				written[v] = w.Kind
			}
			kinds[w.Kind]++
		}
	}
	for _, r := range reads {
		kind := written[r.version]
		if start := r.number == 2 && r.found || r.number == 0 && !r.found; !start && (kind == "" || (kind == "delete") == r.found) {
			t.Errorf("key %d was read in version %d, found %v, which is of kind %q", r.key, r.number, r.found, kind)
		}
		kinds[fmt.Sprint(r.found)]++
	}
	for _, kind := range []string{"insert", "delete", "update", "true", "false"} {
		if kinds[kind] == 0 {
			t.Errorf("nothing of kind %s: %v", kind, kinds)
		}
	}
}

var (
	ednLine = regexp.MustCompile(`^\{:index (\d+), :type :(invoke|ok|fail|info), :process (\d+), :f :txn, :value (nil|\[.*\]), :time \d+\}$`)
	ednItem = regexp.MustCompile(`\[:(r|w) "([^"]+)" (nil|-?\d+)\]`)
)

// serialise reads a Jepsen history of registers and looks for an order of the committed transactions that keeps
// versions and real time: edges from writers to readers, from readers and writers to who replaced what they had, and
// through a chain of completions from who had ended to who then began. Without a cycle there is such an order.
func serialise(t *testing.T, text string) (n int, why string) {
	t.Helper()
	type at struct{ key, version string }
	writer, over := map[at]int{}, map[at]int{}
	readers := map[at][]int{}
	var next [][]int // edges
	node := func() int { next = append(next, nil); return len(next) - 1 }
	edge := func(from, to int) { next[from] = append(next[from], to) }
	begun, completed := map[string]int{}, node() // the chain's last
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		m := ednLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatal("not EDN of a transaction: " + line)
		}
		kind, process := m[2], m[3]
		if kind == "invoke" {
			begun[process] = node()
			edge(completed, begun[process])
			continue
		}
		if kind != "ok" {
			continue // nobody may read what it would have written
		}
		me := begun[process]
		n++
		seen := map[string]string{}
		for _, item := range ednItem.FindAllStringSubmatch(m[4], -1) {
			x := at{item[2], item[3]}
			if item[1] == "r" {
				seen[x.key] = x.version
				readers[x] = append(readers[x], me)
				continue
			}
			if _, twice := writer[x]; twice {
				return n, fmt.Sprintf("%v was written twice", x)
			}
			old := at{x.key, seen[x.key]}
			if _, twice := over[old]; twice {
				return n, fmt.Sprintf("%v was replaced twice", old)
			}
			writer[x], over[old] = me, me
		}
		barrier := node()
		edge(completed, barrier)
		edge(me, barrier)
		completed = barrier
	}
	for x, list := range readers {
		from, known := writer[x]
		if !known && x.version != "nil" {
			return n, fmt.Sprintf("%v was read and never written", x)
		}
		to, replaced := over[x]
		for _, r := range list {
			if known && r != from {
				edge(from, r)
			}
			if replaced && r != to {
				edge(r, to)
			}
		}
	}
	if left := cyclic(next); left > 0 {
		return n, fmt.Sprintf("%d transactions are on cycles or behind them", left)
	}
	return n, ""
}

// cyclic counts the nodes that no order of all edges reaches.
func cyclic(next [][]int) int {
	before := make([]int, len(next))
	for _, list := range next {
		for _, to := range list {
			before[to]++
		}
	}
	var ready []int
	for i, n := range before {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	left := len(next)
	for len(ready) > 0 {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		left--
		for _, to := range next[i] {
			if before[to]--; before[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
	return left
}
