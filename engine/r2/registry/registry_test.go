package registry

import (
	"fmt"
	"testing"

	"drtmx/engine/r2/datagram"
)

// Ids are given in order while there are some, each name once.
func TestTable(t *testing.T) {
	said := func(f func()) (text any) {
		defer func() { text = recover() }()
		f()
		return nil
	}
	var table Table[string, int]
	for i := range datagram.RPCs {
		if id := table.Handle(fmt.Sprint("rpc ", i), fmt.Sprint("handler ", i)); int(id) != i {
			t.Errorf("rpc %d has id %d", i, id)
		}
		if i == 1 {
			if got := said(func() { table.Handle("rpc 0", "") }); got != "r2: rpc rpc 0 twice" {
				t.Error(got)
			}
			if r := Of(&table, 2); r.Name != "" || r.Serve != "" {
				t.Errorf("%+v has no handler", r)
			}
		}
	}
	if got := said(func() { table.Handle("one more", "") }); got != fmt.Sprintf("r2: no id left for rpc one more: there are %d", datagram.RPCs) {
		t.Error(got)
	}
	if r := Of(&table, 9); r.Name != "rpc 9" || r.Serve != "handler 9" {
		t.Errorf("%+v", r)
	}
}
