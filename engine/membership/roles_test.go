package membership

import (
	"fmt"
	"slices"
	"testing"
)

// A table knows the machines of each role, and what to call each machine.
func TestTable(t *testing.T) {
	table := New(2, Server).Add(1, Server|Memory).Add(2, Client).Add(1, Oracle).Add(1, Configuration)
	for _, x := range []struct {
		role Role
		want []int
	}{
		{Primary, []int{0, 1, 2}}, {Backup, []int{0, 1, 2}}, {Memory, []int{2}}, {Client, []int{3, 4}}, {Oracle, []int{5}}, {Configuration, []int{6}},
	} {
		first, ok := table.First(x.role)
		if got := table.Of(x.role); !slices.Equal(got, x.want) || !ok || first != x.want[0] {
			t.Errorf("machines %v have role %v, the first is %d, want %v", got, x.role, first, x.want)
		}
	}
	var words []Role
	for m := range table.Machines() {
		words = append(words, table.Roles(m))
	}
	if got := fmt.Sprint(words, New(1, Symmetric).Roles(0), table.Servers()); got != "[server server memory client client oracle configuration] symmetric 3" {
		t.Errorf("machines are %s", got)
	}
	if m, ok := New(3, Symmetric).First(Oracle); ok {
		t.Errorf("machine %d of 3 symmetric ones is an oracle", m)
	}
}

// Keys are dealt to machines 0 to Servers-1, so no other machine may stand between those.
func TestServersFirst(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a client stands before a server")
		}
	}()
	New(1, Client).Add(1, Server)
}
