package charts

import (
	"strings"
	"testing"
)

// A slider calls its function with the value of the step, and says so where it cannot.
func TestSlider(t *testing.T) {
	s := NewSlider("n < 5", []int{10, 200}, func(v int) *Chart { return New(strings.Repeat("x", v), nil, "<svg/>") })
	b := s.SimpleRender()
	if h := b["text/html"].(string); !strings.Contains(h, "n &lt; 5") || !strings.Contains(h, "s=[10,200]") || !strings.Contains(h, `max="1"`) {
		t.Error(h)
	}
	if c := Slide(s.id, 1); len(c.String()) != 200 {
		t.Errorf("%v", Slide(s.id, 1))
	}
	for want, got := range map[string]*Chart{"has no step 2": Slide(s.id, 2), "has no step -1": Slide(s.id, -1), "run its cell again": Slide(s.id+1, 0)} {
		if b := got.SimpleRender(); b["image/svg+xml"] != nil || !strings.Contains(b["text/plain"].(string), want) {
			t.Errorf("%v, want %s", got, want)
		}
	}
}
