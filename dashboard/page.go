package dashboard

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"drtmx/cluster"
	"drtmx/dashboard/charts"
	"drtmx/engine"
)

//go:embed web
var web embed.FS

// Source is what the page shows of an agent; *cluster.Agent is one.
type Source interface {
	Systems() []cluster.Snapshot
	Windows(ctx context.Context, sys string, from int) ([]engine.Window, error)
	Events(ctx context.Context, sys string) ([]cluster.Event, error)
	Knobs(ctx context.Context, sys string) ([]engine.KnobState, error)
	Spec(ctx context.Context, sys string) (engine.Spec, error)
}

func init() {
	cluster.SetPage(func(a *cluster.Agent) http.Handler { return Handler(a) })
}

type page struct {
	source Source
	steps  []Steps
	files  http.Handler
}

// Handler serves the page of an agent.
func Handler(s Source) http.Handler {
	files, err := fs.Sub(web, "web")
	if err != nil {
		panic(err) // the folder is embedded
	}
	p := &page{source: s, steps: loadSteps(), files: http.FileServerFS(files)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /page/timeline", p.timeline)
	mux.HandleFunc("GET /page/phases", p.phases)
	mux.HandleFunc("GET /page/cards", p.cards)
	mux.HandleFunc("GET /page/steps", p.trySteps)
	mux.HandleFunc("GET /page/copy", p.copyAs)
	mux.HandleFunc("GET /page/about", p.about)
	mux.HandleFunc("GET /vendor/echarts.min.js", library)
	mux.HandleFunc("GET /", p.file)
	return mux
}

// file serves the page's own files. They change with the binary only, but the
// browser shall ask: a new drtmx on the same address must not meet old ones.
func (p *page) file(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	p.files.ServeHTTP(w, r)
}

func library(w http.ResponseWriter, r *http.Request) {
	z := charts.LibraryGzip()
	if z == nil {
		http.Error(w, "echarts is not built in: npm was missing at build time", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Cache-Control", "max-age=86400")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(z))
}

func (p *page) about(w http.ResponseWriter, r *http.Request) {
	spec, err := p.source.Spec(r.Context(), "a")
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, map[string]any{"interactive": charts.HasLibrary(), "spec": spec.Name, "code": engine.CodeVersion()})
}

func answer(w http.ResponseWriter, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Write(b)
}

func fail(w http.ResponseWriter, err error) {
	http.Error(w, fmt.Sprintf("page: %v", err), http.StatusNotFound)
}

// sysOf is the system a request is about.
func sysOf(r *http.Request) string {
	if s := r.URL.Query().Get("sys"); s != "" {
		return s
	}
	return "a"
}
