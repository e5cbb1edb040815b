package dashboard

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"

	"drtmx/cluster/agent"
	"drtmx/cluster/job"
	"drtmx/cluster/runs"
	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/cluster/web"
	"drtmx/dashboard/card"
	"drtmx/dashboard/charts"
	"drtmx/dashboard/charts/palette"
	"drtmx/dashboard/lineage"
	"drtmx/dashboard/steps"
	"drtmx/dashboard/windows"
	"drtmx/engine"
	"drtmx/engine/code"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

//go:embed web
var embedded embed.FS

// Source is what the page shows of an agent; *job.Jobs is one.
type Source interface {
	Systems() []system.Snapshot
	Windows(ctx context.Context, sys string, from int) ([]result.Window, error)
	Events(ctx context.Context, sys string) ([]session.Event, error)
	Knobs(ctx context.Context, sys string) ([]experiment.KnobState, error)
	Spec(ctx context.Context, sys string) (experiment.Spec, error)
	Session(ctx context.Context, sys string) ([]byte, error)
	Types(ctx context.Context, sys string) ([]string, error)
	TraceOf(ctx context.Context, sys string, c engine.Choice, progress func(done, total int)) (*engine.Picked, error)
	Inside(ctx context.Context, sys string, measured bool) ([]result.NodeInside, error)
	Latency(ctx context.Context, sys string) (*result.Histogram, error)
	Staleness(ctx context.Context, sys string) (agent.Staleness, error)
	Figures() []job.FigureInfo
	Figure(id string) (job.FigureState, error)
	FigureBrief(id string) (job.FigureState, error)
	Sketch(id string) (string, error)
	ReadFigure(text []byte) job.Figure
	FigureParts(id string) ([]job.FigurePart, error)
	Sweep(sys string) (job.SweepState, error)
	Causes(sys string) (job.CausesState, error)
}

func init() {
	web.SetPage(func(j *job.Jobs) http.Handler { return Handler(j) })
}

type page struct {
	source Source
	keeper *windows.Keeper
	lines  *lineage.Systems
	steps  []steps.Offer
	kept   card.Kept
	memo   memo
	shots  memo // sketches of figures
	looks  looks
	files  http.Handler
	born   string // tells this program's pictures from those that a browser kept of another one
	start  []byte // the page itself
}

// Handler serves the page of an agent.
func Handler(s Source) http.Handler {
	files, err := fs.Sub(embedded, "web")
	if err != nil {
		panic(err) // the folder is embedded
	}
	start, err := fs.ReadFile(files, "index.html")
	if err != nil {
		panic(err) // so is the page
	}
	p := &page{source: s, start: start, keeper: windows.NewKeeper(s), lines: lineage.New(s), steps: steps.Load(), shots: memo{limit: 1000}, files: http.FileServerFS(files), born: strconv.FormatInt(time.Now().UnixMilli(), 36)}
	mux := http.NewServeMux()
	for pattern, h := range map[string]http.HandlerFunc{
		"GET /page/timeline":      p.timeline,
		"GET /page/phases":        p.phases,
		"GET /page/memory":        p.memory,
		"GET /page/pcie":          p.pcie,
		"GET /page/caches":        p.caches,
		"GET /page/gauges":        p.gauges,
		"GET /page/dimms":         p.dimms,
		"GET /page/distribution":  p.distribution,
		"GET /page/knobs":         p.knobs,
		"GET /page/strip":         p.common,
		"GET /page/panels":        p.panels,
		"GET /page/panels/chart":  p.panelChart,
		"GET /page/cards":         p.cards,
		"GET /page/state":         p.state,
		"GET /page/why":           p.whyOf,
		"GET /page/compare":       p.compare,
		"GET /page/compare/chart": p.compareChart,
		"GET /page/steps":         p.trySteps,
		"GET /page/copy":          p.copyAs,
		"GET /page/about":         p.about,
		"GET /page/figures":       p.figures,
		"GET /page/figure":        p.figure,
		"GET /page/figure/chart":  p.figureChart,
		"GET /page/figure/parts":  p.figureParts,
		"GET /page/figure/point":  p.point,
		"GET /page/figure/sketch": p.figureSketch,
		"GET /vendor/echarts.js":  library,
		"GET /colours.css":        text("text/css", palette.CSS()),
		"GET /colours.js":         text("text/javascript", palette.JS()),
		"GET /":                   p.file,
	} {
		mux.HandleFunc(pattern, h)
	}
	p.lookDeeper(mux)
	p.sweeps(mux)
	p.runs(mux)
	p.help(mux)
	return p.asked(mux)
}

// file serves the page's own files. They change with the binary only, but the
// browser shall ask: a new drtmx on the same address must not meet old ones.
func (p *page) file(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	if r.URL.Path == "/" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(bytes.Replace(p.start, []byte("<!-- library -->"), []byte(libraryLink(w.Header())), 1))
		return
	}
	p.files.ServeHTTP(w, r)
}

// libraryLink has the browser fetch echarts before the page's own script is there to ask for it; "" where it is nowhere to be had.
// Only a server that was started with --cdn has a content policy that lets the browser ask elsewhere.
func libraryLink(h http.Header) string {
	switch {
	case charts.HasLibrary():
		return `<link id="library" rel="preload" as="script" href="vendor/echarts.js">`
	case strings.Contains(h.Get("Content-Security-Policy"), web.CDN):
		return fmt.Sprintf(`<link id="library" rel="preload" as="script" href="%s" integrity="%s" crossorigin="anonymous">`, web.CDN+libraryPath, libraryIntegrity)
	}
	return ""
}

// text serves what is the same for as long as the program runs; the browser asks again, as with file.
func text(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		io.WriteString(w, body)
	}
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

// What --cdn lets the page load: the file that the build embeds when it can.
const (
	libraryPath      = "/npm/echarts@5.6.0/dist/echarts.min.js"
	libraryIntegrity = "sha384-pPi0zxBAoDu6+JXW/C68UZLvBUUtU+7zonhif43rqj7pxsGyqyqzcian2Rj37Rss"
)

// about is which program the page is of.
func (p *page) about(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]string{"code": code.Build()})
}

func answer(w http.ResponseWriter, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Write(b)
}

// fail answers with the line of an error that has to do with what was asked for.
func fail(w http.ResponseWriter, err error) {
	code := http.StatusBadRequest
	var none *agent.NoSystemError
	var unknown *job.NoFigureError
	var unkept *runs.NoRunError
	if errors.As(err, &none) || errors.As(err, &unknown) || errors.As(err, &unkept) || errors.Is(err, windows.ErrGone) {
		code = http.StatusNotFound
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, fmt.Sprintf("page: %v", err), code)
}

// sysOf is the system a request is about.
func sysOf(r *http.Request) string {
	if s := r.URL.Query().Get("sys"); s != "" {
		return s
	}
	return lineage.FirstSystem
}
