package words

import (
	"strings"
	"testing"
)

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{"a\nb": "a", "  x\ty ": "x y", "\n\nq": "q", strings.Repeat("é", 600): strings.Repeat("é", 497) + "..."} {
		if got := OneLine(in); got != want {
			t.Errorf("oneLine(%.20q) = %.20q", in, got)
		}
	}
}
