package prediction

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// Table is rows of predictions as a file keeps them.
type Table struct {
	Rows []Row `json:"rows"`
}

// Row is a claim of a figure and what was predicted for it.
type Row struct {
	ID        string  `json:"id"`
	Figure    string  `json:"figure"`
	Claim     string  `json:"claim"`
	Published *string `json:"published"` // 1.26..1.45; null of an order
	Unit      string  `json:"unit,omitempty"`
	// Predictions are by column, the first one first.
	Predictions []Value `json:"predictions"`
}

// Value is what a version of the code predicts.
type Value struct {
	Name  string `json:"name,omitempty"`  // of the column: first, baseline, now
	Scale string `json:"scale,omitempty"` // quick or paper, "" where that was not written down
	Code  string `json:"code"`            // the version; first: that which made the first predictions
	Value string `json:"value"`           // "" of an order without a ratio, and where there is no number
	// Range is what a number of two ends comes to.
	Range   string `json:"range,omitempty"`
	Verdict string `json:"verdict,omitempty"` // of the claim: holds, contradicted, undecided
	Band    *Band  `json:"band,omitempty"`
	// Runs is a digest of the specs of the figure's runs, Command what computes it.
	Runs    string `json:"runs,omitempty"`
	Command string `json:"command,omitempty"`
	// Error and Stale are derived.
	Error *float64 `json:"error,omitempty"`
	Stale bool     `json:"stale,omitempty"`
}

// Band is what a value comes to with a cost divided and multiplied by the factor.
type Band struct {
	Of     string  `json:"of,omitempty"` // "": the coordinator's and the reclaim's cycles
	Factor float64 `json:"factor"`
	Code   string  `json:"code,omitempty"` // "": that of the value
	Fewer  string  `json:"fewer"`
	More   string  `json:"more"`
}

// What is its cost in words.
func (b *Band) What() string { return cmp.Or(b.Of, "the coordinator's cycles") }

// The names of columns that code knows.
const (
	First    = "first"
	Baseline = "baseline"
	Now      = "now"
)

// Compared is the number, or its range, which is compared.
func (v *Value) Compared() string { return cmp.Or(v.Range, v.Value) }

//go:embed recorded.json
var recordedFile []byte

// Recorded are the predictions of this repository.
func Recorded() *Table { return recorded().clone() }

var recorded = sync.OnceValue(func() *Table {
	t, err := Read(recordedFile, Now)
	if err != nil {
		panic("prediction: recorded.json: " + err.Error())
	}
	return t
})

func (t *Table) clone() *Table {
	out := &Table{Rows: slices.Clone(t.Rows)}
	for i := range out.Rows {
		out.Rows[i].Predictions = slices.Clone(out.Rows[i].Predictions)
	}
	return out
}

// Read reads a table, also one that drtmx predict printed before predictions had names: they get that of the column. First
// predictions in it are ignored, and so is what is derived.
func Read(text []byte, column string) (*Table, error) {
	var in struct {
		Rows []struct {
			Row
			Verdict string `json:"verdict"`
		} `json:"rows"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, fmt.Errorf("is no table of predictions: %w", err)
	}
	t, unnamed := &Table{Rows: []Row{}}, "" // the code of what has no name
	for _, r := range in.Rows {
		row := r.Row
		row.Predictions = slices.DeleteFunc(row.Predictions, func(v Value) bool { return v.Name == First || v.Name == "" && v.Code == First })
		for i := range row.Predictions {
			v := &row.Predictions[i]
			if v.Name == "" {
				v.Name, v.Verdict, unnamed = column, r.Verdict, v.Code
			}
			v.Error, v.Stale = nil, false
		}
		t.Rows = append(t.Rows, row)
	}
	if unnamed == "" {
		return t, nil
	}
	for i := range t.Rows { // a claim without a number was not listed
		if r := &t.Rows[i]; len(r.Predictions) == 0 {
			r.Predictions = []Value{{Name: column, Code: unnamed, Verdict: in.Rows[i].Verdict}}
		}
	}
	return t, nil
}

// JSON is the table as a file has it: a row that did not change is the same text.
func (t *Table) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(t, "", " ")
	return append(b, '\n'), err
}

// Named is a table whose columns have other names.
func (t *Table) Named(name func(old string) string) *Table {
	out := t.clone()
	for i := range out.Rows {
		for k := range out.Rows[i].Predictions {
			v := &out.Rows[i].Predictions[k]
			v.Name = name(v.Name)
		}
	}
	return out
}

// Only are the rows that are wanted.
func (t *Table) Only(wanted func(r *Row) bool) *Table {
	out := t.clone()
	out.Rows = slices.DeleteFunc(out.Rows, func(r Row) bool { return !wanted(&r) })
	return out
}

// At are the predictions at a scale, those without one included.
func (t *Table) At(scale string) *Table {
	out := t.clone()
	for i := range out.Rows {
		r := &out.Rows[i]
		r.Predictions = slices.DeleteFunc(r.Predictions, func(v Value) bool { return v.Scale != "" && v.Scale != scale })
	}
	out.Rows = slices.DeleteFunc(out.Rows, func(r Row) bool { return len(r.Predictions) == 0 })
	return out
}

// Columns are the names of the columns, in the order of Sort.
func (t *Table) Columns() []Column {
	var all []Column
	for _, r := range t.Rows {
		for _, v := range r.Predictions {
			if c := (Column{v.Name, v.Scale == paper}); !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Column) int { return cmp.Compare(a.rank(), b.rank()) })
	return all
}

// Column is what one version predicts at one scale.
type Column struct {
	Name  string `json:"name"`
	Paper bool   `json:"paper_scale,omitempty"`
}

const paper = "paper"

// PaperScale is what names of columns end with that are at paper scale.
const PaperScale = ", paper scale"

func (v *Value) column() Column { return Column{v.Name, v.Scale == paper} }

// inWords are the names of columns that code knows, as a reader has them.
var inWords = map[string]string{First: "blind", Baseline: "blind, later code", Now: "today"}

func (c Column) String() string {
	name := cmp.Or(inWords[c.Name], c.Name)
	if c.Paper {
		return name + PaperScale
	}
	return name
}

// Of is the prediction of a row in this column, nil for none.
func (c Column) Of(r *Row) *Value {
	i := slices.IndexFunc(r.Predictions, func(v Value) bool { return v.column() == c })
	if i < 0 {
		return nil
	}
	return &r.Predictions[i]
}

// rank orders columns: what code does not know the name of stands before now.
func (c Column) rank() int {
	at := map[string]int{First: 0, Baseline: 1, Now: 3}
	n, known := at[c.Name]
	if !known {
		n = 2
	}
	if c.Paper {
		n += len(at) + 1
	}
	return n
}

// Put adds the predictions of another table: those of a column replace those that were there, also of rows that its figures no
// longer have. What the rows say themselves is as in the other. A number that comes out as it was keeps the band that it had
// where it has none in the other, which was computed without; the band says which code made it.
func (t *Table) Put(o *Table) {
	o = o.clone()
	o.keepBands(t)
	measured := map[string][]Value{} // the columns of o by figure
	for _, r := range o.Rows {
		measured[r.Figure] = append(measured[r.Figure], r.Predictions...)
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		r.Predictions = slices.DeleteFunc(r.Predictions, func(v Value) bool {
			return slices.ContainsFunc(measured[r.Figure], func(n Value) bool { return n.column() == v.column() })
		})
	}
	for _, r := range o.Rows {
		i := t.index(r)
		if i < 0 {
			t.Rows = append(t.Rows, r)
			continue
		}
		r.Predictions = append(t.Rows[i].Predictions, r.Predictions...)
		t.Rows[i] = r
	}
	t.Rows = slices.DeleteFunc(t.Rows, func(r Row) bool { return len(r.Predictions) == 0 })
}

func (t *Table) index(r Row) int {
	return slices.IndexFunc(t.Rows, func(x Row) bool { return x.ID == r.ID && x.Figure == r.Figure })
}

// keepBands takes those of another table.
func (t *Table) keepBands(of *Table) {
	for _, r := range t.Rows {
		at := of.index(r)
		for i := range r.Predictions {
			v := &r.Predictions[i]
			if at < 0 || v.Band != nil {
				continue
			}
			for _, u := range of.Rows[at].Predictions {
				if u.column() != v.column() || u.Value != v.Value || u.Range != v.Range || u.Band == nil {
					continue
				}
				band := *u.Band
				if band.Code == "" && (u.Code != v.Code || u.Runs != v.Runs) {
					band.Code = u.Code
				}
				v.Band = &band
			}
		}
	}
}

// Sort puts the rows into the order of their figures, and columns into theirs.
func (t *Table) Sort(figures []string) {
	slices.SortStableFunc(t.Rows, func(a, b Row) int {
		return cmp.Compare(slices.Index(figures, a.Figure), slices.Index(figures, b.Figure))
	})
	for i := range t.Rows {
		slices.SortStableFunc(t.Rows[i].Predictions, func(a, b Value) int { return cmp.Compare(a.column().rank(), b.column().rank()) })
	}
}
