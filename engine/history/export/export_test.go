package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"drtmx/engine/history"
)

func typeName(n uint8) string { return fmt.Sprintf("type-%d", n) }

// TestJSONLines: a line is exactly what doc.go says.
func TestJSONLines(t *testing.T) {
	var out bytes.Buffer
	w := New(&out, Options{TypeName: typeName, Initial: 2})
	w.Begin(3, 0)
	w.Add(&Attempt{
		ID: 17, Node: 2, Thread: 1, Session: 3, Type: 4, Begin: 10_412_999, End: 20_144_000,
		Reads:  []Read{{"savings", 7, 4, true}, {"order", 1 << 40, 0, false}},
		Writes: []Write{{"checking", 7, 6, Update}},
	})
	w.Add(&Attempt{ID: 18, Status: history.Aborted, Writes: []Write{{"checking", 7, 0, Insert}}})
	w.Add(&Attempt{ID: 19, Status: history.RolledBack})
	w.Add(&Attempt{ID: 20, Snapshot: true, Reads: []Read{{"checking", 7, 4, true}}})
	if err := w.Close(); err != nil || w.Attempts() != 4 {
		t.Fatal(err, w.Attempts())
	}
	want := `{"id":17,"node":2,"thread":1,"type":"type-4","begin_ns":10412,"end_ns":20144,"status":"committed","reads":[{"table":"savings","key":7,"version":4,"found":true},{"table":"order","key":1099511627776,"version":0,"found":false}],"writes":[{"table":"checking","key":7,"version":6,"kind":"update"}]}
{"id":18,"node":0,"thread":0,"type":"type-0","begin_ns":0,"end_ns":0,"status":"aborted","reads":[],"writes":[{"table":"checking","key":7,"version":0,"kind":"insert"}]}
{"id":19,"node":0,"thread":0,"type":"type-0","begin_ns":0,"end_ns":0,"status":"rolled-back","reads":[],"writes":[]}
{"id":20,"node":0,"thread":0,"type":"type-0","begin_ns":0,"end_ns":0,"status":"committed","snapshot":true,"reads":[{"table":"checking","key":7,"version":4,"found":true}],"writes":[]}
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		var x map[string]any
		if err := json.Unmarshal([]byte(line), &x); err != nil || len(x) != 9 && x["snapshot"] == nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// TestEDN: events come in the order of their times; what was there is nil, what a failed attempt would
// have written is unlike anything else, and who is under way at the end is :info.
func TestEDN(t *testing.T) {
	var out bytes.Buffer
	w := New(&out, Options{Form: EDN, TypeName: typeName, Initial: 2})
	w.Begin(0, 1_000)
	w.Begin(1, 2_000)
	w.Add(&Attempt{ID: 1, Session: 1, Begin: 2_000, End: 5_000, Status: history.Aborted, Reads: []Read{{"t", 7, 2, true}}, Writes: []Write{{"t", 7, 0, Update}}})
	w.Begin(1, 5_000)
	w.Begin(2, 5_000)
	w.Add(&Attempt{ID: 2, Session: 0, Begin: 1_000, End: 5_000, Reads: []Read{{"t", 7, 2, true}, {"t", 8, 4, true}, {"t", 9, 0, false}}, Writes: []Write{{"t", 7, 4, Update}}})
	w.Add(&Attempt{ID: 3, Session: 1, Begin: 5_000, End: 9_000})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := `{:index 0, :type :invoke, :process 0, :f :txn, :value [[:r "t/7" nil] [:r "t/8" nil] [:r "t/9" nil] [:w "t/7" 4]], :time 1}
{:index 1, :type :invoke, :process 1, :f :txn, :value [[:r "t/7" nil] [:w "t/7" -1]], :time 2}
{:index 2, :type :invoke, :process 2, :f :txn, :value nil, :time 5}
{:index 3, :type :fail, :process 1, :f :txn, :value [[:r "t/7" nil] [:w "t/7" -1]], :time 5}
{:index 4, :type :ok, :process 0, :f :txn, :value [[:r "t/7" nil] [:r "t/8" 4] [:r "t/9" nil] [:w "t/7" 4]], :time 5}
{:index 5, :type :invoke, :process 1, :f :txn, :value [], :time 5}
{:index 6, :type :ok, :process 1, :f :txn, :value [], :time 9}
{:index 7, :type :info, :process 2, :f :txn, :value nil, :time 9}
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// play has sessions run attempts of random lengths; one of them never ends until the last.
func play(w *Writer, seed uint64, attempts, sessions int, stuck bool) {
	r := rand.New(rand.NewPCG(seed, 1))
	begin := make([]int64, sessions)
	now := int64(0)
	for i := range begin {
		begin[i] = r.Int64N(1000)
		w.Begin(uint32(i), begin[i])
	}
	for id := range attempts {
		s := r.IntN(sessions)
		if stuck && s == 0 {
			continue
		}
		now += r.Int64N(2_000_000)
		end := max(begin[s]+1, now-r.Int64N(15_000_000)) // clocks are apart
		w.Add(&Attempt{ID: uint64(id), Session: uint32(s), Begin: begin[s], End: end, Status: history.Status(r.IntN(3))})
		begin[s] = end + r.Int64N(3)
		w.Begin(uint32(s), begin[s])
	}
	if stuck {
		w.Add(&Attempt{ID: 1 << 40, Session: 0, Begin: begin[0], End: now + 1})
	}
}

// TestOrder: whatever the clocks and the lengths, events are in the order of their times, each process has
// one attempt at a time, and what is held back stays bounded by those that are under way.
func TestOrder(t *testing.T) {
	for seed := range uint64(8) {
		for _, stuck := range []bool{false, true} {
			var out bytes.Buffer
			w := New(&out, Options{Form: EDN, TypeName: typeName, Held: 2000})
			play(w, seed, 10_000, 1+int(seed)*7, stuck && seed > 0)
			if held := len(w.events.queue); held > 2000+worthFlushing {
				t.Errorf("seed %d, stuck %v: %d events are held back", seed, stuck, held)
			}
			if err := w.Close(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			ordered(t, out.String(), w.Attempts())
		}
	}
}

func ordered(t *testing.T, text string, attempts uint64) {
	t.Helper()
	var at int64
	var done uint64
	open := map[int]bool{}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var index, process int
		var time int64
		var kind string
		head, tail, _ := strings.Cut(line, ", :f :txn")
		if _, err := fmt.Sscanf(strings.ReplaceAll(head, ",", ""), "{:index %d :type :%s :process %d", &index, &kind, &process); err != nil {
			t.Fatal(line, err)
		}
		if _, err := fmt.Sscanf(tail[strings.LastIndex(tail, ":time"):], ":time %d}", &time); err != nil {
			t.Fatal(line, err)
		}
		if index != i || time < at || open[process] != (kind != "invoke") {
			t.Fatalf("line %d after time %d: %s", i, at, line)
		}
		at, open[process] = time, kind == "invoke"
		if kind == "ok" || kind == "fail" {
			done++
		}
	}
	if done != attempts {
		t.Fatalf("%d of %d attempts", done, attempts)
	}
	for process, is := range open { // order-free
		if is {
			t.Errorf("process %d has not ended", process)
		}
	}
}

// TestLate: an attempt that begins before what is written already is an error, not a line out of order.
func TestLate(t *testing.T) {
	w := New(&bytes.Buffer{}, Options{Form: EDN, TypeName: typeName, Skew: 10})
	for i := range int64(2 * worthFlushing) {
		w.Begin(0, 100*i+1)
		w.Add(&Attempt{Begin: 100*i + 1, End: 100*i + 50})
	}
	w.Begin(1, 5)
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "an attempt began at 5 ps") {
		t.Error(err)
	}
}

// broken is a disk that is full.
type broken struct{}

var errFull = errors.New("no space left")

func (broken) Write([]byte) (int, error) { return 0, errFull }

// TestFullDisk: the first error is what Close says, and nothing more is taken.
func TestFullDisk(t *testing.T) {
	for _, form := range []Form{JSONLines, EDN} {
		w := New(broken{}, Options{Form: form, TypeName: typeName})
		play(w, 1, 20_000, 5, false)
		n := w.Attempts()
		if w.Add(&Attempt{}); w.Attempts() != n || n == 0 {
			t.Errorf("form %d: takes more: %d, %d", form, n, w.Attempts())
		}
		if err := w.Close(); !errors.Is(err, errFull) {
			t.Errorf("form %d: %v", form, err)
		}
	}
	var none *Writer
	none.Begin(0, 0)
	none.Add(&Attempt{})
}

func TestFormOf(t *testing.T) {
	for path, want := range map[string]Form{"a.jsonl": JSONLines, "x/y.EDN": EDN} {
		if f, err := FormOf(path); f != want || err != nil {
			t.Error(path, f, err)
		}
	}
	for _, path := range []string{"", "-", "history", "a.json", "a.jsonl.gz"} {
		if _, err := FormOf(path); err == nil {
			t.Error(path)
		}
	}
}
