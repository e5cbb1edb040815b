package dashboard

import (
	"strings"
	"testing"

	"drtmx/dashboard/charts/palette"
	"drtmx/dashboard/charts/palette/palettetest"
)

// The page's charts, in both forms, have the colours of their phases and systems.
func TestPageDrawsWithThePalette(t *testing.T) {
	h := Handler(changed(t))
	for path, least := range map[string]int{"timeline": 2, "phases": 4, "memory": 1} {
		palettetest.Check(t, path, get(t, h, "/page/"+path+"?format=option&w=800&h=400").Body.String(), least)
		palettetest.Check(t, path+" as a picture", get(t, h, "/page/"+path+"?w=800&h=400").Body.String(), least)
	}
	a, _ := palette.Systems.Of("a")
	if o := get(t, h, "/page/timeline?format=option").Body.String(); !strings.Contains(o, a.Colour) {
		t.Errorf("the line of system a is not %s: %.300s", a.Colour, o)
	}
	lock, _ := palette.Phases.Of("lock")
	if o := get(t, h, "/page/phases?format=option").Body.String(); !strings.Contains(o, lock.Colour) {
		t.Errorf("the phase lock is not %s: %.300s", lock.Colour, o)
	}
}

// The page gets its variables from the same table, for both grounds.
func TestPageIsServedThePalette(t *testing.T) {
	h := Handler(newFake(t))
	css, js := get(t, h, "/colours.css"), get(t, h, "/colours.js")
	for name, w := range map[string]string{"css": css.Header().Get("Content-Type"), "js": js.Header().Get("Content-Type")} {
		if !strings.HasPrefix(w, "text/") {
			t.Errorf("%s has the type %q", name, w)
		}
	}
	palettetest.Check(t, "colours.css", css.Body.String(), 20)
	palettetest.Check(t, "colours.js", js.Body.String(), 20)
	lock, _ := palette.Phases.Of("lock")
	for _, want := range []string{"--phase-lock: " + lock.Colour + ";", "--phase-ro-read: ", "--sys-d: ", `--sign-b: "■";`, "--design-drtmh: ", "prefers-color-scheme: dark"} {
		if !strings.Contains(css.Body.String(), want) {
			t.Errorf("colours.css has no %q", want)
		}
	}
	for dark := range palette.OnDark {
		if !strings.Contains(js.Body.String(), dark) {
			t.Errorf("colours.js has nothing for %s on a dark ground", dark)
		}
	}
}
