package dashboard

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/cluster/web"
	"drtmx/dashboard/card"
	"drtmx/dashboard/charts"
	"drtmx/dashboard/lineage"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

func get(t *testing.T, h http.Handler, url string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", url, nil))
	return w
}

func getJSON(t *testing.T, h http.Handler, url string, into any) {
	t.Helper()
	w := get(t, h, url)
	if w.Code != 200 {
		t.Fatalf("%s: %d %s", url, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
		t.Fatalf("%s: %v in %.200s", url, err, w.Body)
	}
}

// changed is a source with a change of preset in the middle of its history.
func changed(t *testing.T) *fakeSource {
	f := newFake(t)
	f.run(60, 8e6)
	f.set(t, experiment.Knobs{"preset": "fasst"})
	f.run(60, 5e6)
	return f
}

func TestPageFiles(t *testing.T) {
	h := Handler(newFake(t))
	for path, kind := range map[string]string{"/": "text/html", "/app.js": "text/javascript", "/style.css": "text/css", "/icon.svg": "image/svg"} {
		if w := get(t, h, path); w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), kind) || w.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d, %v", path, w.Code, w.Header())
		}
	}
	if w := get(t, h, "/no.such"); w.Code != 404 {
		t.Errorf("a missing file: %d", w.Code)
	}
}

// The content policy of the server refuses scripts in the page, and nothing is to
// come from elsewhere.
func TestPageKeepsToItsPolicy(t *testing.T) {
	foreign := regexp.MustCompile(`(https?:)?//[a-z0-9-]+\.[a-z]`)
	inline := regexp.MustCompile(`(?i)<script(?:[^>]*)>[^<]|<style|\son[a-z]+="|\sstyle="|javascript:|\beval\(|new Function`)
	err := fs.WalkDir(embedded, "web", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := embedded.ReadFile(path)
		if err != nil {
			return err
		}
		text := strings.ReplaceAll(string(b), "http://www.w3.org/2000/svg", "")
		if path == "web/perfetto.js" { // opens a window of its own, on a click, and loads nothing
			text = strings.Replace(text, "https://ui.perfetto.dev", "", 1)
		}
		if m := foreign.FindString(text); m != "" {
			t.Errorf("%s refers to %s", path, m)
		}
		if m := inline.FindString(text); m != "" {
			t.Errorf("%s has %q", path, m)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestTimelineInBothForms(t *testing.T) {
	f := changed(t)
	f.systems = append(f.systems, system.Snapshot{Sys: "b", Epoch: "e2", ForkedFrom: "a", ForkEpoch: "e1", ForkNS: 100 * windowNS, KnobsVersion: 1})
	f.windows["b"] = f.windows["a"]
	h := Handler(f)
	var o struct {
		Series []struct {
			Name     string
			MarkLine struct{ Data []any }
			Data     []struct{ Value []float64 }
		}
	}
	getJSON(t, h, "/page/timeline?format=option&last=0&w=600&h=500", &o)
	if len(o.Series) != 2*(len(tracks)-1) || // nothing failed
		o.Series[0].Name != "system a" || o.Series[1].Name != "ghost b" {
		t.Fatalf("series: %+v", o.Series)
	}
	if n := len(o.Series[0].MarkLine.Data); n != 1 {
		t.Errorf("%d marks, want that of the change", n)
	}
	if x := o.Series[1].Data[0].Value[0]; x < 100*windowNS/1e6 {
		t.Errorf("the ghost begins at %v ms, before its fork", x)
	}
	getJSON(t, h, "/page/timeline?format=option&last=30&sys=a", &o)
	if n := len(o.Series[0].Data); n != 30 {
		t.Errorf("%d points of the last 30 windows", n)
	}
	getJSON(t, h, fmt.Sprintf("/page/timeline?format=option&from=%d&to=%d", 10*windowNS, 20*windowNS), &o)
	if n := len(o.Series[0].Data); n != 10 {
		t.Errorf("%d points of a span of 10 windows", n)
	}
	for _, url := range []string{"/page/timeline?last=400", "/page/phases?w=300"} {
		if w := get(t, h, url); w.Code != 200 || w.Header().Get("Content-Type") != "image/svg+xml" || !strings.Contains(w.Body.String(), "<svg") {
			t.Errorf("%s: %d %.100s", url, w.Code, w.Body)
		}
	}
}

// The memory panel shows the NVM where there is one, and amplification where
// something was written.
func TestMemoryPanel(t *testing.T) {
	f := newFake(t)
	f.run(40, 8e6)
	lines := func() (names []string) {
		var o struct {
			YAxis []struct{ Name string }
		}
		getJSON(t, Handler(f), "/page/memory?format=option&last=0&w=600&h=500", &o)
		for _, y := range o.YAxis {
			names = append(names, y.Name)
		}
		return names
	}
	if n := lines(); len(n) != 2 || !strings.Contains(n[0], "PCIe") {
		t.Errorf("without NVM: %q", n)
	}
	ws := f.windows["a"]
	for i := range ws {
		ws[i].NVM = &result.NVMStat{}
	}
	if n := lines(); len(n) != 4 {
		t.Errorf("NVM that nobody writes: %q", n)
	}
	for i := range ws {
		ws[i].NVM = &result.NVMStat{WriteReq: 10, MediaWriteBytes: 2560, WriteAmplification: 4}
	}
	if n := lines(); len(n) != 5 || !strings.Contains(n[4], "amplified") {
		t.Errorf("with NVM: %q", n)
	}
	if w := get(t, Handler(f), "/page/memory?last=0"); w.Code != 200 || !strings.Contains(w.Body.String(), "<svg") {
		t.Errorf("%d %.100s", w.Code, w.Body)
	}
}

// The panels of PCIe and caches have a track for what happens, and each DIMM its bar.
func TestPCIeAndCachePanels(t *testing.T) {
	f := newFake(t)
	f.run(40, 8e6)
	names := func(url string) (names []string) {
		var o struct {
			YAxis []struct {
				Name string
				Data []string
			}
		}
		getJSON(t, Handler(f), url+"?format=option&w=600&h=0", &o)
		for _, y := range o.YAxis {
			names = append(append(names, y.Name), y.Data...)
		}
		return names
	}
	ws := f.windows["a"]
	for i := range ws {
		ws[i].PCIe = &result.PCIeStat{ReadWords: 5, WriteWords: result.PCIeWords{Write: 20, Completion: 10}, Partial: result.PCIeWords{Write: 10}}
		ws[i].Caches = &result.CacheStat{Contexts: 10, ContextMisses: 1}
	}
	if n := strings.Join(names("/page/pcie"), " "); !strings.Contains(n, "reads") || !strings.Contains(n, "part WRITE") || !strings.Contains(n, "part CQE") || strings.Contains(n, "RECV") {
		t.Errorf("PCIe: %s", n)
	}
	if n := names("/page/caches"); len(n) != 2 || !strings.Contains(n[1], "QP contexts") { // the first is always there
		t.Errorf("caches without DDIO: %q", n)
	}
	if w := get(t, Handler(f), "/page/gauges"); w.Code != 204 || w.Body.Len() != 0 {
		t.Errorf("gauges of nobody: %d %.100s", w.Code, w.Body)
	}
	for i := range ws {
		ws[i].Gauges = map[string]float64{"cache.hits": 97, "locks.tried": 5e6, "of.another.version": 1}
	}
	f = newFake(t) // what a page has kept of a window it does not ask for again
	f.run(40, 8e6)
	f.windows["a"] = ws
	if n := names("/page/gauges"); len(n) != 2 || !strings.HasPrefix(n[0], "location hits (%)") || !strings.HasPrefix(n[1], "locks tried (M/s)") {
		t.Errorf("gauges: %q", n)
	}
	if w := get(t, Handler(f), "/page/dimms"); w.Code != 204 || w.Body.Len() != 0 {
		t.Errorf("DIMMs of nobody: %d %.100s", w.Code, w.Body)
	}
	for i := range ws {
		ws[i].NVM = &result.NVMStat{}
		for k := range 30 {
			ws[i].NVM.DIMMs = append(ws[i].NVM.DIMMs, result.DIMMStat{Node: 1, DIMM: k + 1, WriteBytes: uint64(k), Buffer: .5, Dirty: .25})
		}
	}
	if n := names("/page/dimms"); len(n) != 1+24 || n[1] != "n1 s0 DIMM 7" || n[24] != "n1 s0 DIMM 30" {
		t.Errorf("the busiest DIMMs: %q", n)
	}
	if w := get(t, Handler(f), "/page/dimms?of=buffer"); w.Code != 200 || !strings.Contains(w.Body.String(), "dirty") {
		t.Errorf("buffers: %d %.100s", w.Code, w.Body)
	}
}

func TestTimelineOfManyWindowsIsShort(t *testing.T) {
	f := newFake(t)
	f.run(5000, 8e6)
	var o struct{ Series []struct{ Data []any } }
	getJSON(t, Handler(f), "/page/timeline?format=option&last=0", &o)
	if n := len(o.Series[0].Data); n > drawn+1 || n < drawn/2 {
		t.Errorf("%d points", n)
	}
}

func TestPageWithoutAnyWindow(t *testing.T) {
	h := Handler(newFake(t))
	for _, url := range []string{"/page/timeline", "/page/timeline?format=option", "/page/memory", "/page/memory?format=option", "/page/pcie", "/page/caches?format=option", "/page/cards", "/page/knobs", "/page/steps", "/page/copy", "/page/about"} {
		if w := get(t, h, url); w.Code != 200 {
			t.Errorf("%s: %d %s", url, w.Code, w.Body)
		}
	}
	if w := get(t, h, "/page/state"); w.Code != 400 {
		t.Errorf("a state of no windows: %d", w.Code)
	}
}

func TestMissingSystem(t *testing.T) {
	h := Handler(newFake(t))
	for _, url := range []string{"/page/knobs?sys=c", "/page/steps?sys=c", "/page/copy?sys=c", "/page/state?sys=c"} {
		if w := get(t, h, url); w.Code != 404 || !strings.Contains(w.Body.String(), "no such system") {
			t.Errorf("%s: %d %s", url, w.Code, w.Body)
		}
	}
}

func TestKnobsOfThePage(t *testing.T) {
	var k struct {
		Version int
		Knobs   []struct {
			Name             string
			Value, Start     any
			Changed, Follows bool
		}
		Undo experiment.Knobs
	}
	getJSON(t, Handler(changed(t)), "/page/knobs", &k)
	if k.Version != 2 || len(k.Undo) != 1 || k.Undo["preset"] != "drtm+h" {
		t.Errorf("version %d, undo %v", k.Version, k.Undo)
	}
	follow := 0
	for _, x := range k.Knobs {
		if x.Name == "preset" && (!x.Changed || x.Follows || x.Start != "drtm+h") {
			t.Errorf("the preset: %+v", x)
		}
		if x.Follows {
			follow++
		}
	}
	if follow == 0 {
		t.Error("no knob follows the preset")
	}
}

// Numbers of the hardware come with what they were at the start, also when they are the profile's again.
func TestHardwareOfThePage(t *testing.T) {
	began, err := experiment.Resolve(experiment.Spec{Set: experiment.Knobs{"hardware.wire.switch": 500, "hardware.nic.translations": 512}})
	if err != nil {
		t.Fatal(err)
	}
	now := experiment.Spec{Set: experiment.Knobs{"hardware.nic.translations": 512, "hardware.nic.qp_contexts": 4000}}
	states, err := experiment.Describe(now)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][3]any{}
	list, err := pageKnobs(states, lineage.Lineage{Start: began, Spec: now})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range list {
		if experiment.IsHardware(k.Name) {
			got[k.Name] = [3]any{k.Start, k.Value, k.Changed}
		}
	}
	want := map[string][3]any{"hardware.wire.switch": {500.0, 90.0, true}, "hardware.nic.translations": {512, 512, false}, "hardware.nic.qp_contexts": {480, 4000, true}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestCardsOfThePage(t *testing.T) {
	f := changed(t)
	f.systems = append(f.systems, system.Snapshot{Sys: "b", Epoch: "e2", ForkedFrom: "a", ForkEpoch: "e1", ForkNS: 70 * windowNS, KnobsVersion: 1})
	ghost := newFake(t)
	ghost.run(120, 8e6)
	f.windows["b"] = ghost.windows["a"]
	var c struct{ Changes, Ghosts []card.Card }
	getJSON(t, Handler(f), "/page/cards", &c)
	if len(c.Changes) != 1 || c.Changes[0].Undo["preset"] != "drtm+h" || rowOf(t, c.Changes[0], "throughput").Verdict != "worse" {
		t.Errorf("changes: %+v", c.Changes)
	}
	if len(c.Ghosts) != 1 || c.Ghosts[0].Number != 0 {
		t.Fatalf("ghosts: %+v", c.Ghosts)
	}
	// What is, against what would have been: 5 M/s against 8 M/s.
	if r := rowOf(t, c.Ghosts[0], "throughput"); r.Before < 7.9e6 || r.After > 5.1e6 || r.Verdict != "worse" {
		t.Errorf("ghost: %+v", r)
	}
}

// The card of a ghost that was shown just now waits for windows, and does not say that they are missing for good.
func TestCardOfAYoungGhost(t *testing.T) {
	f := newFake(t)
	f.run(73, 8e6)
	f.systems = append(f.systems, system.Snapshot{Sys: "b", Epoch: "e2", ForkedFrom: "a", ForkEpoch: "e1", ForkNS: 70 * windowNS, KnobsVersion: 1})
	f.windows["b"] = f.windows["a"][:72]
	var c struct{ Ghosts []card.Card }
	getJSON(t, Handler(f), "/page/cards", &c)
	if want := "waiting for windows that both systems have: 2 of 8"; len(c.Ghosts) != 1 || c.Ghosts[0].Settling != want || c.Ghosts[0].Final {
		t.Errorf("%+v", c.Ghosts)
	}
}

// A system that began again has another life than the one that its fork knows.
func TestGhostOfAnEarlierLife(t *testing.T) {
	f := changed(t)
	f.systems = append(f.systems, system.Snapshot{Sys: "b", Epoch: "e2", ForkedFrom: "a", ForkEpoch: "e0", ForkNS: 70 * windowNS, KnobsVersion: 2})
	f.windows["b"] = f.windows["a"]
	h := Handler(f)
	var c struct{ Ghosts []card.Card }
	getJSON(t, h, "/page/cards", &c)
	if len(c.Ghosts) != 0 {
		t.Errorf("compared with an earlier life: %+v", c.Ghosts)
	}
	var o struct{ Series []struct{ Name string } }
	getJSON(t, h, "/page/timeline?format=option", &o)
	if o.Series[1].Name != "system b" {
		t.Errorf("series: %+v", o.Series)
	}
}

func TestPinsAreCompared(t *testing.T) {
	f := changed(t)
	h := Handler(f)
	var now card.Part
	getJSON(t, h, "/page/state?sys=a", &now)
	if now.Version != 2 || now.Windows < card.Least || now.Title != "system a after change 1" {
		t.Errorf("state: %+v", now)
	}
	pin := func(epoch string, from, to, version int) string {
		return fmt.Sprintf("a,%s,%d,%d,%d", epoch, from*windowNS, to*windowNS, version)
	}
	query := "?a=" + pin("e1", 10, 50, 1) + "&b=" + pin("e1", 70, 110, 2)
	var c struct {
		Rows  []card.Row
		Knobs []knobDiff
	}
	getJSON(t, h, "/page/compare"+query, &c)
	if r := c.Rows[0]; r.Name != "throughput" || r.Before < 7.9e6 || r.After > 5.1e6 || r.Verdict != "worse" {
		t.Errorf("rows: %+v", c.Rows)
	}
	found := false
	for _, d := range c.Knobs {
		found = found || d == knobDiff{"preset", "drtm+h", "fasst"}
	}
	if !found || len(c.Knobs) < 5 {
		t.Errorf("knobs that differ: %v", c.Knobs)
	}
	if w := get(t, h, "/page/compare/chart"+query); w.Code != 200 {
		t.Errorf("chart: %d %s", w.Code, w.Body)
	}
	for url, code := range map[string]int{
		"?a=" + pin("e0", 10, 50, 1) + "&b=" + pin("e1", 70, 110, 2): 404, // of an earlier life
		"?a=" + pin("e1", 10, 11, 1) + "&b=" + pin("e1", 70, 110, 2): 404, // its windows are gone
		"?a=x&b=y": 400, "?a=a,e1,x,y,z": 400, "?a=" + pin("e1", 10, 50, 1): 400,
	} {
		if w := get(t, h, "/page/compare"+url); w.Code != code {
			t.Errorf("%s: %d, want %d", url, w.Code, code)
		}
	}
}

// However many pages look, a window is asked for once, and a chart drawn once.
func TestHistoryIsFetchedOnce(t *testing.T) {
	f := changed(t)
	h := Handler(f)
	for range 5 {
		get(t, h, "/page/timeline?last=400")
		get(t, h, "/page/cards")
		get(t, h, "/page/phases")
	}
	if f.fetched != 120 {
		t.Errorf("%d windows fetched of 120", f.fetched)
	}
	f.run(1, 5e6)
	before := get(t, h, "/page/timeline?last=400").Body.String()
	f.systems[0].Epoch, f.systems[0].KnobsVersion = "e9", 1
	f.windows["a"], f.events = nil, map[string][]session.Event{}
	f.run(10, 1e6)
	if after := get(t, h, "/page/timeline?last=400").Body.String(); after == before {
		t.Error("the history of an earlier life is shown")
	}
}

func TestLibraryIsWhatTheCDNWouldGive(t *testing.T) {
	b, err := charts.Library()
	if err != nil {
		if os.Getenv("DRTMX_REQUIRE") == "all" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	sum := sha512.Sum384(b)
	if got := "sha384-" + base64.StdEncoding.EncodeToString(sum[:]); got != libraryIntegrity {
		t.Errorf("the embedded library has %s, --cdn asks for %s", got, libraryIntegrity)
	}
}

// The head of the page names the library, so that the browser fetches it at once. Only a server that was started with --cdn
// tells the page to look elsewhere.
func TestLibraryInTheHead(t *testing.T) {
	for csp, allowed := range map[string]bool{"script-src 'self'": false, "script-src 'self' " + web.CDN: true} {
		w := httptest.NewRecorder()
		w.Header().Set("Content-Security-Policy", csp)
		Handler(newFake(t)).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if foreign := strings.Contains(w.Body.String(), web.CDN); foreign && (!allowed || charts.HasLibrary()) {
			t.Errorf("under %q: %s", csp, w.Body)
		}
		if own := strings.Contains(w.Body.String(), `<link id="library" rel="preload" as="script" href="vendor/echarts.js">`); own != charts.HasLibrary() {
			t.Errorf("under %q the library is %v, named %v", csp, charts.HasLibrary(), own)
		}
	}
}

func TestFloor(t *testing.T) {
	for _, c := range []struct{ lo, hi, most, least float64 }{
		{8e6, 8.6e6, 6e6, 3e6}, {0, 10, 0, 0}, {1, 10, 0, 0}, {25, 42, 20, 10}, {15, 15, 10, 5}, {0, 0, 0, 0},
	} {
		if got := floor([]charts.Series{{Y: []float64{c.lo, c.hi}}}); got > c.most || got < c.least {
			t.Errorf("an axis of %g to %g begins at %g", c.lo, c.hi, got)
		}
	}
}
