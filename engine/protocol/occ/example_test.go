package occ_test

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/kv"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/replication/redo"
	"drtmx/engine/sim"
	"drtmx/engine/store"
	"drtmx/engine/txn"
)

// A transfer between two accounts on different machines.
func Example() {
	profile, err := profile.Load("val")
	if err != nil {
		panic(err)
	}
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	f, err := fabric.New(s, fabric.Config{Profile: profile, Machines: 3})
	if err != nil {
		panic(err)
	}
	defer f.Close()
	cl, err := r2.New(s, f, r2.Config{Threads: 1})
	if err != nil {
		panic(err)
	}
	cfg, _ := occ.Preset("drtm+h")
	db, err := txn.Open(cl, txn.Options{Config: cfg, Store: kv.Kind, Log: replication.Choice{Kind: redo.Kind}, OnDone: func(_, _ int, o *txn.Outcome) {
		fmt.Printf("committed %v after %d attempt, %d round trip for the locks\n", o.Committed, o.Attempts, o.RoundTrips[txn.Lock])
	}})
	if err != nil {
		panic(err)
	}
	const accounts = 1
	if _, err := db.AddTable(store.Spec{ID: accounts, Name: "accounts", ValueBytes: 8, Init: func(_ uint64, v []byte) {
		binary.LittleEndian.PutUint64(v, 100)
	}}, store.Stripes(3, 300)); err != nil {
		panic(err)
	}
	cl.Spawn(0, 0, func(c *r2.Co) {
		err := db.Client(c).Run(0, false, func(tx *txn.Tx) error {
			from, err := tx.GetInt(accounts, 1)
			if err != nil {
				return err
			}
			to, err := tx.GetInt(accounts, 2)
			if err != nil {
				return err
			}
			if from < 30 {
				return tx.Rollback()
			}
			if err := tx.PutInt(accounts, 1, from-30); err != nil {
				return err
			}
			return tx.PutInt(accounts, 2, to+30)
		})
		if err != nil {
			fmt.Println(err)
		}
	})
	if err := s.Run(sim.Millisecond); err != nil {
		panic(err)
	}
	row := make([]byte, 24)
	for key := uint64(1); key <= 2; key++ {
		db.Row(accounts, key, row)
		fmt.Printf("account %d has %d\n", key, binary.LittleEndian.Uint64(row[16:]))
	}
	fmt.Println("replicas equal:", db.CheckReplicas())
	// Output:
	// committed true after 1 attempt, 1 round trip for the locks
	// account 1 has 70
	// account 2 has 130
	// replicas equal: true
}
