package experiment

import "testing"

// Only hosts whose snapshots READ rows have old versions in them.
func TestInlineVersionsAreOfTheirHost(t *testing.T) {
	of := func(cc string, inline int) int64 {
		e, err := EstimateOf(Spec{Workload: "smallbank", Set: Knobs{"cc": cc, "preset": "fasst", "ts.scheme": "dst", "ts.inline": inline}})
		if err != nil {
			t.Fatal(err)
		}
		return e.MaxMemoryBytes
	}
	if of("occ", 3) <= of("occ", 0) || of("2pl", 3) != of("2pl", 0) {
		t.Errorf("with three old versions in a row %d and %d bytes, without %d and %d", of("occ", 3), of("2pl", 3), of("occ", 0), of("2pl", 0))
	}
}

// The header of rows is the protocol's: no-wait's has one word, the optimistic protocol's two.
func TestHeadersAreTheProtocols(t *testing.T) {
	bytes, rows := map[string]int64{}, int64(0)
	for _, cc := range []string{"occ", "nowait"} {
		v, err := Resolve(Spec{Workload: "smallbank", Set: Knobs{"cc": cc, "preset": "fasst"}})
		if err != nil {
			t.Fatal(err)
		}
		bytes[cc], rows = EstimateOfValues(v).MaxMemoryBytes, Workloads.Of(v).Footprint(v).Rows*int64(v.Int("replicas"))
	}
	if n := bytes["occ"] - bytes["nowait"]; n != 8*rows {
		t.Errorf("%d bytes more in %d rows", n, rows)
	}
}
