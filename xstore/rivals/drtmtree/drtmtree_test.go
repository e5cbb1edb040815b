package drtmtree

import (
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/xstore/kvtest"
)

func mk(cl *r2.Cluster, s store.KVSpec) (store.KV, error) { return New(cl, s) }

func TestMap(t *testing.T) { kvtest.Map(t, mk, false) }

func TestLinearizablePerKey(t *testing.T) {
	for seed := uint64(1); seed <= 4; seed++ {
		for _, h := range []kvtest.History{{Keys: 6, Operations: 60, Bytes: 8}, {Keys: 5, Operations: 60, Bytes: 70}, {Keys: 4, Operations: 150, Bytes: 8, Wide: 200}} {
			if w := h.Linear(t, mk, seed); w != "" {
				t.Error(w)
			}
		}
	}
}
