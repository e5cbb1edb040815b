package workload_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"drtmx/engine/kv/ordered"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/workloadtest"
)

// twins are pairs of records on two servers, each with its entry in an index there. They come and go together, so a
// snapshot that scans both indexes and reads what they name has to find both of a pair or none.
type twins struct {
	*workload.Transactions
	pairs  uint64
	db     *txn.DB
	index  store.OrderedTable
	reads  int
	broken []string
}

const twin = 1 // the table

func newTwins(t testing.TB, pairs uint64) *twins {
	x, err := workload.NewTransactions([]workload.Type{{Name: "flip", Weight: 70}, {Name: "look", Weight: 30, ReadOnly: true}})
	if err != nil {
		t.Fatal(err)
	}
	return &twins{Transactions: x, pairs: pairs}
}

func (w *twins) Name() string                     { return "twins" }
func (w *twins) DB() *txn.DB                      { return w.db }
func (w *twins) Warm(workload.Between) error      { return nil }
func (w *twins) Set(name string, value any) error { return workload.UnknownParameter(w.Name(), name) }
func (w *twins) Runner(c *r2.Co) workload.Runner  { return &twinsRunner{w: w, client: w.db.Client(c)} }
func (w *twins) Check() []workload.Invariant {
	inv := workload.Invariant{Name: "twins", OK: len(w.broken) == 0, Rule: "a snapshot finds both of a pair or none"}
	if !inv.OK {
		inv.Text = w.broken[0]
	}
	return []workload.Invariant{inv}
}

func (w *twins) Open(env workload.Env) (err error) {
	if w.db, err = env.OpenDB(txn.Costs{}); err != nil {
		return err
	}
	p := store.Growing{All: store.Stripes(env.ServerCount(), 2*w.pairs), Initial: func(int) (from, n uint64) { return 0, 0 }}
	if _, err = w.db.AddTable(store.Spec{ID: twin, Name: "twin", ValueBytes: 16, Spare: 1 << 14}, p); err != nil {
		return err
	}
	x, err := env.OpenIndexes(w.db)
	if err != nil {
		return err
	}
	w.index, err = x.Add(store.IndexSpec{ID: 1, Name: "twins", Servers: env.ServerCount(), Parts: 2, Bits: []int{32}})
	return err
}

type twinsRunner struct {
	w      *twins
	client *txn.Client
	pair   uint64
	r      store.Range
	found  [2][]uint64
	broken string
}

func (r *twinsRunner) Next() error {
	rand := r.client.Co().Rand()
	typ := r.w.Pick(rand)
	r.pair = rand.Uint64n(r.w.pairs)
	r.r = store.Range{From: r.pair, To: r.pair + rand.Uint64n(r.w.pairs), Limit: 1000, Down: rand.Uint64n(2) == 0}
	body := r.flip
	if typ == 1 {
		body = r.look
	}
	r.broken = ""
	err := r.client.Run(uint8(typ), typ == 1, body)
	if err == nil && typ == 1 {
		r.w.reads++
	}
	if err == nil && r.broken != "" {
		r.w.broken = append(r.w.broken, r.broken)
	}
	return workload.Done(err)
}

// flip makes a pair, or takes it away.
func (r *twinsRunner) flip(tx *txn.Tx) error {
	var there [2]bool
	for part := range uint64(2) {
		_, err := tx.Read(twin, 2*r.pair+part)
		if err != nil && !errors.Is(err, txn.ErrNotFound) {
			return err
		}
		there[part] = err == nil
	}
	r.broken = ""
	if there[0] != there[1] {
		r.broken = fmt.Sprintf("half of pair %d", r.pair)
	}
	for part := range uint64(2) {
		if there[part] {
			if err := tx.Delete(twin, 2*r.pair+part); err != nil {
				return err
			}
			tx.DropEntry(r.w.index, part, r.pair)
			continue
		}
		if _, err := tx.Insert(twin, 2*r.pair+part); err != nil {
			return err
		}
		tx.AddEntry(r.w.index, part, r.pair, 2*r.pair+part)
	}
	return nil
}

// look scans both parts and reads what they name.
func (r *twinsRunner) look(tx *txn.Tx) error {
	for part := range uint64(2) {
		r.r.Part = part
		list, err := tx.Scan(r.w.index, r.r)
		if err != nil {
			return err
		}
		found := r.found[part][:0]
		for _, e := range list {
			_, err := tx.Read(twin, e.Value)
			switch {
			case err == nil:
				found = append(found, e.Key)
			case !errors.Is(err, txn.ErrNotFound):
				return err
			}
		}
		r.found[part] = found
	}
	r.broken = ""
	if !slices.Equal(r.found[0], r.found[1]) {
		r.broken = fmt.Sprintf("pairs %v and %v", r.found[0], r.found[1])
	}
	return nil
}

// stamped is a configuration under a scheme.
func stamped(scheme string, staleness, drift int64) occ.Config {
	cfg, _ := occ.Preset("fasst")
	cfg.Settings.Timestamps = timestamp.Options{Scheme: scheme, StalenessNS: staleness, DriftNS: drift, VersionBytes: 8 << 20, GCNS: 50_000}
	return cfg
}

func runTwins(t *testing.T, cfg txn.Config, seed uint64, indexes func(*r2.Cluster) store.Indexes, commits uint64) (*twins, []string) {
	t.Helper()
	w := newTwins(t, 60)
	s := workloadtest.Small(cfg)
	s.Seed, s.Indexes = seed, indexes
	b := workloadtest.New(t, s, w)
	defer b.Close()
	return w, b.Stress(commits)
}

// TestTwins: what a snapshot finds by indexes is of one moment, while leaves split and go and entries come and go.
func TestTwins(t *testing.T) {
	for _, staleness := range []int64{0, 200_000} {
		for _, drift := range []int64{0, 20_000, 1_000_000} {
			w, bad := runTwins(t, stamped("dst", staleness, drift), 1+uint64(staleness+drift), nil, 3000)
			if len(bad) > 0 || w.reads < 300 {
				t.Errorf("staleness %d, drift %d: %d snapshots, %v", staleness, drift, w.reads, bad)
			}
		}
	}
}

// flawed are indexes with something missing.
type flawed struct {
	store.DatedIndexes
	table   func(store.Dated) store.OrderedTable
	collect bool
}

func (x flawed) Add(s store.IndexSpec) (store.OrderedTable, error) {
	t, err := x.DatedIndexes.Add(s)
	if err != nil || x.table == nil {
		return t, err
	}
	return x.table(t.(store.Dated)), nil
}

func (x flawed) Collect(c *r2.Co, visible func(uint64) bool) {
	if x.collect {
		visible = func(uint64) bool { return true }
	}
	x.DatedIndexes.Collect(c, visible)
}

// unclaimed scans without raising guards, unguarded does not tell them, forgetting takes entries out at once.
type (
	unclaimed  struct{ store.Dated }
	unguarded  struct{ store.Dated }
	forgetting struct{ store.Dated }
)

func (x unclaimed) ScanAt(c *r2.Co, at store.Claim, r store.Range, dst []store.Entry) ([]store.Entry, error) {
	at.Raise = false
	return x.Dated.ScanAt(c, at, r, dst)
}

func (x unguarded) Enter(c *r2.Co, part, key, value uint64) (uint64, error) {
	_, err := x.Dated.Enter(c, part, key, value)
	return 0, err
}

func (x forgetting) Retire(c *r2.Co, part, key, _ uint64) error { return x.Delete(c, part, key) }

// TestFlawedIndexes: what dated indexes do for snapshots is needed, and its absence is found.
func TestFlawedIndexes(t *testing.T) {
	for name, x := range map[string]flawed{
		"a scan raises no guard":                  {table: func(d store.Dated) store.OrderedTable { return unclaimed{d} }},
		"an entry is added without the guard":     {table: func(d store.Dated) store.OrderedTable { return unguarded{d} }},
		"an entry goes when its record does":      {table: func(d store.Dated) store.OrderedTable { return forgetting{d} }},
		"entries are collected while they matter": {collect: true},
	} {
		found := ""
		for seed := uint64(1); seed <= 5 && found == ""; seed++ {
			_, bad := runTwins(t, stamped("dst", 200_000, 20_000), seed, func(cl *r2.Cluster) store.Indexes {
				y := x
				y.DatedIndexes = ordered.NewService(cl)
				return y
			}, 3000)
			if len(bad) > 0 {
				found = bad[0]
			}
		}
		if found == "" {
			t.Errorf("%s: not found", name)
		}
		t.Logf("%s: %s", name, found)
	}
}
