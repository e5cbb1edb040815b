package example

import (
	"context"
	"strings"
	"testing"

	"drtmx/engine"
	"drtmx/engine/example/sorted"
	"drtmx/engine/experiment"
	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/result"
	"drtmx/engine/store"
	"drtmx/xstore"
)

// planted is the sorted array with clients that are wrong about one request in some hundred, in the way that its knob says.
var planted = store.KVKind{
	Name: "planted",
	Doc:  "the same with faults",
	Rows: func() []knob.Row {
		return []knob.Row{{Knob: knob.Knob{Name: "planted.fault", Kind: knob.Choice, Default: "none", Choices: faults, Label: "Planted fault", Group: knob.Store, Live: true,
			Doc: "What is wrong with some answers."}}}
	},
	Rules: sorted.Kind.Rules,
	Open: func(cl *r2.Cluster, s store.KVSpec, v knob.Values) (store.KV, error) {
		kv, err := sorted.Open(cl, s)
		return &liar{KV: kv, spec: s, fault: v.Text("planted.fault"), last: map[uint64][]byte{}}, err
	},
	Set: func(kv store.KV, v knob.Values) error {
		kv.(*liar).fault = v.Text("planted.fault")
		return nil
	},
	Footprint: sorted.Kind.Footprint,
}

var faults = []string{"none", "lost", "stale", "torn", "another", "future", "skip", "twice", "short", "refused", "unwritten", "doubled"}

// liar is a store whose clients are wrong at times.
type liar struct {
	*sorted.KV
	spec  store.KVSpec
	fault string
	n     int
	last  map[uint64][]byte // values that updates have replaced
}

func (l *liar) lies() bool {
	l.n++
	return l.n%100 == 0
}

func (l *liar) Client(c *r2.Co) store.KVClient { return &lyingClient{l.KV.Client(c), l} }

type lyingClient struct {
	store.KVClient
	l *liar
}

func (x *lyingClient) Get(key uint64, value []byte) (bool, error) {
	ok, err := x.KVClient.Get(key, value)
	if old := x.l.last[key]; x.l.fault == "stale" && old != nil {
		copy(value, old)
		return ok, err
	}
	if !x.l.lies() {
		return ok, err
	}
	switch x.l.fault {
	case "lost":
		ok = false
	case "torn":
		x.l.spec.Value(key, value[:8])
		value[len(value)-1]++
	case "another":
		x.l.spec.Value(key+64, value)
	case "future":
		value[3]++ // of the writer's count
	}
	return ok, err
}

func (x *lyingClient) Update(key uint64, value []byte) (bool, error) {
	old := make([]byte, len(value))
	if ok, err := x.KVClient.Get(key, old); !ok || err != nil {
		return ok, err
	}
	if x.l.fault == "unwritten" && x.l.lies() {
		return true, nil
	}
	ok, err := x.KVClient.Update(key, value)
	x.l.last[key] = old
	return ok, err
}

func (x *lyingClient) Insert(key uint64, value []byte) (bool, error) {
	switch x.l.fault {
	case "refused":
		return false, nil
	case "doubled":
		key++ // and the key itself is lost
	}
	return x.KVClient.Insert(key, value)
}

func (x *lyingClient) Scan(key uint64, n int, dst []store.Pair) ([]store.Pair, error) {
	dst, err := x.KVClient.Scan(key, n, dst)
	if len(dst) > 2 {
		switch x.l.fault {
		case "skip":
			dst = append(dst[:1], dst[2:]...)
		case "twice":
			dst[1] = dst[0]
		case "short":
			dst = dst[:len(dst)-1]
		}
	}
	return dst, err
}

// blind is XStore with a fault in keys of different lengths: those that share a byte, as a hash, are taken for each other.
var blind = func() store.KVKind {
	k := xstore.Kind
	k.Name, k.Doc = "blind", "XStore that does not compare keys"
	k.Open = func(cl *r2.Cluster, s store.KVSpec, v knob.Values) (store.KV, error) {
		if real := s.Real; real != nil {
			s.Real = &store.RealKeys{Most: 1, Append: func(dst []byte, number uint64) []byte {
				sum := byte(0)
				for _, b := range real.Append(nil, number) {
					sum = 31*sum + b
				}
				return append(dst, sum)
			}}
		}
		return xstore.Kind.Open(cl, s, v)
	}
	return k
}()

// A store that takes keys for each other is found out: it answers with another key's value, or refuses to insert a key. One with
// keys of 8 bytes alone is refused.
func TestKeysThatAreNotCompared(t *testing.T) {
	for _, w := range []string{"ycsb-a", "ycsb-c", "ycsb-d"} {
		for _, name := range []string{"xstore", "blind"} {
			k := experiment.Knobs{"store.ordered": name, "workload": w, "workload.key_bytes": 40, "xstore.hash_bits": 8, "xstore.trainers": 1}
			if r := requests(t, k); r.Checks.Passed() != (name == "xstore") || name == "blind" && w != "ycsb-d" && !strings.Contains(r.ChecksText(), "another key's") {
				t.Errorf("%s on %s: %s", w, name, r.ChecksText())
			}
		}
	}
	_, err := experiment.Resolve(experiment.Spec{Workload: "ycsb-c", Set: experiment.Knobs{"store.ordered": "sorted", "workload.key_bytes": 40}})
	if err == nil || !strings.Contains(err.Error(), "store.ordered = sorted: its keys have 8 bytes, and those of the workload have different lengths, up to 40; use") {
		t.Error(err)
	}
}

func requests(t *testing.T, set experiment.Knobs) *result.Result {
	t.Helper()
	spec, err := experiment.Spec{Set: experiment.Knobs{"store.ordered": "sorted", "servers": 1, "clients": 2, "threads": 2, "client.threads": 3, "coroutines": 4,
		"warmup_ns": "50us", "duration_ns": "500us", "workload.keys": 500, "workload.spare": 10_000}}.With(set)
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.Run(context.Background(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every workload of requests runs on the plugged store, with clients of their own and on the servers, and is the same again.
func TestRequestsOnThePluggedStore(t *testing.T) {
	for _, w := range []string{"ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f", "prod1", "prod2"} {
		k := experiment.Knobs{"workload": w}
		switch w {
		case "ycsb-b":
			k["workload.distribution"], k["workload.dataset"] = "zipfian", "osm"
		case "ycsb-c":
			k["workload.distribution"], k["servers"], k["clients"], k["nodes"] = "scrambled", 0, 0, 3
		case "ycsb-d":
			k["workload.distribution"], k["servers"] = "latest", 2
		case "ycsb-e":
			k["workload.dataset"], k["servers"], k["clients"], k["nodes"] = "noised", 0, 0, 3
		}
		r := requests(t, k)
		if r.Commits < 100 || !r.Checks.Passed() || len(r.Checks.Invariants) < 3 {
			t.Errorf("%s: %d commits, %s, %v", w, r.Commits, r.ChecksText(), r.Checks.Invariants)
		}
		if again := requests(t, k); again.Digest != r.Digest {
			t.Errorf("%s: digest %s, then %s", w, r.Digest, again.Digest)
		}
		k["check"] = "off"
		if off := requests(t, k); off.Commits != r.Commits {
			t.Errorf("%s: %d commits with checks, %d without", w, r.Commits, off.Commits)
		}
	}
}

// Each planted fault is found by the workload's own checks, and without any the store that could have them passes.
func TestPlantedFaultsAreFound(t *testing.T) {
	for _, f := range faults {
		k := experiment.Knobs{"store.ordered": "planted", "planted.fault": f, "workload": "ycsb-a", "workload.keys": 100, "workload.value_bytes": 16}
		switch f {
		case "skip", "twice", "short":
			k["workload"] = "ycsb-e"
		case "refused", "doubled":
			k["workload"], k["workload.distribution"] = "ycsb-d", "latest"
		}
		r := requests(t, k)
		if r.Checks.Passed() != (f == "none") {
			t.Errorf("fault %s: %s", f, r.ChecksText())
		}
	}
}

// A store without scans is refused where there are some, with the reason.
func TestStoreWithoutScans(t *testing.T) {
	for i := range experiment.Ordered {
		if k := &experiment.Ordered[i]; k.Name == "planted" {
			k.NoScan = "nobody asked for it"
			defer func() { k.NoScan = "" }()
		}
	}
	for w, refused := range map[string]bool{"ycsb-e": true, "ycsb-c": false, "prod1": true} {
		_, err := experiment.Resolve(experiment.Spec{Workload: w, Set: experiment.Knobs{"store.ordered": "planted", "workload.keys": 1000}})
		if got := err != nil && strings.Contains(err.Error(), "it has no SCAN: nobody asked for it"); got != refused {
			t.Errorf("%s: %v", w, err)
		}
	}
}
