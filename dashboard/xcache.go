package dashboard

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"drtmx/dashboard/card"
	"drtmx/dashboard/charts"
	"drtmx/dashboard/windows"
	"drtmx/engine/experiment"
)

// The panel of learned caches: numbers over time, what they are now, and how far training in the background has come.
// All of it is read from the gauges of part xstore.

const (
	cachePart     = "xstore"
	subModelsKnob = "xstore.submodels"
	cacheKnob     = "xstore.cache"
)

// cacheGauge is what a gauge of the store showed in a window; NaN: nothing.
func cacheGauge(m *windows.Moment, name string) float64 { return m.Gauge(cachePart + "." + name) }

// learnedTracks are drawn one above the other. Bytes are shown as megabytes.
var learnedTracks = func() []measure {
	track := func(label, unit string, rare bool, of func(m *windows.Moment) float64) measure {
		return measure{charts.Axis{Label: label, Unit: unit}, of, rare, nil}
	}
	named := func(name string) func(m *windows.Moment) float64 {
		return func(m *windows.Moment) float64 { return cacheGauge(m, name) }
	}
	return []measure{
		{charts.Axis{Label: "cache hits", Unit: "%", To: 100}, named("hits"), false, nil},
		track("leaves READ", "", false, leavesRead),
		track("invalidated", "%", true, named("invalidations")),
		track("fallbacks", "%", true, named("fallbacks")),
		track("client cache", "MB", false, func(m *windows.Moment) float64 { return cacheGauge(m, "client_bytes") / 1e6 }),
		track("models to go", "", true, named("to_go")),
		track("queue", "tasks", true, named("pending")),
	}
}()

// leavesRead is how many a lookup by a model READs.
func leavesRead(m *windows.Moment) float64 { return 1 + cacheGauge(m, "leaves")/100 }

func (p *page) learnedChart(w http.ResponseWriter, r *http.Request) { p.tracks(w, r, learnedTracks) }

// learned is what the panel says in words and numbers.
type learned struct {
	Text    string  `json:"text"`
	Settled bool    `json:"settled"`
	Done    float64 `json:"done"` // of the model that is trained, as a share
	Because string  `json:"because,omitempty"`
	Facts   []fact  `json:"facts"`
}

// fact is a number of the panel.
type fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Unit  string `json:"unit,omitempty"`
	Doc   string `json:"doc"`
}

// learnedOver is how many windows the numbers are means of.
const learnedOver = 10

// learnedState answers with them; 204 if the system has no such cache.
func (p *page) learnedState(w http.ResponseWriter, r *http.Request) {
	ms, _, err := p.keeper.Moments(r.Context(), sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	ms = ms[max(0, len(ms)-learnedOver):]
	if len(ms) == 0 || math.IsNaN(cacheGauge(&ms[len(ms)-1], "client_bytes")) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s := learnedOf(ms)
	if states, err := p.source.Knobs(r.Context(), sysOf(r)); err == nil {
		if i := slices.IndexFunc(states, func(k experiment.KnobState) bool { return k.Name == subModelsKnob }); i >= 0 && states[i].Active && states[i].Auto != nil {
			s.Because = states[i].Auto.Because
		}
	}
	answer(w, s)
}

// learnedOf judges the latest windows.
func learnedOf(ms []windows.Moment) learned {
	now := &ms[len(ms)-1]
	s := learned{Settled: true, Done: 1}
	s.Text, s.Settled = trainingText(ms)
	if target := cacheGauge(now, "training"); target > 0 {
		s.Done = 1 - cacheGauge(now, "to_go")/target
	}
	over := func(of func(m *windows.Moment) float64) float64 {
		sum, n := 0.0, 0
		for i := range ms {
			if v := of(&ms[i]); !math.IsNaN(v) {
				sum, n = sum+v, n+1
			}
		}
		return sum / float64(n) // NaN of none
	}
	share := func(name string) float64 { return over(func(m *windows.Moment) float64 { return cacheGauge(m, name) }) }
	add := func(name string, v float64, text, unit, doc string) {
		if !math.IsNaN(v) {
			s.Facts = append(s.Facts, fact{name, text, unit, doc})
		}
	}
	percent := func(name, label, doc string) { v := share(name); add(label, v, percentText(v), "%", doc) }
	bytes := func(name, label, doc string) {
		v := cacheGauge(now, name)
		text, unit := bytesText(v)
		add(label, v, text, unit, doc)
	}
	percent("hits", "cache hits", "lookups that READ nothing of the index: the client's cache named the leaves")
	percent("invalidations", "invalidations", "lookups that met a leaf other than the one expected, or a node that was too old: leaves have been split")
	percent("fallbacks", "fallbacks", "lookups that the server had to answer")
	v := over(leavesRead)
	add("leaves READ", v, card.Short(v), "a lookup", "leaves that a lookup READs: one, or more where the prediction is wider")
	v = cacheGauge(now, "mean_error")
	add("prediction error", v, card.Short(v), fmt.Sprintf("slots, ≤ %.0f", cacheGauge(now, "max_error")), "how wide a prediction is: what a sub-model may be above and below the truth, together; the mean of all sub-models that a lookup has used")
	bytes("client_bytes", "a client’s cache", "what the cache of a client holds now, in its mode: models and tables, or nodes of the tree")
	bytes("clients_bytes", "all clients", "the caches of all clients together")
	bytes("model_bytes", "sub-models", "all sub-models of the servers, 14 bytes each")
	bytes("tt_bytes", "tables", "all translation tables of the servers, 8 bytes for each leaf")
	bytes("index_bytes", "tree’s nodes", "the inner nodes of the tree, which a cache of the whole index would have to keep")
	v = cacheGauge(now, "pending")
	add("training queue", v, thousands(v), "tasks", "tasks that trainers have not finished: one for each split leaf, and one for a whole model")
	v = cacheGauge(now, "submodels")
	add("sub-models now", v, thousands(v), "", "sub-models that clients use, of all servers")
	return s
}

// trainingText says how far training in the background has come, and whether it has settled: no whole model is trained, and the
// queue was empty at the end of one of some windows.
func trainingText(ms []windows.Moment) (text string, settled bool) {
	m := &ms[len(ms)-1]
	models, target, left, tasks := cacheGauge(m, "submodels"), cacheGauge(m, "training"), cacheGauge(m, "to_go"), cacheGauge(m, "pending")
	empty := slices.ContainsFunc(ms, func(m windows.Moment) bool { return cacheGauge(&m, "training") == 0 && cacheGauge(&m, "pending") == 0 })
	switch {
	case math.IsNaN(models):
		return "no models in use: clients go down the tree", true
	case target > 0 && left == target:
		return fmt.Sprintf("training: the keys are read first, then %s sub-models are trained", thousands(target)), false
	case target > 0:
		return fmt.Sprintf("training: %s of %s sub-models to go", thousands(left), thousands(target)), false
	case tasks > 0 && !empty:
		return fmt.Sprintf("retraining: %s sub-models in use; after splits %s tasks wait", thousands(models), thousands(tasks)), false
	}
	if tasks > 0 {
		return fmt.Sprintf("settled: %s sub-models, and the trainers keep up", thousands(models)), true
	}
	return fmt.Sprintf("settled: %s sub-models, nothing waits for training", thousands(models)), true
}

// percentText keeps a small share apart from none.
func percentText(v float64) string {
	switch {
	case v == 0 || v == 100:
		return fmt.Sprintf("%.0f", v)
	case v < 0.01:
		return "< 0.01"
	case v > 99.9:
		return "> 99.9"
	}
	return card.Short(v)
}

func bytesText(v float64) (text, unit string) {
	switch {
	case v >= 1e9:
		return card.Short(v / 1e9), "GB"
	case v >= 1e6:
		return card.Short(v / 1e6), "MB"
	case v >= 1e3:
		return card.Short(v / 1e3), "KB"
	}
	return fmt.Sprintf("%.0f", v), "bytes"
}

// thousands writes a count with commas.
func thousands(v float64) string {
	s := strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	var parts []string
	for ; len(s) > 3; s = s[:len(s)-3] {
		parts = append([]string{s[len(s)-3:]}, parts...)
	}
	return strings.Join(append([]string{s}, parts...), ",")
}

// ladder is what a slider of the number of sub-models steps through: 1, 2 and 5 times powers of ten from one for 2,000 keys of a
// server to one for 20, and what there is now. Nil: the number of keys is not known.
func ladder(states []experiment.KnobState, now any) []float64 {
	number := func(name string) float64 {
		switch v := valueOf(states, name).(type) {
		case int:
			return float64(v)
		case float64:
			return v
		}
		return 0
	}
	keys := number("workload.keys") * cmp.Or(number("workload.scale"), 1) / max(number("servers"), 1)
	if keys < 2000 {
		return nil
	}
	var out []float64
	for unit := 1.0; unit <= keys; unit *= 10 {
		for _, n := range []float64{1, 2, 5} {
			if v := n * unit; v >= keys/2000 && v <= keys/20 {
				out = append(out, v)
			}
		}
	}
	if v, ok := now.(int); ok && v > 0 && !slices.Contains(out, float64(v)) {
		out = append(out, float64(v))
		slices.Sort(out)
	}
	return out
}
