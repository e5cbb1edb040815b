package experiment

import (
	"strings"
	"testing"
)

// ts.readers is of vectors with stable timestamps, and of nothing else.
func TestReadersAreOfVectors(t *testing.T) {
	for want, set := range map[string]Knobs{
		"ts.readers = true: under ts.scheme=gts no transaction has dependencies; set ts.readers=false, or ts.scheme=vts":                       {"ts.scheme": "gts", "oracle": true},
		"ts.readers = true: under ts.scheme=dst no transaction has dependencies; set ts.readers=false, or ts.scheme=vts":                       {"ts.scheme": "dst"},
		"ts.readers = true: under ts.scheme=none no transaction has dependencies; set ts.readers=false, or ts.scheme=vts":                      {},
		"with ts.stable=false an attempt has to know all that it depends on before it has its number; set ts.stable=true, or ts.readers=false": {"ts.scheme": "vts", "oracle": true, "ts.stable": false},
		"": {"ts.scheme": "vts", "oracle": true},
	} {
		set["ts.readers"] = true
		_, err := Resolve(Spec{Preset: "fasst", Set: set})
		if want == "" && err != nil || want != "" && (err == nil || !IsSpecError(err) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v: %v, want %q", set, err, want)
		}
	}
}
