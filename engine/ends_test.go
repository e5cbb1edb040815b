package engine

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drtmx/engine/experiment"
)

// keysFile is a file in the format of SOSD.
func keysFile(t *testing.T, keys ...uint64) string {
	t.Helper()
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(keys)))
	for _, k := range keys {
		b = binary.LittleEndian.AppendUint64(b, k)
	}
	name := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Keys at both ends of what a word holds, and few of them: every ordered store serves every mix of requests, correctly.
func TestStoresAtTheEndsOfKeys(t *testing.T) {
	const most = math.MaxUint64
	sets := map[string][]uint64{
		"both ends":    {0, 1, 2, 3, 4, 5, 6, most},
		"upper end":    {most - 17, most - 13, most - 7, most - 5, most - 3, most - 2, most - 1, most},
		"lower end":    {0, 1, 2, 4, 8, 16, 17, 20},
		"ends by half": {0, 1, 2, most/2 - 1, most / 2, most/2 + 1, most - 1, most},
	}
	for name, keys := range sets { // order-free: systems of their own
		file := keysFile(t, keys...)
		for i := range experiment.Ordered {
			ordered := &experiment.Ordered[i]
			if ordered.Open == nil || strings.HasPrefix(ordered.Name, "xstore-") { // for indexes alone, or with a planted fault
				continue
			}
			for _, workload := range []string{"ycsb-a", "ycsb-d", "ycsb-e", "ycsb-f", "prod1"} {
				t.Run(fmt.Sprintf("%s/%s/%s", name, ordered.Name, workload), func(t *testing.T) {
					t.Parallel()
					spec := experiment.Spec{Workload: workload, Set: experiment.Knobs{
						"servers": 2, "clients": 1, "replicas": 1, "server.threads": 4, "client.threads": 2, "coroutines": 2, "store.ordered": ordered.Name, "workload.dataset": "sosd:" + file, "workload.keys": len(keys),
						"workload.spare": 1000, "warmup_ns": "5us", "duration_ns": "60us", "check": "full",
					}}
					if _, err := experiment.Resolve(spec); err != nil && ordered.NoScan != "" && strings.Contains(err.Error(), "has no SCAN") {
						t.Skip(err)
					}
					r, err := Run(t.Context(), spec, nil)
					if err != nil {
						t.Fatal(err)
					}
					if r.Checks.Failed() {
						t.Errorf("%v", r.Checks)
					}
				})
			}
		}
	}
}
