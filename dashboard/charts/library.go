package charts

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strings"
)

// The chart library is not in the repository: "go run ./dashboard/charts/fetch"
// (make does it) takes it from npm into this folder. A build without it works
// and draws static pictures.
//
//go:embed assets
var assets embed.FS

const libraryFile = "assets/echarts.min.js.gz"

// library is the compressed source, empty when the build lacks it.
var library = func() []byte {
	b, err := assets.ReadFile(libraryFile)
	if err != nil {
		return nil
	}
	return b
}()

// HasLibrary reports whether this build carries echarts. Without it all charts
// are static, and pages should say so.
func HasLibrary() bool { return len(library) > 0 }

// LibraryGzip returns echarts compressed by gzip, for a server of pages; nil
// when the build lacks it.
func LibraryGzip() []byte { return library }

// Library returns the source of echarts.
func Library() ([]byte, error) {
	if !HasLibrary() {
		return nil, fmt.Errorf("echarts: not in this build; run go run ./dashboard/charts/fetch and build again")
	}
	z, err := gzip.NewReader(bytes.NewReader(library))
	if err != nil {
		return nil, fmt.Errorf("echarts: %w", err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("echarts: %w", err)
	}
	return b, nil
}

// Loader returns HTML that brings echarts into a page without network, and
// draws the charts that wait for it. The library travels compressed: 450 kB
// instead of 1 MB in every saved notebook. Its module loader is hidden from
// it, because notebook pages have require.js, with which echarts would
// register instead of defining itself.
func Loader() string {
	if !HasLibrary() {
		return ""
	}
	return `<script>(function(){var d=window.drtmxEcharts=window.drtmxEcharts||{q:[]};if(d.lib||d.coming)return;d.coming=1;` +
		`var s=atob("` + base64.StdEncoding.EncodeToString(library) + `"),a=new Uint8Array(s.length);` +
		`for(var i=0;i<s.length;i++)a[i]=s.charCodeAt(i);` +
		`new Response(new Blob([a]).stream().pipeThrough(new DecompressionStream("gzip"))).text().then(function(t){` +
		`new Function("exports","module","define",t).call(window);` +
		`d.lib=window.echarts;var q=d.q;d.q=[];q.forEach(function(f){f(d.lib)})})})()</script>`
}

// libraryOff keeps the library out of notebooks, for notebooks that are
// committed: they show the static pictures until a cell is run.
var libraryOff = os.Getenv("DRTMX_ECHARTS") == "off"

// BringLibrary shows the chart library below the running cell if the bundle
// has a chart that needs it and the notebook does not have it yet. Display and
// Update do it by themselves; the kernel does it for the value of a cell. The
// library is an output of its own, so that an update of a chart does not
// replace it.
func BringLibrary(b Bundle) {
	text, _ := b["text/html"].(string)
	if libraryOff || !HasLibrary() || !strings.Contains(text, "drtmxEcharts") {
		return
	}
	cell.mu.Lock()
	f, needed := cell.front, !cell.loaded
	if needed {
		cell.loaded, cell.loader = true, cell.code
	}
	cell.mu.Unlock()
	if f != nil && needed {
		_ = f.Publish("display_data", map[string]any{
			"data":     Bundle{"text/html": Loader(), "text/plain": ""},
			"metadata": map[string]any{}, "transient": map[string]any{},
		})
	}
}
