package record

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"drtmx/cluster/job"
	"drtmx/cluster/runs/runstest"
	"drtmx/dashboard/charts"
	"drtmx/notebooks/figures/chapter2"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/figure/figuretest"
)

func TestMain(m *testing.M) { os.Exit(runstest.Main(m)) }

// unpacked is the text of a file.
func unpacked(t *testing.T, file io.Reader) []byte {
	t.Helper()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Every file is of the figure that its name says, and its digests are those of its content.
func TestFiles(t *testing.T) {
	names, err := files.ReadDir("quick")
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for _, n := range names {
		info, err := n.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
		file, err := files.Open("quick/" + n.Name())
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(bytes.NewReader(unpacked(t, file)))
		var h head
		f := &figure.Figure{}
		if err := d.Decode(&h); err != nil {
			t.Fatal(n.Name(), err)
		}
		if err := d.Decode(f); err != nil {
			t.Fatal(n.Name(), err)
		}
		if err := d.Decode(&f.Runs); err != nil {
			t.Fatal(n.Name(), err)
		}
		digest, err := f.Digest()
		if err != nil || digest != h.Digest || digestOf(f.Runs) != h.Runs || nameOf(h.Figure) != n.Name() || f.ID != h.Figure || f.Scale != h.Scale || h.Scale != figure.Quick || h.At.IsZero() || h.Code == "" {
			t.Errorf("%s: %+v, digest of the figure %s, of its runs %s: %v", n.Name(), h, digest, digestOf(f.Runs), err)
		}
		for _, s := range f.Series {
			for _, p := range s.Points {
				if len(f.Runs) > 0 && f.Result(p.Run) == nil {
					t.Errorf("%s: %s at %g has no run", n.Name(), s.Name, p.X)
				}
			}
		}
	}
	if size > 1<<20 {
		t.Errorf("%d bytes", size)
	}
}

// A record that this program's code has made is what this program computes, to the last digit.
func TestRecordIsReproduced(t *testing.T) {
	r := figuretest.RecipeOf(t, chapter2.Figures(), "2-14b")
	recorded, err := Find(r)
	if err != nil || recorded == nil {
		t.Fatal(recorded, err)
	}
	if recorded.Made.Differs {
		t.Skip("other code made it, which it says")
	}
	f, err := r.RunWith(context.Background(), figure.Quick, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	here, err1 := f.Digest()
	there, err2 := recorded.Digest()
	if err1 != nil || err2 != nil || here != there || digestOf(f.Runs) != digestOf(recorded.Runs) {
		t.Errorf("computed %s of runs %s, recorded %s of runs %s", here, digestOf(f.Runs), there, digestOf(recorded.Runs))
	}
	if f.Draw(charts.Size{}).SVG() != recorded.Draw(charts.Size{}).SVG() || f.Sketch() != recorded.Sketch() {
		t.Error("the record is drawn otherwise")
	}
}

// What was written is read, and says when other code made it.
func TestWriteAndRead(t *testing.T) {
	r := figuretest.RecipeOf(t, chapter2.Figures(), "2-persist")
	f, err := r.Run(context.Background(), figure.Quick, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir, at := t.TempDir(), time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	if err := Write(dir, r, f, at); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(dir, nameOf(f.ID)))
	if err != nil {
		t.Fatal(err)
	}
	text := unpacked(t, bytes.NewReader(file))
	h, again, err := parse(r, bytes.NewReader(text))
	if err != nil || h.At != at || again.Made.Differs || again.SVG() != f.SVG() || again.Runs[0].Limit.Text != f.Runs[0].Limit.Text || len(again.Runs) != len(f.Runs) {
		t.Errorf("%+v %+v %v", h, again, err)
	}
	if got := again.Made.String(); got != "recorded on 4 May 2026 with code "+h.Code+", which this program has too" {
		t.Error(got)
	}
	other := bytes.Replace(text, []byte(`"systems":[{"code":"src-`), []byte(`"systems":[{"code":"not-`), 1)
	if _, again, err := parse(r, bytes.NewReader(other)); err != nil || !again.Made.Differs {
		t.Errorf("other code is not noticed: %v", err)
	}
	if _, _, err := parse(r, bytes.NewReader(text[:len(text)/2])); err == nil {
		t.Error("half a file is a record")
	}
}

// What this program would compute again as it is goes first, then paper scale, then what is later.
func TestBetter(t *testing.T) {
	at := func(day int, differs bool) *job.Made {
		return &job.Made{At: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC), Differs: differs}
	}
	for _, x := range []struct {
		scale     string
		made      *job.Made
		thanScale string
		than      *job.Made
		want      bool
	}{
		{figure.Quick, at(1, false), figure.Quick, at(2, true), true}, {figure.Quick, at(2, true), figure.Quick, at(1, false), false},
		{figure.Paper, at(1, false), figure.Quick, at(2, false), true}, {figure.Quick, at(2, false), figure.Paper, at(1, false), false},
		{figure.Quick, at(2, false), figure.Quick, at(1, false), true}, {figure.Quick, at(1, true), figure.Quick, at(2, true), false},
	} {
		if got := better(x.scale, x.made, &job.KnownFigure{Scale: x.thanScale, Made: x.than}); got != x.want {
			t.Errorf("%+v: %t", x, got)
		}
	}
}

// A figure that the user computed is there after a restart, with its runs.
func TestKeptFigure(t *testing.T) {
	r := figuretest.RecipeOf(t, chapter2.Figures(), "2-persist")
	f, err := r.Run(context.Background(), figure.Quick, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.Keep("")
	row, ok := keptFigures()[keptAs(f.ID, figure.Quick)]
	if !ok {
		t.Fatal("it is not kept")
	}
	again, err := load(r, row.ID)
	if err != nil || len(again.Runs) != len(f.Runs) || again.Result(0) == nil || again.SVG() != f.SVG() {
		t.Fatal(again, err)
	}
	known, ok := Known(r)
	if !ok || known.Made == nil || known.Made.Differs || known.Claims != f.Verdicts() {
		t.Fatalf("%+v", known)
	}
	if loaded, err := known.Load(); err != nil || !slices.Equal(loaded.(*figure.Figure).Series[0].Points, f.Series[0].Points) {
		t.Errorf("%+v %v", loaded, err)
	}
}
