package dashboard

import (
	"net/http"

	"drtmx/cluster/agent"
	"drtmx/cluster/web"
	"drtmx/dashboard/windows"
	"drtmx/engine/metrics/panel"
)

// The parameters that routes of the page take. A route refuses all others, and values that are none of theirs.
var (
	ofSystem = web.Params{web.System()}
	sized    = web.Params{web.Whole("w", 0, mostPixels), web.Whole("h", 0, mostPixels), web.OneOf("format", "svg", "option")}
	spanned  = web.Params{web.System(), web.Moment("from"), web.Moment("to"), web.Whole("last", 0, windows.MomentsKept)}
	ofFigure = web.Params{web.Name("id"), web.Numbers("hide")}
	ofRuns   = web.Params{web.Name("a"), web.Name("b")} // or of pins
	inSweep  = web.Params{web.System(), web.Name("metric"), web.Whole("number", 0, mostNumber)}
)

const (
	mostPixels = 20_000
	mostZoom   = 100
	mostNumber = 1 << 31
	mostWords  = 2_000
)

// queries are the parameters of each route, by its path.
var queries = map[string]web.Params{
	"/page/timeline":               both(spanned, sized),
	"/page/phases":                 both(spanned, sized),
	"/page/memory":                 both(spanned, sized),
	"/page/pcie":                   both(spanned, sized),
	"/page/caches":                 both(spanned, sized),
	"/page/gauges":                 both(spanned, sized),
	"/page/panels/chart":           both(spanned, sized, web.Params{web.OneOf("part", panelParts()...), web.Whole("chart", 0, mostNumber)}),
	"/page/dimms":                  both(ofSystem, sized, web.Params{web.OneOf("of", "media", "buffer")}),
	"/page/distribution":           sized,
	"/page/knobs":                  both(ofSystem, web.Params{web.OneOf("hardware", "changed", "all")}),
	"/page/strip":                  nil,
	"/page/panels":                 ofSystem,
	"/page/cards":                  nil,
	"/page/state":                  ofSystem,
	"/page/compare":                ofRuns,
	"/page/why":                    ofRuns,
	"/page/compare/chart":          both(ofRuns, sized),
	"/page/steps":                  ofSystem,
	"/page/copy":                   ofSystem,
	"/page/about":                  nil,
	"/page/figures":                nil,
	"/page/figure":                 ofFigure,
	"/page/figure/chart":           both(ofFigure, sized),
	"/page/figure/parts":           ofFigure,
	"/page/figure/point":           {web.Name("id"), web.Whole("n", 0, mostNumber), web.Whole("run", 0, mostNumber), web.Text("what", mostWords)},
	"/page/figure/sketch":          {web.Name("id"), web.Name("v")},
	"/page/transaction":            {web.System(), web.Whole("n", 0, mostNumber), web.OneOf("draw", "1"), web.Whole("w", 0, mostPixels), web.Whole("zoom", 0, mostZoom)},
	"/page/transaction/trace.json": {web.System(), web.Whole("n", 0, mostNumber)},
	"/page/waits":                  {web.System(), web.Whole("node", 0, mostNumber), web.OneOf("part", "atomics", "contexts", "cores", "link", "memory", "pcie", "receive", "send")},
	"/page/inside":                 {web.System(), web.Name("beside"), web.Whole("node", 0, mostNumber), web.Whole("w", 0, mostPixels)},
	"/page/session.html":           ofSystem,
	"/page/sweep":                  inSweep,
	"/page/sweep/knobs":            ofSystem,
	"/page/sweep/chart":            both(inSweep, sized),
	"/page/sweep/cell":             both(inSweep, web.Params{web.Whole("point", 0, mostNumber)}),
	"/page/help":                   {web.Name("id")},
	"/page/help/search":            {web.Text("words", mostWords)},
	"/page/run":                    {web.Name("id")},
	"/page/run/compare":            ofRuns,
	"/page/run/chart":              both(ofRuns, sized),
}

// panelParts are the parts that have a panel.
func panelParts() (names []string) {
	for _, x := range panel.All() {
		names = append(names, x.Part)
	}
	return names
}

func both(lists ...web.Params) (out web.Params) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// asked lets pass what the routes of the page take.
func (p *page) asked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if params, ok := queries[r.URL.Path]; ok {
			q, err := params.Check(r)
			if err == nil && q.Get("sys") != "" {
				err = p.known(q.Get("sys"))
			}
			if err != nil {
				fail(w, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// known says that there is no such system, or none any more.
func (p *page) known(sys string) error {
	var have []string
	for _, s := range p.source.Systems() {
		if s.Sys == sys {
			return nil
		}
		have = append(have, s.Sys)
	}
	return &agent.NoSystemError{Sys: sys, Have: have}
}
