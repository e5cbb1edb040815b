package versions

import (
	"testing"

	"drtmx/engine/timestamp"
)

// Old versions are kept while a snapshot may need them, and no longer than the system runs. Rows with old versions in them have these too.
func TestFootprint(t *testing.T) {
	w := Written{Servers: 2, Rows: 1000, Old: 32_000, PerSecond: 1e6, Seconds: 0.01}
	of := func(o timestamp.Options) (rows, kept int64) {
		rows, kept = Footprint(&o, w)
		return rows, kept - 2*guardBytes
	}
	for _, x := range []struct {
		o          timestamp.Options
		rows, kept int64
	}{
		{timestamp.Options{}, 24_000, 0},
		{timestamp.Options{StalenessNS: 500_000, DriftNS: 50_000, GCNS: 200_000}, 24_000, 1000 * (versionBytes + 32)},
		{timestamp.Options{StalenessNS: 1e9, Inline: 2}, 24_000 + 2*32_000 + 8_000, 10_000 * (versionBytes + 32)},
	} {
		if rows, kept := of(x.o); rows != x.rows || kept != x.kept {
			t.Errorf("%+v: %d and %d bytes, want %d and %d", x.o, rows, kept, x.rows, x.kept)
		}
	}
}
