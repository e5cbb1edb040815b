package points

import "testing"

func TestAmountsOfMemory(t *testing.T) {
	for text, want := range map[string]int64{"300MB": 300e6, "1.5 GB": 1.5e9, "2tb": 2e12, "17": 17, "4KB": 4000} {
		if got, ok := parseBytes(text); !ok || got != want {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
}
