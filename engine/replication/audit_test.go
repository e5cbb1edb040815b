package replication_test

import (
	"strings"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/kv"
	"drtmx/engine/membership"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/sim"
	"drtmx/engine/store"
)

// A copy that has another value, or another stamp, than its primary is named; a lock in the primary's row is not a copy's matter.
func TestAudit(t *testing.T) {
	const servers, key = 3, 4
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	f, err := fabric.New(s, fabric.Config{Machines: servers})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cl, err := r2.New(s, f, r2.Config{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	table, err := kv.Kind.Make(cl, store.Spec{ID: 1, Name: "copied", ValueBytes: 16, Fixed: true}, record.LockSeq, store.Placement{Partition: store.Stripes(servers, 9), Replicas: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		machine, at int // of a row; -1: none is changed
		want        string
	}{
		{-1, 0, ""},
		{1, 0, ""},
		{2, record.LockSeq.Stamp, "key 4 of table copied has stamp 2 on machine 1, 3 on its backup 2"},
		{2, record.LockSeq.Bytes + 15, "key 4 of table copied has stamp 2 on machine 1, 2 on its backup 2"},
	} {
		row := func(m int) []byte {
			a, ok := table.(store.Placed).RowAddr(m, key)
			if !ok {
				t.Fatalf("machine %d has no copy", m)
			}
			return cl.Mem(m).Bytes(a, table.RowBytes())
		}
		if x.machine >= 0 {
			row(x.machine)[x.at] ^= 1
		}
		copies, found := replication.CopiesOf(replication.Options{Members: membership.New(servers, membership.Server), Replicas: 2}), []string{}
		copies.Audit(replication.Row{Store: table, Name: "copied", Key: key, Machine: 1, Bytes: row(1)}, func(text string) { found = append(found, text) })
		if got := strings.Join(found, "; "); got != x.want {
			t.Errorf("byte %d of machine %d: %q, want %q", x.at, x.machine, got, x.want)
		}
		if x.machine >= 0 {
			row(x.machine)[x.at] ^= 1
		}
	}
}
