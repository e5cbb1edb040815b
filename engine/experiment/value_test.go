package experiment

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"drtmx/engine/knob"
)

func TestValuesAsPeopleTypeThem(t *testing.T) {
	type named int
	tests := []struct {
		knob string
		in   any
		want any
	}{
		{"window_ns", "5us", 5_000},
		{"window_ns", "2ms", 2_000_000},
		{"window_ns", "1.5us", 1_500},
		{"window_ns", "2.3us", 2_300},
		{"window_ns", "5000", 5_000},
		{"window_ns", 5 * time.Microsecond, 5_000},
		{"cache.bytes", "300MB", 300_000_000},
		{"cache.bytes", "64KiB", 65_536},
		{"cache.bytes", "1.5 GB", 1_500_000_000},
		{"workload.accounts", "100k", 100_000},
		{"workload.accounts", "100_000", 100_000},
		{"workload.accounts", 1e5, 100_000},
		{"nodes", uint8(7), 7},
		{"nodes", named(7), 7},
		{"nodes", json.Number("7"), 7},
		{"fault.drop", "1%", 0.01},
		{"fault.drop", 0, 0.0},
		{"fault.drop", float32(0.125), 0.125},
		{"warm", "off", false},
		{"warm", true, true},
		{"phase.commit", "two-sided", "two-sided"},
		{"clients.arrival", "open:2M", "open:2000000"},
		{"clients.arrival", "closed", "closed"},
	}
	for _, tt := range tests {
		got, err := knob.Find(tt.knob).Parse(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("%s = %v (%T): got %v (%T), %v; want %v", tt.knob, tt.in, tt.in, got, got, err, tt.want)
		}
	}
}

func TestValuesThatAreRefused(t *testing.T) {
	for _, tt := range []struct {
		knob string
		in   any
		want string
	}{
		{"nodes", nil, "whole number"},
		{"nodes", []int{4}, "whole number"},
		{"nodes", "0x10", "whole number"},
		{"nodes", "NaN", "whole number"},
		{"nodes", 1e300, "whole number"},
		{"nodes", uint64(1) << 63, "whole number"},
		{"fault.drop", "inf", "number"},
		{"fault.drop", 0.5, "from 0 to 0.2"},
		{"fault.drop", true, "number"},
		{"warm", 1, "warm = 1: must be true or false"},
		{"warm", "", `warm = "": must be true or false`},
		{"warm", "  ", `warm = "  ": must be true or false`},
		{"warm", nil, "warm = null: must be true or false"},
		{"warm", map[string]any{}, "warm = {}: must be true or false"},
		{"warm", []any{1.0, "x"}, `warm = [1,"x"]: must be true or false`},
		{"phase.commit", 2, "one of"},
		{"phase.commit", strings.Repeat("x", 1000), "longer than"},
		{"workload.keys", "99999999999999999999", "whole number"},
		{"cache.bytes", "1e400GB", "size"},
	} {
		got, err := knob.Find(tt.knob).Parse(tt.in)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s = %v: got %v, error %v; want %q", tt.knob, tt.in, got, err, tt.want)
		}
	}
}

func TestFormatReadsBack(t *testing.T) {
	for name, v := range map[string]any{"window_ns": 2_000_000, "duration_ns": 1_500, "cache.bytes": 300_000_000, "nodes": 4, "warmup_ns": 0, "fault.drop": 0.01} {
		back, err := knob.Find(name).Parse(knob.Format(name, v))
		if err != nil || back != v {
			t.Errorf("%s: %v is written %q and read %v (%v)", name, v, knob.Format(name, v), back, err)
		}
	}
}

func TestKnobsSurviveJSON(t *testing.T) {
	v, err := Resolve(Spec{Set: Knobs{"fault.drop": "1%", "cache.bytes": "64MB"}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var back Knobs
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	for name := range v {
		if v[name] != back[name] {
			t.Errorf("%s: %v (%T) became %v (%T)", name, v[name], v[name], back[name], back[name])
		}
	}
}
