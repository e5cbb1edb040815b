package experiment

import (
	"strings"
	"testing"
	"time"
)

// A short text must not keep the parser busy.
func TestYAMLBombs(t *testing.T) {
	fill := func(unit string) string { return strings.Repeat(unit, maxSpec/len(unit)) }
	aliases := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'z'; c++ {
		p := string(c - 1)
		aliases += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+p+",", 9), ",") + "]\n"
	}
	for name, text := range map[string]string{
		"aliases": aliases, "lists": fill("["), "maps": fill("{"), "keys": fill("? "), "dashes": fill("- "),
		"anchors": fill("&a "), "quotes": fill("'"), "nested maps": fill("{a: "), "comments": fill("#\n"), "merge": fill("<<: {"),
		"many keys": "set: {" + fill("a: 1, ")[:maxSpec-10], "set keys": "set:\n" + fill("  a: 1\n")[:maxSpec-10], "documents": fill("---\n"),
		"long key": fill("x")[:maxSpec-4] + ": 1", "tags": fill("!!str "), "tabs": fill("\t"), "folded": "name: >\n" + fill(" x\n")[:maxSpec-20],
	} {
		t0 := time.Now()
		_, err := ParseSpec([]byte(text))
		if d := time.Since(t0); d > 30*time.Second { // a bomb takes for ever
			t.Errorf("%s: %v", name, d)
		} else {
			t.Log(name, d, err)
		}
	}
}
