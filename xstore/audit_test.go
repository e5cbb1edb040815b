package xstore

import (
	"strings"
	"testing"

	"drtmx/engine/r2"
	"drtmx/xstore/model"
	"drtmx/xstore/published"
)

// A sub-model or a table that has changed is looked at with its leaves, which nobody has touched; models that are as at the
// start are not.
func TestAuditFindsChangedModels(t *testing.T) {
	const (
		m      = 40
		header = 8 // of a line of a table
	)
	for _, c := range []struct {
		name  string
		spoil func(v *published.Version, sub, line []byte)
		want  string
	}{
		{"nothing", func(*published.Version, []byte, []byte) {}, ""},
		{"an incarnation", func(_ *published.Version, _, line []byte) { line[header+2] ^= 1 }, "sub-model 40 expects incarnation"},
		{"a generation", func(_ *published.Version, _, line []byte) { line[0] ^= 1 }, "sub-model 40 has generation 0"},
		{"a leaf", func(_ *published.Version, _, line []byte) { line[header+5] ^= 1 }, "sub-model 40 predicts entries"},
		{"an error", func(_ *published.Version, sub, _ []byte) { sub[8], sub[9] = 0, 0 }, "sub-model 40 predicts entries"},
	} {
		b := newBed(t, 1, 1, 1, 1)
		b.open(100_000, 8, Options{SubModels: 500, Trainers: 1})
		p := b.x.parts[0]
		v, mem := p.current, b.cl.Mem(0)
		c.spoil(v, mem.Bytes(v.SubLoc(m).Addr, model.SubBytes), mem.Bytes(v.TableLoc(m).Addr, 64))
		var found []string
		b.x.Audit(func(text string) { found = append(found, text) })
		if all := strings.Join(found, "\n"); (c.want == "") != (all == "") || !strings.Contains(all, c.want) {
			t.Errorf("%s is wrong: %.300s", c.name, all)
		}
		if leaf := uint32(20_000 / 8); mem.Touched(p.tree.LeafAddr(leaf), 1) {
			t.Errorf("%s: the audit has touched leaves", c.name)
		}
		b.close()
	}
}

// After a crash a client's cache holds what it began with, and says so.
func TestCrashedCacheHolds(t *testing.T) {
	for _, mode := range []Mode{Full, Tree} {
		b := newBed(t, 1, 1, 1, 2)
		b.open(mixture.keys, 8, Options{SubModels: 12, Slots: 8, Cache: mode, Trainers: 2, Speculative: true})
		held := func() int {
			if mode == Tree {
				return b.x.index.walks[0][1].held
			}
			return b.x.index.caches[0][1].bytes(Full)
		}
		b.run(b.spawn(1, 0, func(c *r2.Co) { b.x.Client(c).Get(10, make([]byte, 8)) }))
		first := held()
		p := mixture
		p.ops = 800
		b.play(p)
		b.settle()
		grown := held()
		if b.x.Crashed(1); grown == first || held() != first {
			t.Errorf("%v: %d at the start, %d later, %d after the crash", mode, first, grown, held())
		}
		b.close()
	}
}
