package twopl

import (
	"encoding/binary"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/txn/txntest"
	"drtmx/engine/wire"
)

// opened is a configuration that tells its protocol.
type opened struct {
	Config
	p **protocol
}

func (o opened) Open(db *txn.DB) (txn.Protocol, error) {
	p, err := o.Config.Open(db)
	if err == nil {
		*o.p = p.(*protocol)
	}
	return p, err
}

// A read without a lock meets a write of another thread at every moment of it: it has the version before or the one behind, and the
// value of that one, or it has to look again.
func TestReadWithoutLockMeetsWrites(t *testing.T) {
	const bytes, rounds = 488, 3000
	var p *protocol
	cfg := Default()
	cfg.Isolation, cfg.Replicas = ReadCommitted, 1
	spec := store.Spec{ID: 1, Name: "t", ValueBytes: bytes, Aligned: true, Fixed: true, Init: func(uint64, []byte) {}}
	reads, again, ended := 0, 0, false
	txntest.Run(t, r2.Config{Threads: 2, Coroutines: 1}, txn.Options{Config: opened{cfg, &p}}, spec, store.Stripes(txntest.Machines, 30), func(c *r2.Co, cl *txn.Client) {
		table, server := cl.DB().TableOf(1), p.tables[0]
		loc, ok, err := table.Store.LookupLocal(c, 0)
		if !ok || err != nil {
			t.Fatalf("key 0: %v, %v", ok, err)
		}
		c.Cluster().Spawn(0, 1, func(c *r2.Co) {
			rep := make([]byte, 1024)
			for !ended {
				c.Compute(int(c.Rand().Uint64n(300)))
				n, ok := server.readUnlocked(c, &item{table: table, key: 0}, rep)
				if reads++; !ok {
					again++
					continue
				}
				seq, value := wire.Get64(rep[lockBack:]), rep[n-bytes:n]
				for k := 0; k < bytes; k += 8 {
					if x := wire.Get64(value[k:]); x != seq && (x != 0 || seq != record.InitialSeq) {
						t.Errorf("version %d has the value of %d", seq, x)
						ended = true
						return
					}
				}
			}
		})
		value := make([]byte, bytes)
		for i := uint64(1); i <= rounds && !ended; i++ {
			seq := record.InitialSeq + 2*i
			for k := 0; k < bytes; k += 8 {
				binary.LittleEndian.PutUint64(value[k:], seq)
			}
			server.write(c, nil, placement{table, 0, loc.Ref}, value, seq)
			c.Compute(int(c.Rand().Uint64n(6000)))
		}
		ended = true
	})
	if t.Logf("%d reads, %d looked again", reads, again); again < 1000 || reads-again < 1000 {
		t.Error("hardly a read met a write, or none did not: nothing was put to the test")
	}
}
