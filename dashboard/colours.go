package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"drtmx/dashboard/charts/palette"
)

// coloursCSS are the page's colours as variables: --phase-lock, --sys-a, and the sign of
// each system, --sign-a; on a dark ground those that suit it.
func coloursCSS(w http.ResponseWriter, _ *http.Request) {
	var light, dark strings.Builder
	set := func(name, colour string) {
		fmt.Fprintf(&light, " --%s: %s;", name, colour)
		if d, ok := palette.OnDark[colour]; ok {
			fmt.Fprintf(&dark, " --%s: %s;", name, d)
		}
	}
	for _, kind := range []struct {
		prefix string
		of     *palette.Table
	}{{"phase-", palette.Phases}, {"sys-", palette.Systems}, {"design-", palette.Designs}, {"milestone-", palette.Milestones}} {
		for _, name := range kind.of.Names() {
			l, _ := kind.of.Of(name)
			set(kind.prefix+strings.NewReplacer("_", "-", "+", "").Replace(name), l.Colour)
		}
	}
	for _, name := range palette.Systems.Names() {
		l, _ := palette.Systems.Of(name)
		fmt.Fprintf(&light, " --sign-%s: %q;", name, l.Marker.Sign())
	}
	set("hot", palette.Hot)
	set("thesis", palette.Thesis)
	set("dark-ink", palette.DarkInk)
	set("light-ink", palette.LightInk)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	fmt.Fprintf(w, ":root {%s }\n@media screen and (prefers-color-scheme: dark) { :root {%s } }\n", light.String(), dark.String())
}

// coloursJS are those that scripts need: what takes a colour's place on a dark ground,
// the scale of utilisation, and the inks.
func coloursJS(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	for _, x := range []struct {
		name  string
		value any
	}{{"onDark", palette.OnDark}, {"utilisation", palette.Utilisation}, {"darkInk", palette.DarkInk}, {"lightInk", palette.LightInk}} {
		b, err := json.Marshal(x.value)
		if err != nil {
			http.Error(w, "page: "+err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, "export const %s = %s;\n", x.name, b)
	}
}
