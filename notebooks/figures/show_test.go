package figures

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"drtmx/cluster"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// lone makes the runs of 2-persist short.
var lone = cluster.Knobs{"duration_ns": 20_000, "warmup_ns": 5_000}

// The points come one by one, each where it will stay, and the JSON of what there is
// can be read.
func TestPointsCome(t *testing.T) {
	r, err := Find("2-persist")
	if err != nil {
		t.Fatal(err)
	}
	last, early := 0, func() *Figure { return nil }
	var soFar *Figure
	f, err := r.run(context.Background(), Quick, lone, nil, func(done, total int, at func() *Figure) {
		soFar = at()
		if done == 1 {
			early = at
		}
		n := 0
		for _, s := range soFar.Series {
			n += len(s.Points)
		}
		// The run at paper scale is no point.
		if n != done && n != done-1 || n < last || soFar.Partial == nil || soFar.Partial.Done != done || soFar.Partial.Total != total {
			t.Errorf("%d points after %d of %d runs: %+v", n, done, total, soFar.Partial)
		}
		last = n
		if text, err := json.Marshal(soFar); err != nil || !strings.Contains(string(text), `"claims":[]`) {
			t.Errorf("%v: %.200s", err, text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if f.Partial != nil || len(f.Claims) == 0 || last != len(f.Series)*len(f.Series[0].Points) {
		t.Errorf("the figure itself: %+v, %d points before", f.Partial, last)
	}
	for i, s := range soFar.Series {
		if !slices.Equal(s.Points, f.Series[i].Points) {
			t.Errorf("%s moved: %v, %v", s.Name, s.Points, f.Series[i].Points)
		}
	}
	if e := early(); len(e.Series) != len(f.Series) {
		t.Errorf("what was reported cannot be asked later: %+v", e)
	}
	if text := soFar.String() + soFar.HTML(); !strings.Contains(text, "of 20 runs") || strings.Contains(text, "<table") {
		t.Errorf("a partial figure shows itself as %.300s", text)
	}
}

// Published numbers are on the axes where the claims have them and the table is in the
// unit of an axis, and nowhere else.
func TestReferences(t *testing.T) {
	at := func(id string) map[string]Reference {
		t.Helper()
		r, err := Find(id)
		if err != nil {
			t.Fatal(err)
		}
		specs, err := r.Specs(Quick)
		if err != nil {
			t.Fatal(err)
		}
		results := make([]*result.Result, len(specs))
		for i, s := range specs {
			v, err := experiment.Resolve(s)
			if err != nil {
				t.Fatal(err)
			}
			results[i] = &result.Result{Spec: v, Throughput: 1e6, NVM: &result.NVMStat{WriteAmplification: 1}}
		}
		f := r.From(Quick, results)
		out := map[string]Reference{}
		for _, x := range f.References {
			if x.Section == "" || x.Text == "" || x.X == nil && x.From == nil {
				t.Errorf("%s: %+v", id, x)
			}
			out[x.ID] = x
		}
		if svg := f.SVG(); len(out) > 0 != strings.Contains(svg, "thesis") {
			t.Errorf("%s: %d references, drawn: %v", id, len(out), strings.Contains(svg, "thesis"))
		}
		if f := (&Recipe{def: r.def, set: lone}).From(Quick, results); len(f.References) > 0 {
			t.Errorf("%s: another experiment than the thesis's has %v", id, f.References)
		}
		return out
	}
	p := at("2-persist")
	if r := p["s2-pwrite-h9-lat"]; len(p) != 2 || r.X == nil || *r.X != 64 || *r.To != 3 || r.Series != oneTrip || r.Section != "2.3.4.3" {
		t.Errorf("2-persist: %+v", p)
	}
	a := at("2-10a")
	if r := a["f2-10-nvm-ideal"]; r.X != nil || r.To == nil || *r.To != 52 {
		t.Errorf("a limit is a line across: %+v", r)
	}
	if _, ok := a["f2-10-write16-frac"]; ok {
		t.Error("a share of something is on an axis of requests")
	}
	d := at("2-16a")
	if r := d["f2-16-threshold"]; r.From != nil || r.X == nil || *r.X != 65536 || r.mark(Axis{Unit: "bytes"}) != "≤64 Ki §2.3.4.1" {
		t.Errorf("a payload is upright: %+v %s", r, r.mark(Axis{Unit: "bytes"}))
	}
	if n := len(at("4-best")); n > 0 {
		t.Errorf("a ranking has %d numbers on its axes", n)
	}
}

// A figure drawn over another has its knobs in its names and keeps the colours.
func TestDrawnOver(t *testing.T) {
	points := []Series{{Name: "READ", Points: []Point{{X: 8, Y: 2}, {X: 64, Y: 3}}}}
	base := &Figure{ID: "t", X: Axis{Unit: "bytes"}, Y: Axis{Unit: "us"}, Series: points}
	other := &Figure{ID: "t", X: base.X, Y: base.Y, Series: points, Set: cluster.Knobs{"ddio": false}}
	c := base.Chart(other)
	for form, text := range map[string]string{"svg": c.SVG(), "option": c.Option(), "html": (&Comparison{base, other}).HTML(), "text": (&Comparison{base, other}).String()} {
		if !strings.Contains(text, "ddio = false") {
			t.Errorf("%s does not tell the two apart", form)
		}
	}
	if o := c.Option(); strings.Count(o, `"#0072B2"`) < 4 || !strings.Contains(o, `"dashed"`) || !strings.Contains(o, `"emptyCircle"`) {
		t.Errorf("one colour and a dash expected: %s", o)
	}
	ranked := func(set cluster.Knobs) *Figure {
		return &Figure{ID: "r", Form: formRanking, Set: set, Series: []Series{{Name: "Throughput", Points: []Point{{X: 1, Y: 2, Name: "I I"}, {X: 2, Y: 1, Name: "II II"}}}}}
	}
	if _, _, _, bars := ranked(nil).ranked(ranked(cluster.Knobs{"ddio": false})); len(bars) != 4 || bars[3].Name != "ddio = false" || bars[3].Values[0] != 1 {
		t.Errorf("%v", bars)
	}
}

func TestListDrawsItself(t *testing.T) {
	for _, text := range []string{List().String(), List().HTML()} {
		if !strings.Contains(text, "Chapter 2") || !strings.Contains(text, "2-persist") || !strings.Contains(text, "§2.3.4.3") {
			t.Errorf("%.200s", text)
		}
	}
	if b, err := json.Marshal(List()); err != nil || !strings.HasPrefix(string(b), `[{"id":"2-2a"`) {
		t.Errorf("%.80s %v", b, err)
	}
}

// Knobs that contradict each other are refused before anything runs.
func TestCheckRefusesBeforeItRuns(t *testing.T) {
	if err := (Runner{}).Check("2-persist", Quick, experiment.Knobs{"ddio": "true"}); err == nil || !strings.Contains(err.Error(), "nvm.h3") {
		t.Errorf("2-persist with DDIO: %v", err)
	}
	if err := (Runner{}).Check("2-persist", Paper, experiment.Knobs{"ddio": "false"}); err != nil {
		t.Error(err)
	}
}

// Interrupted, a figure ends with an error and what it told of stays.
func TestInterrupted(t *testing.T) {
	r, err := Find("2-persist")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var once sync.Once
	told := 0
	_, err = r.run(ctx, Quick, lone, nil, func(done, _ int, _ func() *Figure) {
		told = done
		once.Do(cancel)
	})
	if err == nil || told == 0 || told > 5 {
		t.Errorf("%v after %d runs", err, told)
	}
}

// A picture that stands alone says of which hardware and knobs it is.
func TestPictureNamesItsKnobs(t *testing.T) {
	f := Figure{ID: "2-4b", Title: "READ", Set: experiment.Knobs{"hardware.nic.qp_contexts": 4000}, Series: []Series{{Name: "READ", Points: []Point{{X: 8, Y: 1}, {X: 16, Y: 2}}}}}
	if svg := f.SVG(); !strings.Contains(svg, "qp_contexts = 4000") {
		t.Errorf("the knobs are not in the picture: %.300s", svg)
	}
	f.Set = nil
	if svg := f.SVG(); strings.Contains(svg, "; with") {
		t.Error("a figure without changed knobs names some")
	}
}
