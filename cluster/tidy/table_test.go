package tidy

import (
	"bytes"
	"io"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func sample() *Table {
	var t Table
	t.Row()
	t.Set("knob", "one-sided")
	t.Set("coroutines", 4)
	t.Set("p50_us", 12)
	t.Set("steady", true)
	t.Row()
	t.Set("knob", `two,"sided"`)
	t.Set("coroutines", uint64(8))
	t.Set("p50_us", 0.1)
	t.Set("error", "no row before had this")
	t.Set("nothing", nil)
	return &t
}

func TestCSV(t *testing.T) {
	want := "knob,coroutines,p50_us,steady,error,nothing\none-sided,4,12,true,,\n\"two,\"\"sided\"\"\",8,0.1,,no row before had this,\n"
	if got := string(sample().CSV()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is read back has the table's order, types and gaps.
func TestParquetReadsBack(t *testing.T) {
	raw, err := sample().Parquet()
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	var names, kinds []string
	for _, field := range f.Schema().Fields() {
		names, kinds = append(names, field.Name()), append(kinds, field.Type().String())
	}
	wantNames := []string{"knob", "coroutines", "p50_us", "steady", "error", "nothing"}
	wantKinds := []string{"STRING", "INT(64,true)", "DOUBLE", "BOOLEAN", "STRING", "STRING"}
	for i := range wantNames {
		if i >= len(names) || names[i] != wantNames[i] || kinds[i] != wantKinds[i] {
			t.Fatalf("columns %v of %v, want %v of %v", names, kinds, wantNames, wantKinds)
		}
	}
	rows := f.RowGroups()[0].Rows()
	defer rows.Close()
	buf := make([]parquet.Row, 3)
	n, err := rows.ReadRows(buf)
	if n != 2 || err != nil && err != io.EOF {
		t.Fatalf("%d rows, %v", n, err)
	}
	for _, c := range []struct {
		row, column int
		want        string
	}{{0, 0, "one-sided"}, {1, 0, `two,"sided"`}, {0, 1, "4"}, {1, 1, "8"}, {0, 2, "12"}, {1, 2, "0.1"}, {0, 3, "true"}, {1, 3, "<null>"}, {0, 4, "<null>"}, {1, 5, "<null>"}} {
		if got := buf[c.row][c.column].String(); got != c.want {
			t.Errorf("row %d, column %d is %s, want %s", c.row, c.column, got, c.want)
		}
	}
}

func TestKindOfMixedColumns(t *testing.T) {
	var x Table
	for _, v := range []any{1, true, nil} {
		x.Row()
		x.Set("mixed", v)
	}
	if k := x.kind(0); k != text {
		t.Errorf("a column of a number and a truth value is of kind %d", k)
	}
	if _, err := x.Parquet(); err != nil {
		t.Error(err)
	}
	if _, err := new(Table).Parquet(); err == nil {
		t.Error("a table of nothing has a Parquet form")
	}
}
