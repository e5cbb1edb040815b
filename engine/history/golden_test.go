package history

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata from what the checker says")

// TestHistories reads every file of testdata. A block is a title line that starts
// with "history", options, one line per transaction, and after "->" what the
// checker says:
//
//	T1 0..10 r(x 2) w(x 2>4) aborted
//
// ran from 0 to 10 us, read x at version 2 and overwrote version 2 with 4.
func TestHistories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		blocks := strings.Split(string(data), "\nhistory ")
		out.WriteString(blocks[0])
		for _, b := range blocks[1:] {
			title, rest, _ := strings.Cut(b, "\n")
			body, _, _ := strings.Cut(rest, "->")
			fmt.Fprintf(&out, "\nhistory %s\n%s->\n", title, body)
			rep := Check(parseHistory(t, title, body))
			fmt.Fprintf(&out, "ok=%v\n", rep.OK)
			for _, a := range rep.Anomalies {
				fmt.Fprintf(&out, "%s breaks=%v: %s\n", a.Kind, a.Breaks, a.Text)
				if len(a.Cycle) > 1 {
					out.WriteString("  " + cycleString(a.Cycle) + "\n")
				}
			}
		}
		if *update {
			if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := out.String(), string(data); got != want && !*update {
			t.Errorf("%s (rewrite with -update):\n%s", file, got)
		}
	}
}

func cycleString(steps []Step) string {
	var b strings.Builder
	for _, s := range steps {
		if s.Edge == "" { // evidence without a cycle
			fmt.Fprintf(&b, "T%d", s.Txn)
			return b.String()
		}
		fmt.Fprintf(&b, "T%d -%s", s.Txn, s.Edge)
		if s.Record != "" {
			fmt.Fprintf(&b, " %s %d", s.Record, s.Version)
		}
		b.WriteString("-> ")
	}
	fmt.Fprintf(&b, "T%d", steps[0].Txn)
	return b.String()
}

func letter(k Key) string { return string(rune(k.Row())) }

func parseHistory(t *testing.T, title, body string) ([]Txn, Options) {
	t.Helper()
	o := Options{KeyName: letter, Initial: 2}
	var txns []Txn
	for _, line := range strings.Split(body, "\n") {
		line, _, _ = strings.Cut(line, "#")
		head, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case head == "":
		case head == "claim":
			o.Claim = Claim(rest)
		case head == "initial":
			o.Initial = number(t, rest)
		default:
			txns = append(txns, parseTxn(t, head, rest))
		}
	}
	if len(txns) == 0 {
		t.Fatalf("history %s has no transactions", title)
	}
	return txns, o
}

func parseTxn(t *testing.T, id, rest string) Txn {
	t.Helper()
	x := Txn{ID: number(t, strings.TrimPrefix(id, "T"))}
	span, rest, _ := strings.Cut(rest, " ")
	begin, end, _ := strings.Cut(span, "..")
	x.Begin, x.End = int64(number(t, begin))*1e6, int64(number(t, end))*1e6
	rest = strings.TrimSpace(rest)
	if r, ok := strings.CutSuffix(rest, "aborted"); ok {
		rest, x.Status = r, Aborted
	}
	if r, ok := strings.CutSuffix(rest, "rolled back"); ok {
		rest, x.Status = r, RolledBack
	}
	for _, op := range strings.SplitAfter(strings.TrimSpace(rest), ")") {
		if op = strings.TrimSpace(op); op == "" {
			continue
		}
		name, v, _ := strings.Cut(strings.TrimSuffix(op[2:], ")"), " ")
		key := MakeKey(1, uint64(name[0]))
		switch op[0] {
		case 'r':
			x.Reads = append(x.Reads, Read{key, number(t, v)})
		case 'w':
			a, b, _ := strings.Cut(v, ">")
			x.Writes = append(x.Writes, Write{key, number(t, a), number(t, b)})
		default:
			t.Fatalf("operation %q", op)
		}
	}
	return x
}

func number(t *testing.T, s string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
