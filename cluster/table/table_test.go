package table

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drtmx/cluster/tidy"
)

// fails says that a call fails with a line that has all of the words.
func fails(t *testing.T, call func(), words ...string) {
	t.Helper()
	defer func() {
		t.Helper()
		f, ok := recover().(*Failure)
		if !ok {
			t.Errorf("no failure with %q", words)
			return
		}
		for _, w := range words {
			if !strings.Contains(f.Error(), w) {
				t.Errorf("%q does not say %q", f.Error(), w)
			}
		}
	}()
	call()
}

func sample() *Table {
	rows := &tidy.Table{}
	for i, name := range []string{"fasst", "drtm+h", "farm"} {
		rows.Row()
		rows.Set("preset", name)
		rows.Set("threads", i+1)
		rows.Set("latency_us.p50", 10.5*float64(i+1))
		rows.Set("by_type.write-check.commits", 100*i)
		rows.Set("steady", i != 1)
		if i > 0 {
			rows.Set("late", 3)
		}
	}
	return Of(rows)
}

func TestTableShowsItself(t *testing.T) {
	want := `preset  threads  latency_us.p50  by_type.write-check.commits  steady   late
text      whole          number                        whole   truth  whole
fasst         1            10.5                            0     yes      –
drtm+h        2              21                          100      no      3
farm          3            31.5                          200     yes      3
3 rows`
	if got := sample().String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	wide := From(nil)
	for i := range 40 {
		wide = wide.Col(fmt.Sprintf("c%d", i), make([]int, 100))
	}
	text := wide.String()
	if n := strings.Count(text, "\n"); n != rowsShown {
		t.Errorf("%d lines", n)
	}
	for _, form := range []string{text, wide.HTML()} {
		for _, w := range []string{"100 rows, of which the 10 at the top are shown", "30 columns more: c10, c11", "Columns() lists them"} {
			if !strings.Contains(form, w) {
				t.Errorf("%q is not in\n%s", w, form)
			}
		}
	}
	if html := From(nil).Col("<b>", []string{"<i>"}).HTML(); strings.Contains(html, "<b>") || strings.Contains(html, "<i>") {
		t.Error("names and cells are not escaped: " + html)
	}
}

func TestQuery(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT preset FROM t WHERE threads > 1":                                     "preset\ndrtm+h\nfarm\n",
		"SELECT sum(latency_us.p50) AS s FROM t":                                     "s\n63\n",
		`SELECT max(by_type.write-check.commits) - 1 AS m FROM t -- latency_us.p50`:  "m\n199\n",
		`SELECT count(*) AS n, 'latency_us.p50' AS text FROM t WHERE late IS NULL`:   "n,text\n1,latency_us.p50\n",
		"SELECT count(1) AS n FROM t":                                                "n\n3\n",
		`SELECT t."threads" + 1 AS more FROM t ORDER BY Latency_us.P50 DESC LIMIT 1`: "more\n4\n",
	} {
		if got := sample().Query(query).CSV(); got != want {
			t.Errorf("%s gives %q, want %q", query, got, want)
		}
	}
	fails(t, func() { sample().Query("SELECT thread FROM t") }, "column = thread", "did you mean threads?")
	fails(t, func() { sample().Query(`SELECT "thread" FROM t`) }, "column = thread", "did you mean threads?")
	fails(t, func() { sample().Query("SELECT latency_us.p5 FROM t") }, "latency_us.p5", "did you mean latency_us.p50?")
	fails(t, func() { sample().Query("SELECT threads FROM runs") }, "table = runs", "the table is called t")
	fails(t, func() { sample().Query("DELETE FROM t") }, "may only read")
	fails(t, func() { sample().Query("ATTACH 'x.db' AS x") }, "may only read")
	fails(t, func() { sample().Query("SELECT 1; SELECT 2") }, "more than one statement")
	fails(t, func() { sample().Query("SELEC threads") }, "query", "near")
}

func TestOwnColumns(t *testing.T) {
	u := sample().Col("double", func(r Row) any { return 2 * r.Num("latency_us.p50") }).Col("at", func(r Row) int { return r.Index() }).Col("mine", []string{"a", "b", "c"})
	if got := u.Select("double", "at", "mine").CSV(); got != "double,at,mine\n21,0,a\n42,1,b\n63,2,c\n" {
		t.Error(got)
	}
	if n := len(sample().Columns()); len(u.Columns()) != n+3 || len(u.Col("at", []int{1, 2, 3}).Columns()) != n+3 {
		t.Error(u.Columns())
	}
	if got := u.Where(func(r Row) bool { return r.Text("steady") == "yes" }).Sort("latency_us.p50").Numbers("threads"); len(got) != 2 || got[1] != 3 {
		t.Error(got)
	}
	if got := sample().Sort("late").Strings("preset"); got[2] != "fasst" {
		t.Errorf("a missing cell is not last: %v", got)
	}
	fails(t, func() { sample().Col("x", []int{1, 2}) }, "column = x", "has 2 values and the table 3 rows", "one for each row")
	fails(t, func() { sample().Col("x", 3) }, "int is neither a slice nor a function of a row")
	fails(t, func() { sample().Col("x", func(r Row) any { return r.Num("tread") }) }, "column = tread", "did you mean")
	fails(t, func() { sample().Numbers("preset") }, "column = preset", `row 0 has "fasst", which is no number`)
	fails(t, func() { sample().Row(3) }, "row = 3", "3 rows")
}

func TestFrom(t *testing.T) {
	type inner struct {
		P50 float64 `json:"p50,omitempty"`
		P99 float64 `json:"p99,omitempty"`
	}
	type outer struct {
		N       uint64 `json:"n"`
		Latency inner  `json:"latency_us"`
		More    map[string]float64
		List    []int
		Gone    *inner `json:"gone"`
	}
	got := From(map[string]outer{"b": {N: 2, Latency: inner{P50: 3}}, "a": {N: 1, More: map[string]float64{"x": 7}}}).CSV()
	if want := "name,n,latency_us.p50,latency_us.p99,More.x\na,1,,,7\nb,2,3,,\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := From([]float64{1, 2.5}).CSV(); got != "value\n1\n2.5\n" {
		t.Errorf("%q", got)
	}
	fails(t, func() { From(3) }, "int is neither a slice nor a map nor a struct")
}

func TestFilesReadBack(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "t.csv")
	if w := sample().Save(file); w.Bytes == 0 {
		t.Error(w)
	}
	if got, want := Read(file).CSV(), sample().CSV(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	history := filepath.Join(dir, "h.jsonl")
	if err := os.WriteFile(history, []byte(`{"id": 7, "type": "balance", "at": {"node": 2}, "reads": [1, 2], "none": null}`+"\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Read(history).CSV(); got != "id,type,at.node,reads,none\n7,balance,2,2,\n" {
		t.Errorf("%q", got)
	}
	sample().Save(filepath.Join(dir, "t.parquet"))
	fails(t, func() { sample().Save("t.xlsx") }, "file = t.xlsx", ".csv or .parquet")
	fails(t, func() { Read(filepath.Join(dir, "none.csv")) }, "no such file")
}

// A table of a hundred thousand rows is filtered, asked and drawn in well under a second on an idle machine.
func TestLargeTable(t *testing.T) {
	const rows = 100_000
	x, y := make([]float64, rows), make([]float64, rows)
	for i := range x {
		x[i], y[i] = float64(i%1000), float64(i*7919%10007)
	}
	big := From(nil).Col("x", x).Col("y", y).Col("other.z", x)
	begin := time.Now()
	if n := big.Query("SELECT x, y FROM t WHERE other.z < 10").Len(); n != rows/100 {
		t.Errorf("%d rows", n)
	}
	asked := time.Since(begin)
	if n := big.Where(func(r Row) bool { return r.Num("x") < 10 }).Len(); n != rows/100 {
		t.Errorf("%d rows", n)
	}
	for _, p := range []*Plot{big.Scatter("x", "y"), big.Line("x", "y"), big.Hist("y")} {
		if svg := p.Chart().SVG(); len(svg) > 6<<20 || len(svg) < 1000 {
			t.Errorf("%s has %d bytes", p, len(svg))
		}
	}
	if len(big.HTML()) > 10_000 {
		t.Error("the table draws all of its rows")
	}
	took := time.Since(begin)
	t.Logf("asked in %v, all in %v", asked, took)
	if took > 10*time.Second { // of a machine that is busy with other tests
		t.Errorf("it took %v", took)
	}
}

type drawing struct{ N int }

func (d *drawing) HTML() string { return fmt.Sprint(d.N) }

// What has a form of its own, set or not, is left to it; what has none and is not set says so.
func TestShowLeavesOwnForms(t *testing.T) {
	for _, v := range []any{&drawing{1}, (*drawing)(nil), 3, "x", []int{1}, map[string]any{"a": 1}, nil} {
		if text, _, ok := Show(v); ok {
			t.Errorf("%T is shown as %q", v, text)
		}
	}
	if text, _, ok := Show((*layer)(nil)); !ok || !strings.HasPrefix(text, "none: *table.layer") {
		t.Errorf("%q, %v", text, ok)
	}
}
