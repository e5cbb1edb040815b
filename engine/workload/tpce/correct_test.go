package tpce

import (
	"strings"
	"testing"

	"drtmx/engine/protocol/occ"
	"drtmx/engine/workload/workloadtest"
)

// tiny is a house with few customers and securities, so that transactions meet.
func tiny() Options {
	return Options{Customers: 4, Securities: 20, Trades: 30, Orders: 4_000, SetRollbacks: true, Rollbacks: 30}
}

// TestMix: all ten transactions under contention, with torn reads and lost
// datagrams, are strictly serialisable and consistent under every preset.
func TestMix(t *testing.T) {
	commits := uint64(2_000)
	if testing.Short() {
		commits = 400
	}
	for i, preset := range occ.PresetNames() {
		t.Run(preset, func(t *testing.T) {
			cfg, _ := occ.Preset(preset)
			b, _ := workloadtest.Open(t, i, cfg, New, tiny())
			if bad := b.Stress(commits); len(bad) > 0 {
				t.Fatal(strings.Join(bad, "\n"))
			}
			t.Logf("%d attempts, %d commits by type %v, %d rollbacks", b.Attempts, b.Commits, b.ByType, b.Rollbacks)
			for typ, n := range b.ByType[:numTypes] {
				if n == 0 {
					t.Errorf("no %s", types[typ].Name)
				}
			}
			if b.Attempts == b.Commits+b.Rollbacks {
				t.Error("no attempt was aborted")
			}
		})
	}
}

// writers is a mix of the transactions that change something.
var writers = map[string]int{
	"customer-position": 10, "trade-order": 30, "trade-result": 40, "security-detail": 0, "trade-lookup": 0,
	"trade-status": 0, "broker-volume": 2, "market-feed": 10, "market-watch": 0, "trade-update": 5,
}

func setMix(t *testing.T, b *Bench, weights map[string]int) {
	t.Helper()
	for _, x := range types {
		if err := b.Set("mix."+x.Name, weights[x.Name]); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWriters: mostly those, which open and close holdings of either sign and
// release limit orders.
func TestWriters(t *testing.T) {
	commits := uint64(4_000)
	if testing.Short() {
		commits = 500
	}
	for i, preset := range occ.PresetNames() {
		t.Run(preset, func(t *testing.T) {
			cfg, _ := occ.Preset(preset)
			cfg.Speculative = i%2 == 0
			b, house := workloadtest.Open(t, 0, cfg, New, tiny())
			setMix(t, house, writers)
			if bad := b.Stress(commits); len(bad) > 0 {
				t.Fatal(strings.Join(bad, "\n"))
			}
			var short, long, closed int
			house.db.EachTouched(Holding, func(key uint64) {
				value := make([]byte, holdingBytes)
				house.db.Value(Holding, key, value)
				switch q := i32(value[hQuantity:]); {
				case q < 0:
					short++
				case q > 0:
					long++
				default:
					closed++
				}
			})
			t.Logf("%d attempts, %d commits by type %v; holdings %d long, %d short, %d closed", b.Attempts, b.Commits, b.ByType, long, short, closed)
			if short == 0 || long == 0 || closed == 0 {
				t.Error("one kind of holdings did not occur")
			}
		})
	}
}

// TestPositionOnly is the workload of figure 4-6.
func TestPositionOnly(t *testing.T) {
	cfg, _ := occ.Preset("drtm+h")
	o := tiny()
	o.PositionOnly = true
	b, _ := workloadtest.Open(t, 0, cfg, New, o)
	if bad := b.Stress(300); len(bad) > 0 {
		t.Fatal(strings.Join(bad, "\n"))
	}
	if b.ByType[customerPosition] != b.Commits || b.Attempts != b.Commits+b.Rollbacks {
		t.Errorf("%d commits, %d of customer-position, %d attempts", b.Commits, b.ByType[customerPosition], b.Attempts)
	}
}

// Clients of several machines without data order for customers of the same ones, and none gives a trade a number of another's.
func TestClientsApart(t *testing.T) {
	cfg, _ := occ.Preset("drtm+h")
	bench, err := New(tiny())
	if err != nil {
		t.Fatal(err)
	}
	s := workloadtest.Small(cfg)
	s.Machines, s.Servers = 6, 3
	b := workloadtest.New(t, s, bench)
	setMix(t, bench, writers)
	if bad := b.Stress(1_000); len(bad) > 0 {
		t.Fatal(strings.Join(bad, "\n"))
	}
	owner, orders := map[uint64]int{}, 0
	for m := range 6 {
		for home, x := range *bench.exchange.Of(m) {
			if x.step == 0 {
				continue // it has no clients
			}
			for n := bench.accounts*bench.initial + uint64(m-s.Servers); n < x.next; n += x.step {
				key := uint64(home)*bench.trades + n
				if other, taken := owner[key]; taken {
					t.Fatalf("machines %d and %d have both numbered a trade %d", other, m, key)
				}
				owner[key] = m
				orders++
			}
		}
	}
	if uint64(orders) < b.ByType[tradeOrder] || b.ByType[tradeResult] == 0 || b.ByType[marketFeed] == 0 {
		t.Errorf("%d trades have numbers, commits by type are %v", orders, b.ByType)
	}
}
