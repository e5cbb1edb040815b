package nowait_test

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/kv"
	"drtmx/engine/protocol/nowait"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/replication/redo"
	"drtmx/engine/sim"
	"drtmx/engine/store"
	"drtmx/engine/txn"
)

// A transfer between two accounts on different machines, in both modes. To read an account and then
// write it takes three round trips under shared locks: word, shared lock and value, upgrade.
func Example() {
	for _, mode := range []nowait.Mode{nowait.Exclusive, nowait.Shared} {
		if err := transfer(mode); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// mode E: 2 round trips for locks, 1 to commit
	// mode E/S: 6 round trips for locks, 1 to commit
}

const accounts = 1

func transfer(mode nowait.Mode) error {
	profile, err := profile.Load("val")
	if err != nil {
		return err
	}
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	f, err := fabric.New(s, fabric.Config{Profile: profile, Machines: 3})
	if err != nil {
		return err
	}
	defer f.Close()
	cl, err := r2.New(s, f, r2.Config{Threads: 1})
	if err != nil {
		return err
	}
	cfg := nowait.Default()
	cfg.Mode = mode
	var last txn.Outcome
	db, err := txn.Open(cl, txn.Options{Config: cfg, Store: kv.Kind, Log: replication.Choice{Kind: redo.Kind}, OnDone: func(_, _ int, o *txn.Outcome) { last = *o }})
	if err != nil {
		return err
	}
	if _, err := db.AddTable(store.Spec{ID: accounts, Name: "accounts", ValueBytes: 8, Init: func(_ uint64, v []byte) {
		binary.LittleEndian.PutUint64(v, 100)
	}}, store.Stripes(3, 300)); err != nil {
		return err
	}
	move := func(tx *txn.Tx) error {
		for key, change := range []int64{1: -30, 2: 30} {
			if change == 0 {
				continue
			}
			has, err := tx.GetInt(accounts, uint64(key))
			if err != nil {
				return err
			}
			if err := tx.PutInt(accounts, uint64(key), has+change); err != nil {
				return err
			}
		}
		return nil
	}
	cl.Spawn(0, 0, func(c *r2.Co) {
		client := db.Client(c)
		for range 2 { // the second finds the accounts in the location cache
			if err := client.Run(0, false, move); err != nil {
				fmt.Println(err)
			}
		}
	})
	if err := s.Run(sim.Millisecond); err != nil {
		return err
	}
	fmt.Printf("mode %v: %d round trips for locks, %d to commit\n", mode, last.RoundTrips[txn.Lock], last.RoundTrips[txn.Commit])
	return nil
}
