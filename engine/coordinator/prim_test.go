package coordinator

import (
	"strings"
	"testing"

	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/txn"
)

// Table 4-1, row by row: OR, txn.DB and PA for I and II.
func TestAllowedThesis(t *testing.T) {
	for _, row := range []struct {
		phases  []metrics.Phase
		or, db  [2]bool
		passive [2]bool
	}{
		{[]metrics.Phase{txn.Execution, txn.RORead}, [2]bool{false, false}, [2]bool{false, true}, [2]bool{}},
		{[]metrics.Phase{txn.Lock, Validation}, [2]bool{true, true}, [2]bool{true, true}, [2]bool{}},
		{[]metrics.Phase{replication.Logging, ROValidation}, [2]bool{true, true}, [2]bool{false, true}, [2]bool{}},
		{[]metrics.Phase{txn.Commit}, [2]bool{true, true}, [2]bool{true, true}, [2]bool{true, true}},
	} {
		for _, p := range row.phases {
			for i, prim := range []Prim{OneSided, TwoSided} {
				want := r2.Mode{Outstanding: row.or[i], Doorbell: row.db[i], Passive: row.passive[i]}
				if got := Allowed(p, prim); got != want {
					t.Errorf("%s %s: %+v, Table 4-1 says %+v", p, prim, got, want)
				}
			}
		}
	}
}

// A phase posts with what is on and makes sense.
func TestPosts(t *testing.T) {
	all := r2.Mode{Outstanding: true, Doorbell: true, Passive: true}
	var c Primitives
	for p := range c.Opt {
		c.Opt[p] = all
	}
	for _, x := range []struct {
		phase metrics.Phase
		prim  Prim
		want  r2.Mode
	}{
		{txn.Lock, OneSided, r2.Mode{Outstanding: true, Doorbell: true}},
		{replication.Logging, OneSided, r2.Mode{Outstanding: true}},
		{replication.Logging, TwoSided, r2.Mode{Outstanding: true, Doorbell: true}},
		{txn.Commit, TwoSided, all},
		{metrics.Backoff, OneSided, r2.Mode{}},
	} {
		if got := c.Posts(x.phase, x.prim); got != x.want {
			t.Errorf("%v %v posts with %+v, want %+v", x.phase, x.prim, got, x.want)
		}
	}
	off := Primitives{}
	if got := off.Posts(txn.Commit, TwoSided); got != (r2.Mode{}) {
		t.Errorf("with all off: %+v", got)
	}
}

// What is wrong with a phase is said with its name and primitive.
func TestCheck(t *testing.T) {
	for _, x := range []struct {
		c    Primitives
		want string // in the error; "": there is none
	}{
		{Primitives{Lock: OneSided, Logging: TwoSided, Commit: TwoSided}, ""},
		{Primitives{Lock: Hybrid}, "phase.lock hybrid: only execution"},
		{Primitives{Lock: 9}, "phase.lock 9: use one-sided"},
		{Primitives{Lock: TwoSided, Logging: OneSided, Commit: TwoSided, NoRDMA: true}, "phase.logging one-sided: the NICs have no RDMA"},
		{Primitives{Lock: TwoSided, Logging: TwoSided, Commit: TwoSided, Execution: OneSided, NoRDMA: true}, ""}, // it has no such phase
	} {
		err := x.c.Check(LockingPhases)
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%+v: error %v, want %q", x.c, err, x.want)
		}
	}
}

// Words of primitives are read as they are written.
func TestPrimitivesRead(t *testing.T) {
	for _, p := range []Prim{Auto, OneSided, TwoSided, Hybrid} {
		if q, err := ParsePrim(p.String()); err != nil || q != p {
			t.Errorf("%s parses to %s, %v", p, q, err)
		}
	}
	if _, err := ParsePrim("sideways"); err == nil {
		t.Error("sideways is a primitive")
	}
}

// A phase that is auto gets its primitive and a reason, one that was given neither.
func TestChoices(t *testing.T) {
	c, why := Primitives{Commit: TwoSided}, Reasons{}
	why.Choose(txn.Lock, &c.Lock, OneSided, "it is quick")
	why.Choose(txn.Commit, &c.Commit, OneSided, "it is quick")
	list := c.Choices(LockingPhases, &why)
	if len(list) != 3 || list[0] != (txn.Choice{Phase: "lock", Knob: "phase.lock", Primitive: "one-sided", Because: "it is quick"}) {
		t.Errorf("choices %+v", list)
	}
	if list[2] != (txn.Choice{Phase: "commit", Knob: "phase.commit", Primitive: "two-sided"}) {
		t.Errorf("commit is %+v, and was given", list[2])
	}
}
