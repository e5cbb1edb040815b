package dashboard

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"reflect"
	"strings"

	"drtmx/cluster/agent"
	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/cluster/web"
	"drtmx/dashboard/card"
	"drtmx/dashboard/charts"
	"drtmx/dashboard/charts/diagram"
	"drtmx/dashboard/lineage"
	"drtmx/dashboard/windows"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// SessionPage is a session as one HTML file: lines, cards, knobs and the code version. It can be read
// without a network, for everything is in it.
type SessionPage struct {
	Title   string
	Note    string // such as what a replay found; "": nothing
	Parts   []SessionPart
	Session []byte // the session file, which the page offers; nil: it is not in it
}

// SessionPart is what happened to one system from 0 on; a reset begins another.
type SessionPart struct {
	Code    string
	Profile string
	Digest  string // at AtNS
	AtNS    int64
	Events  []session.Event
	Windows []result.Window
	Knobs   []experiment.KnobState // as they are at the end
	Nodes   []result.NodeInside
	Checks  *result.Checks
	Failed  string
}

const (
	sessionWidth = 1080
	// sessionEmbedded is the largest session file that a page takes in.
	sessionEmbedded = 4 << 20
	// nodesDrawn are as many machines as are drawn; the others are much like them.
	nodesDrawn = 4
)

//go:embed sessionpage.html
var sessionTemplate string

var sessionForm = template.Must(template.New("session").Funcs(template.FuncMap{
	"number": number, "difference": difference, "phase": card.PhaseName, "ms": func(ns int64) string { return fmt.Sprintf("%.4g ms", float64(ns)/1e6) },
	"value": func(k experiment.KnobState, v any) string { return lineage.Shown(k.Name, v) },
}).Parse(sessionTemplate))

// drawnPart is a part as the template takes it.
type drawnPart struct {
	SessionPart
	Lines, Phases template.HTML
	Cards         []card.Card
	Changed       []experiment.KnobState
	Missing       int // windows that are no longer kept
	Inside        []template.HTML
}

// HTML is the file.
func (s *SessionPage) HTML() ([]byte, error) {
	data := struct {
		*SessionPage
		Loader   template.HTML
		Download template.URL
		Drawn    []drawnPart
	}{SessionPage: s, Loader: template.HTML(charts.Loader())}
	if n := len(s.Session); n > 0 && n <= sessionEmbedded {
		data.Download = template.URL("data:application/x-ndjson;base64," + base64.StdEncoding.EncodeToString(s.Session))
	}
	for i := range s.Parts {
		data.Drawn = append(data.Drawn, s.Parts[i].drawn())
	}
	var b bytes.Buffer
	if err := sessionForm.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("session page: %w", err)
	}
	return b.Bytes(), nil
}

// drawn makes lines, cards and drawings of a part.
func (x *SessionPart) drawn() drawnPart {
	h := history{snap: system.Snapshot{Sys: lineage.FirstSystem, VirtualNS: x.AtNS}, events: x.Events}
	for i := range x.Windows {
		h.moments = append(h.moments, windows.Of(&x.Windows[i]))
	}
	d := drawnPart{SessionPart: *x, Cards: card.OfChanges(lineage.FirstSystem, "", h.moments, x.Events)}
	if len(x.Windows) > 0 {
		d.Missing = x.Windows[0].Index
		d.Lines = template.HTML(drawTracks([]history{h}, 0, x.AtNS+1, timelineTracks(valueOf(x.Knobs, "workload")), charts.Size{Width: sessionWidth}).HTML())
		bar := phaseBar{"at the end", phaseMeans(h.moments[max(0, len(h.moments)-phasesOver):])}
		d.Phases = template.HTML(stackedPhases(charts.Size{Width: sessionWidth}, []phaseBar{bar}).HTML())
	}
	for _, k := range x.Knobs {
		if k.Active && !reflect.DeepEqual(k.Value, k.Default) {
			d.Changed = append(d.Changed, k)
		}
	}
	var all []*result.NodeInside
	for i := range x.Nodes[:min(len(x.Nodes), nodesDrawn)] {
		all = append(all, &x.Nodes[i])
	}
	for _, n := range all {
		d.Inside = append(d.Inside, template.HTML(diagram.Node(n, diagram.NodeOptions{Options: diagram.Options{Width: 520}, Widest: diagram.Widest(all...)})))
	}
	return d
}

// number writes a value of a row: with a prefix from a thousand on.
func number(v float64) string {
	if v >= 1000 {
		return charts.SI(v)
	}
	return fmt.Sprintf("%.3g", v)
}

// difference writes what a row of a card says.
func difference(r card.Row) string {
	mark := map[string]string{"better": "✓ ", "worse": "! ", "same": "= "}[r.Verdict]
	switch {
	case r.Ended:
		return mark + "-100 %, 0 in every window"
	case r.Verdict == card.Undecided && r.Drifts:
		return "still drifting"
	case r.Verdict == card.Undecided && r.Before == 0:
		return fmt.Sprintf("? %+.3g", r.Diff)
	case r.Verdict == card.Undecided:
		return fmt.Sprintf("? %+.1f %%", r.Percent)
	case r.Before == 0:
		return fmt.Sprintf("%s%+.3g ± %.2g", mark, r.Diff, r.Half95)
	}
	return fmt.Sprintf("%s%+.1f ± %.1f %%", mark, r.Percent, 100*r.Half95/max(r.Before, -r.Before))
}

// sessionOf is the session of a system so far.
func sessionOf(ctx context.Context, s recorded, sys string) (*SessionPage, error) {
	snap, err := windows.SnapshotOf(s, sys)
	if err != nil {
		return nil, err
	}
	part := SessionPart{Failed: snap.Error}
	raw, err := s.Session(ctx, sys)
	if err == nil {
		part.Events, err = s.Events(ctx, sys)
	}
	if err == nil {
		part.Windows, err = s.Windows(ctx, sys, 0)
	}
	if err == nil {
		part.Knobs, err = s.Knobs(ctx, sys)
	}
	if err == nil {
		part.Nodes, err = s.Inside(ctx, sys, false)
	}
	if err != nil {
		return nil, err
	}
	recorded, err := session.Read(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	last := &recorded.Segments[len(recorded.Segments)-1]
	part.Code, part.AtNS, part.Digest = last.Header.Code, last.EndNS(), last.Digest()
	part.finish()
	return &SessionPage{Title: titleOf(last.Header.Spec, sys), Parts: []SessionPart{part}, Session: raw}, nil
}

// finish takes over what the last window knows.
func (x *SessionPart) finish() {
	if n := len(x.Windows); n > 0 {
		x.Checks = x.Windows[n-1].Checks
	}
	for _, k := range x.Knobs {
		if k.Name == "profile" {
			x.Profile = fmt.Sprint(k.Value)
		}
	}
}

func titleOf(s experiment.Spec, sys string) string {
	parts := []string{"session of system " + sys}
	if s.Workload != "" {
		parts = append(parts, s.Workload)
	}
	if s.Preset != "" {
		parts = append(parts, s.Preset)
	}
	return strings.Join(parts, ", ")
}

// ReplayedPage is the page of a session that was run again; raw is its file.
func ReplayedPage(r *session.Replayed, kept []session.Recording, raw []byte) *SessionPage {
	out := &SessionPage{Title: "session", Note: r.String(), Session: raw}
	for _, k := range kept {
		part := SessionPart{Code: k.Header.Code, Digest: k.Digest, AtNS: k.AtNS, Events: k.Events, Windows: k.Windows, Knobs: k.Knobs, Nodes: k.Nodes, Failed: k.Failed}
		part.finish()
		out.Title = titleOf(k.Header.Spec, k.Header.Sys)
		out.Parts = append(out.Parts, part)
	}
	return out
}

func init() {
	web.SetSessionPage(func(ctx context.Context, a *agent.Agent, sys string) ([]byte, error) {
		if sys == "" {
			sys = lineage.FirstSystem
		}
		s, err := sessionOf(ctx, a, sys)
		if err != nil {
			return nil, err
		}
		return s.HTML()
	})
}

// recorded is what a session page is made of; *agent.Agent has it.
type recorded interface {
	Systems() []system.Snapshot
	Session(ctx context.Context, sys string) ([]byte, error)
	Events(ctx context.Context, sys string) ([]session.Event, error)
	Windows(ctx context.Context, sys string, from int) ([]result.Window, error)
	Knobs(ctx context.Context, sys string) ([]experiment.KnobState, error)
	Spec(ctx context.Context, sys string) (experiment.Spec, error)
	Inside(ctx context.Context, sys string, measured bool) ([]result.NodeInside, error)
}

// sessionPage offers the session of a system as one file.
func (p *page) sessionPage(w http.ResponseWriter, r *http.Request) {
	s, err := sessionOf(r.Context(), p.source, sysOf(r))
	var b []byte
	if err == nil {
		b, err = s.HTML()
	}
	if err != nil {
		code := http.StatusConflict // such as one that catches up with its session
		var none *agent.NoSystemError
		if errors.As(err, &none) {
			code = http.StatusNotFound
		}
		http.Error(w, fmt.Sprintf("page: %v", err), code)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Disposition", "attachment; filename=session.html") // it has scripts of its own, which the content policy forbids here
	w.Header().Set("Cache-Control", "no-store")
	w.Write(b)
}
