package diagram

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drtmx/engine"
	"drtmx/engine/experiment"
)

// picked runs a small cluster and picks a transaction of it.
func picked(t *testing.T, workload, preset string, q float64) *engine.TxnTrace {
	t.Helper()
	s, err := engine.Open(experiment.Spec{Preset: preset, Workload: workload, Set: experiment.Knobs{"nodes": 3, "threads": 2, "coroutines": 4, "workload.scale": 0.01}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p, err := s.TraceOf(context.Background(), engine.Choice{Quantile: q}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &p.Txn
}

// wellFormed parses an SVG, and keeps it where go test -artifacts wants it.
func wellFormed(t *testing.T, name, svg string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name), []byte(svg), 0o644); err != nil {
		t.Error(err)
	}
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

func TestTimelineDrawsWhatWasTraced(t *testing.T) {
	for _, preset := range []string{"drtm+h", "fasst"} {
		x := picked(t, "smallbank", preset, 0.99)
		svg := Timeline(x, Options{})
		wellFormed(t, preset+".svg", svg)
		for _, want := range []string{Caption(x), "phase " + phaseName(x.Phases[0].Phase), "Where its", "µs"} {
			if !strings.Contains(svg, want) {
				t.Errorf("%s: no %q", preset, want)
			}
		}
		segments := 0
		for _, v := range x.Verbs {
			segments += len(v.Milestones)
			if v.To != x.Machine && !strings.Contains(svg, "requests to node "+string(rune('0'+v.To))) {
				t.Errorf("no lane of node %d", v.To)
			}
		}
		if n := strings.Count(svg, " of it "); n != segments {
			t.Errorf("%s: %d segments are drawn of %d", preset, n, segments)
		}
		wellFormed(t, preset+"-zoomed.svg", Timeline(x, Options{Width: 400, Zoom: 5}))
		bare := Timeline(x, Options{Width: 360, Bare: true})
		wellFormed(t, preset+"-phone.svg", bare)
		if strings.Contains(bare, "<title>") || !strings.Contains(bare, "data-tip=") || strings.Contains(bare, "style=") {
			t.Error("the page's form has titles, no tips, or styles that its content policy forbids")
		}
	}
}

// A transaction that aborts again and again stays a picture.
func TestTimelineIsBounded(t *testing.T) {
	x := engine.TxnTrace{Type: "<b>", Outcome: "committed", Attempts: 900, EndNS: 1e6}
	for i := range 900 {
		at := float64(i) * 1000
		x.Verbs = append(x.Verbs, engine.VerbTrace{Verb: "CAS", Bytes: 8, To: i % 7, BeginNS: at, EndNS: at + 900})
		x.AbortsNS = append(x.AbortsNS, at+950)
		x.Phases = append(x.Phases, engine.PhaseTrace{Phase: "lock", BeginNS: at, EndNS: at + 1000})
	}
	svg := Timeline(&x, Options{})
	wellFormed(t, "many.svg", svg)
	if !strings.Contains(svg, "500 more requests are not drawn") || len(svg) > 2<<20 || strings.Contains(svg, "<b>") {
		t.Errorf("%d bytes", len(svg))
	}
}

// The name of a request stands behind its bar, before it where there is no room behind, and else nowhere.
func TestTimelineNamesRequests(t *testing.T) {
	verb := func(bytes int, from, to float64) engine.VerbTrace {
		return engine.VerbTrace{Verb: "WRITE", Bytes: bytes, To: 1, BeginNS: from, EndNS: to}
	}
	svg := Timeline(&engine.TxnTrace{Type: "late", Outcome: "committed", EndNS: 1000, Verbs: []engine.VerbTrace{verb(11, 0, 300), verb(22, 500, 1000), verb(33, 0, 1000)}}, Options{})
	wellFormed(t, "names.svg", svg)
	for name, want := range map[string]int{">WRITE 11 B<": 1, `text-anchor="end" ` + soft + ">WRITE 22 B<": 1, ">WRITE 22 B<": 1, ">WRITE 33 B<": 0} {
		if n := strings.Count(svg, name); n != want {
			t.Errorf("%q is drawn %d times, want %d", name, n, want)
		}
	}
}
