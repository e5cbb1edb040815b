package charts

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	echarts "github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// page is a frontend that keeps what it is given.
type page struct {
	mu       sync.Mutex
	messages []message
}

type message struct {
	kind string
	data Bundle
	id   string
}

func (p *page) Publish(kind string, content map[string]any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := message{kind: kind}
	m.data, _ = content["data"].(Bundle)
	if t, ok := content["transient"].(map[string]any); ok {
		m.id, _ = t["display_id"].(string)
	}
	p.messages = append(p.messages, m)
	return nil
}

// count says how many messages have a text in their HTML.
func (p *page) count(text string) int {
	n := 0
	for _, m := range p.messages {
		if s, _ := m.data["text/html"].(string); strings.Contains(s, text) {
			n++
		}
	}
	return n
}

func newPage(t *testing.T) *page {
	p := &page{}
	SetFrontend(p)
	t.Cleanup(func() {
		SetFrontend(nil)
		cell.mu.Lock()
		cell.loaded, cell.loader = false, ""
		cell.mu.Unlock()
	})
	return p
}

func testLine() *echarts.Line {
	l := echarts.NewLine()
	l.SetGlobalOptions(echarts.WithTitleOpts(opts.Title{Title: `</script><b>"x"</b>`}))
	l.SetXAxis([]string{"a", "b"}).AddSeries("s", []opts.LineData{{Value: 1}, {Value: 2}})
	return l
}

const testSVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 1"><rect width="2" height="1"/></svg>`

func TestContextIsTheCells(t *testing.T) {
	if err := Context().Err(); err != nil {
		t.Fatalf("outside a cell: %v", err)
	}
	BeginCell("a")
	ctx := Context()
	if ctx.Err() != nil {
		t.Fatal("cancelled before the interrupt")
	}
	Interrupt()
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error("an interrupt does not cancel the context")
	}
	EndCell()
	BeginCell("b")
	ctx = Context()
	if ctx.Err() != nil {
		t.Error("an interrupt reaches the next cell")
	}
	EndCell()
	if ctx.Err() == nil {
		t.Error("the context outlives its cell")
	}
	Interrupt() // nobody's
	if Context().Err() != nil {
		t.Error("an interrupt between cells cancels something")
	}
}

func TestProgressOutsideNotebook(t *testing.T) {
	Progress("nobody looks")(1, 2) // must not panic or print
}

func TestProgressIsThrottledAndEnds(t *testing.T) {
	p := newPage(t)
	report := Progress("run <1>")
	for end := time.Now().Add(progressAfter + 5*progressEvery); time.Now().Before(end); {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { report(10, 4000) })
		}
		wg.Wait()
	}
	report(4000, 4000)
	report(4000, 4000)
	if n := len(p.messages); n < 3 || n > 8 {
		t.Errorf("%d messages for one bar", n)
	}
	last := p.messages[len(p.messages)-1]
	if got := last.data["text/plain"]; got != "" {
		t.Errorf("finished bar says %q", got)
	}
	if last.kind != "update_display_data" || last.id == "" || last.id != p.messages[0].id {
		t.Errorf("the bar was not updated in place: %+v", last)
	}
	if h := p.messages[0].data["text/html"].(string); !strings.Contains(h, "run &lt;1&gt;") {
		t.Errorf("title not escaped: %s", h)
	}
}

func TestQuickWorkHasNoBar(t *testing.T) {
	p := newPage(t)
	report := Progress("quick")
	report(1, 2)
	report(2, 2)
	if len(p.messages) != 0 {
		t.Errorf("a bar for what was done at once: %+v", p.messages)
	}
}

// A cell that is interrupted, or fails, leaves no bar that says how long it will
// still take. A goroutine that outlives its cell goes on with its own.
func TestBarEndsWithItsCell(t *testing.T) {
	p := newPage(t)
	BeginCell("run")
	report, finished := Progress("run"), Progress("over")
	reports := func(f func(done, total int), until int) {
		for ; len(p.messages) < until; time.Sleep(time.Millisecond) {
			f(1, 4)
		}
	}
	reports(report, 1)
	reports(finished, 2)
	finished(4, 4)
	id, n := p.messages[0].id, len(p.messages)
	EndCell()
	if len(p.messages) != n+1 {
		t.Fatalf("the end of the cell: %+v", p.messages[n:])
	}
	if last := p.messages[n]; last.kind != "update_display_data" || last.id != id || last.data["text/plain"] != "" || last.data["text/html"] != "" {
		t.Errorf("the end of the cell: %+v", last)
	}
	BeginCell("another")
	reports(report, n+2)
	EndCell()
	BeginCell("a third")
	EndCell()
	after := p.messages[n+1:]
	if len(after) != 2 || after[0].id != id || after[0].data["text/plain"] == "" || after[1].id != id || after[1].data["text/plain"] != "" {
		t.Errorf("a goroutine that outlives its cell: %+v", after)
	}
}

func TestProgressEstimate(t *testing.T) {
	got := progressBundle("run", 1, 4, 2*time.Second)["text/plain"]
	if want := "run: 1 of 4, 2s, 6s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	got = progressBundle("run", 500_000, 2_000_000, 2*time.Second)["text/plain"]
	if want := "run: 25 %, 2s, 6s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestChartIsTheSameTwice(t *testing.T) {
	a, b := New("c", testLine(), testSVG), New("c", testLine(), testSVG)
	if a.HTML() != b.HTML() {
		t.Error("two equal charts differ: notebooks would, too")
	}
	if first, second := a.HTML(), a.HTML(); first != second || a.Option() != b.Option() {
		t.Error("a chart shown twice differs")
	}
}

func TestChartForms(t *testing.T) {
	c := New(`a "title"`, testLine(), testSVG)
	b := c.SimpleRender()
	if b["image/svg+xml"] != testSVG || b["text/plain"] != `a "title"` {
		t.Errorf("forms: %v", b)
	}
	h := c.HTML()
	if !strings.Contains(h, `<img alt="a &#34;title&#34;"`) {
		t.Errorf("no static picture in the HTML: %s", h)
	}
	if n := strings.Count(h, "</script>"); HasLibrary() && n != 1 {
		t.Errorf("%d ends of the script: a string of the chart closes it", n)
	}
	static := New("s", nil, testSVG).HTML()
	if strings.Contains(static, "script") || !strings.Contains(static, "<img") {
		t.Errorf("static chart: %s", static)
	}
	if o := c.Option(); !strings.HasPrefix(o, "{") || !strings.HasSuffix(o, "}") {
		t.Errorf("option: %s", o)
	}
}

func TestLibraryComesOnce(t *testing.T) {
	if !HasLibrary() {
		t.Skip("this build has no echarts: run go run ./dashboard/charts/fetch")
	}
	const loader = "DecompressionStream"
	p := newPage(t)
	show := func(code string) {
		BeginCell(code)
		New("c", testLine(), testSVG).Show()
		EndCell()
	}
	show("1")
	show("2")
	if n := p.count(loader); n != 1 {
		t.Errorf("%d loaders for two charts", n)
	}
	show("1") // its old output, library included, is gone
	if n := p.count(loader); n != 2 {
		t.Errorf("the cell that had the library ran again: %d loaders", n)
	}
	BeginCell("3")
	id := Display(Bundle{"text/plain": "x"})
	Update(id, New("c", testLine(), testSVG).SimpleRender())
	EndCell()
	if n := p.count(loader); n != 2 {
		t.Errorf("an update brought the library again: %d loaders", n)
	}
	for _, m := range p.messages {
		if s, _ := m.data["text/html"].(string); strings.Contains(s, loader) && m.id != "" {
			t.Error("the library sits in an output that updates replace")
		}
	}
}

func TestWithoutTheLibrary(t *testing.T) {
	defer func(b []byte) { library = b }(library)
	library = nil
	p := newPage(t)
	c := New("c", testLine(), testSVG)
	c.Show()
	if h := c.HTML(); strings.Contains(h, "<script") || !strings.Contains(h, "<img") {
		t.Errorf("chart without echarts: %s", h)
	}
	if len(p.messages) != 1 || Loader() != "" {
		t.Errorf("a loader without library: %d messages", len(p.messages))
	}
	if h := New("lonely", testLine(), "").HTML(); !strings.Contains(h, "lonely") {
		t.Errorf("a chart that cannot be shown does not say so: %s", h)
	}
	if _, err := Library(); err == nil || !strings.Contains(err.Error(), "charts/fetch") {
		t.Errorf("the error does not say what to do: %v", err)
	}
}
