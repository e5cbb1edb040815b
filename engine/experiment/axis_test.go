package experiment

import (
	"strings"
	"testing"
)

func TestBadAxes(t *testing.T) {
	for _, tt := range []struct{ over, want string }{
		{"coroutine=1,2", "did you mean coroutines?"},
		{"coroutines", "must be KNOB=VALUE"},
		{"coroutines=1,x", "coroutines = x: must be a whole number"},
		{"coroutines=1,,2", "whole number"},
	} {
		if _, err := ParseAxis(tt.over); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.over, err)
		}
	}
}
