package gallery

import (
	"context"
	"drtmx/dashboard/charts/browsertest"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// reader is a browser that can resolve no name, and what it asked for and complained of.
type reader struct {
	*testing.T
	ctx context.Context
	mu  sync.Mutex
	// asked are the addresses that it asked for, and what it wrote on its console.
	asked, said []string
}

func newReader(t *testing.T) *reader {
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(browsertest.Find(t)), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	r := &reader{T: t, ctx: ctx}
	console, requests := chromedp.Console(ctx), chromedp.Events(ctx, network.RequestWillBeSent)
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatalf("chromium does not start: %v", err)
	}
	go func() {
		for m, err := range console {
			if err != nil {
				return
			}
			r.note(&r.said, fmt.Sprintf("%s: %s", m.Type, m.Text))
		}
	}()
	go func() {
		for e, err := range requests {
			if err != nil {
				return
			}
			r.note(&r.asked, e.Request.URL)
		}
	}()
	return r
}

func (r *reader) note(list *[]string, text string) {
	r.mu.Lock()
	*list = append(*list, text)
	r.mu.Unlock()
}

func (r *reader) look(steps ...chromedp.Action[chromedp.Void]) {
	r.Helper()
	if err := chromedp.Do(r.ctx, steps...); err != nil {
		r.Fatal(err)
	}
}

func (r *reader) media(kind, scheme string) {
	r.Helper()
	p := emulation.SetEmulatedMediaParams{Media: kind, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(r.ctx, emulation.SetEmulatedMedia, p); err != nil {
		r.Fatal(err)
	}
}

// shot keeps a picture: go test -artifacts -outputdir DIR.
func (r *reader) shot(name string) {
	r.Helper()
	shot, err := chromedp.Call(r.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	if err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.ArtifactDir(), name), shot.Data, 0o600); err != nil {
		r.Error(err)
	}
}

func value[T any](r *reader, js string) T {
	r.Helper()
	v, err := chromedp.Run(r.ctx, chromedp.Evaluate[T](js))
	if err != nil {
		r.Fatal(err)
	}
	return v
}

// TestPagesInABrowser: pages fit a phone, a window and paper, ask for nothing but themselves, and can be walked by links alone.
func TestPagesInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	dir, _ := filled(t)
	r := newReader(t)
	names := []string{indexFile, "4-9a.html"}
	for _, id := range fast {
		names = append(names, pageOf(id))
	}
	for _, width := range []int64{1280, 390} {
		r.look(chromedp.EmulateViewport(width, 900))
		for _, name := range names {
			r.media("screen", map[bool]string{true: "dark", false: "light"}[width == 390])
			r.look(chromedp.Navigate("file://" + filepath.Join(dir, name)))
			if w := value[int64](r, `document.documentElement.scrollWidth`); w > width {
				t.Errorf("%s is %d wide on %d", name, w, width)
			}
			if name != indexFile {
				if n := value[int](r, `[...document.querySelectorAll(".picture svg")].filter((e) => e.getBoundingClientRect().width > 0).length`); n != 1 {
					t.Errorf("%s shows %d pictures", name, n)
				}
			}
			r.shot(fmt.Sprintf("%d_%s.png", width, strings.TrimSuffix(name, ".html")))
			r.media("print", "dark")
			if dark := value[bool](r, `getComputedStyle(document.body).backgroundColor !== "rgb(255, 255, 255)" || [...document.querySelectorAll("nav")].some((e) => e.getBoundingClientRect().height > 0)`); dark {
				t.Errorf("%s: paper is dark, or has links to press", name)
			}
		}
	}
	r.media("screen", "light")
	r.look(chromedp.Navigate("file://" + filepath.Join(dir, "2-2a.html")))
	// The click comes after the answer: a page that is left gives none.
	if at := value[string](r, `setTimeout(() => document.querySelector("a[rel=next]").click()), document.querySelector("a[rel=next]").href`); !strings.HasSuffix(at, "/2-2b.html") {
		t.Errorf("the next page is %s", at)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		name, err := chromedp.Run(r.ctx, chromedp.Evaluate[string](`document.querySelector("h1")?.textContent.slice(0, 11) ?? ""`))
		if name == "Figure 2-2b" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the link to the next page leads to %q (%v)", name, err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.asked {
		if !strings.HasPrefix(x, "file://"+dir) {
			t.Errorf("asked for %s", x)
		}
	}
	if len(r.asked) != 2*len(names)+2 || len(r.said) > 0 {
		t.Errorf("asked for %d files: %q; the console says %q", len(r.asked), r.asked, r.said)
	}
}
