package tpcc

import (
	"strings"
	"testing"

	"drtmx/engine/protocol/nowait"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/protocol/rococo"
	"drtmx/engine/protocol/twopl"
	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/workloadtest"
)

// TestMixInPieces: all five transactions, reordered: the conditions hold, and the history has an order.
func TestMixInPieces(t *testing.T) {
	commits := workloadtest.Effort(uint64(2_500), 1_200)
	if testing.Short() {
		commits = 400
	}
	for shape := range 3 {
		for _, newOrderOnly := range []bool{false, true} {
			o := tiny()
			o.NewOrderOnly = newOrderOnly
			b, _ := workloadtest.Open(t, shape, rococo.Default(), New, o)
			if bad := b.Stress(commits); len(bad) > 0 {
				t.Fatalf("shape %d, new-order alone %v: %s", shape, newOrderOnly, strings.Join(bad, "\n"))
			}
			t.Logf("%d attempts, %d commits by type %v, %d rollbacks", b.Attempts, b.Commits, b.ByType, b.Rollbacks)
			for typ, n := range b.ByType[:len(b.ByType)-1] {
				if n == 0 {
					t.Errorf("no %s", types[typ].Name)
				}
			}
			b.Close()
		}
	}
}

// inPieces is the company whose new-orders and payments are in pieces under any protocol.
type inPieces struct{ *Bench }

type piecedClient struct{ *runner }

func (w inPieces) Runner(c *r2.Co) workload.Runner { return piecedClient{w.Bench.Runner(c).(*runner)} }

// Next is that of the runner, with other bodies.
func (r piecedClient) Next() error {
	rand := r.client.Co().Rand()
	typ := int(rand.Uint64n(4))
	if typ != newOrder && typ != payment || r.left > 0 {
		return r.runner.Next()
	}
	r.w = r.homes[rand.Uint64n(uint64(len(r.homes)))]
	r.d = r.w*r.b.districts + rand.Uint64n(r.b.districts)
	r.draws[typ](rand)
	body := r.piecedNewOrder
	if typ == payment {
		body = r.payPieced
	}
	return workload.Done(r.client.Run(uint8(typ), false, body))
}

func (r piecedClient) payPieced(tx *txn.Tx) error {
	c, err := r.findCustomer(tx)
	if err != nil {
		return err
	}
	return r.piecedPayment(tx, c)
}

// TestPiecesUnderOthers: the books are right too where protocols that know nothing of pieces run them, beside transactions
// that are not in pieces.
func TestPiecesUnderOthers(t *testing.T) {
	commits := workloadtest.Effort(uint64(1_200), 600)
	if testing.Short() {
		commits = 300
	}
	drtmh, _ := occ.Preset("drtm+h")
	fasst, _ := occ.Preset("fasst")
	dated := fasst
	dated.Timestamps = timestamp.Options{Scheme: "dst", DriftNS: 20_000, VersionBytes: 16 << 20, GCNS: 200_000}
	never, queues := nowait.Default(), twopl.Default()
	never.BackoffMaxNS, queues.BackoffMaxNS, queues.TimeoutNS = 1_000_000, 2_000_000, 200_000
	for i, cfg := range []txn.Config{drtmh, fasst, dated, never, queues, rococo.Default()} {
		b, _ := workloadtest.Open(t, i, cfg, func(o Options) (inPieces, error) {
			w, err := New(o)
			return inPieces{w}, err
		}, tiny())
		if bad := b.Stress(commits); len(bad) > 0 {
			t.Errorf("%T %d: %s", cfg, i, strings.Join(bad, "\n"))
		}
		if b.ByType[newOrder] == 0 || b.ByType[payment] == 0 || b.ByType[delivery] == 0 {
			t.Errorf("%T %d: commits by type %v", cfg, i, b.ByType)
		}
		b.Close()
	}
}
