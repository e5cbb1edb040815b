package nowait

import (
	"strings"
	"testing"

	"drtmx/engine/knob"
	"drtmx/engine/txn"
)

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   string // part of the error, "" for none
	}{
		{"default", func(*Config) {}, ""},
		{"zero", func(c *Config) { *c = Config{} }, ""},
		{"two-sided", func(c *Config) { c.Lock, c.Commit = TwoSided, TwoSided }, ""},
		{"lock follows commit", func(c *Config) { c.Commit = TwoSided }, ""},
		{"mixed", func(c *Config) { c.Lock, c.Commit = OneSided, TwoSided }, "not atomic with each other"},
		{"mixed otherwise", func(c *Config) { c.Lock, c.Commit = TwoSided, OneSided }, "phase.lock two-sided with phase.commit one-sided"},
		{"no RDMA", func(c *Config) { c.NoRDMA = true }, ""},
		{"no RDMA, one-sided", func(c *Config) { c.NoRDMA, c.Logging = true, OneSided }, "phase.logging one-sided: the NICs have no RDMA"},
		{"primitive", func(c *Config) { c.Lock = 9 }, "phase.lock 9"},
		{"mode", func(c *Config) { c.Mode = 7 }, "mode 7: use E or E/S"},
		{"replicas", func(c *Config) { c.Replicas = 99 }, "replicas 99"},
	} {
		cfg := Default()
		c.change(&cfg)
		err := cfg.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestResolved(t *testing.T) {
	for _, c := range []struct {
		name                  string
		cfg                   Config
		lock, logging, commit Prim
	}{
		{"all auto", Config{}, OneSided, OneSided, OneSided},
		{"no RDMA", Config{Primitives: Primitives{NoRDMA: true}}, TwoSided, TwoSided, TwoSided},
		{"lock given", Config{Primitives: Primitives{Lock: TwoSided}}, TwoSided, OneSided, TwoSided},
		{"commit given", Config{Primitives: Primitives{Commit: TwoSided}}, TwoSided, OneSided, TwoSided},
		{"logging given", Config{Primitives: Primitives{Logging: TwoSided}}, OneSided, TwoSided, OneSided},
	} {
		if r := c.cfg.Resolved(); r.Lock != c.lock || r.Logging != c.logging || r.Commit != c.commit {
			t.Errorf("%s: lock %v, logging %v, commit %v", c.name, r.Lock, r.Logging, r.Commit)
		}
	}
}

// TestNeedsDrain: only a change of who performs atomics does.
func TestNeedsDrain(t *testing.T) {
	one, two := Config{Primitives: Primitives{Lock: OneSided}}, Config{Primitives: Primitives{Commit: TwoSided}}
	shared, logging := Config{Mode: Shared}, Config{Primitives: Primitives{Logging: TwoSided}}
	for _, c := range []struct {
		from, to Config
		want     bool
	}{
		{Config{}, one, false}, {one, two, true}, {two, one, true}, {one, shared, false}, {one, logging, false},
		{Config{}, Config{Primitives: Primitives{NoRDMA: true}}, true},
	} {
		if got := NeedsDrain(c.from, c.to); got != c.want {
			t.Errorf("from lock %v mode %v to lock %v mode %v: drain %v", c.from.Lock, c.from.Mode, c.to.Lock, c.to.Mode, got)
		}
	}
}

func TestNames(t *testing.T) {
	for m := Exclusive; m <= Shared; m++ {
		if got := Mode((knob.Values{"nowait.mode": m.String()}).Number("nowait.mode", modeNames[:])); got != m {
			t.Errorf("%v is read as %v", m, got)
		}
	}
}

// another is the configuration of another protocol.
type another struct{ Config }

// TestOtherProtocol: a database keeps its protocol.
func TestOtherProtocol(t *testing.T) {
	onClient(t, Default(), small, func(cl *txn.Client) {
		if err := cl.DB().SetConfig(another{}); err == nil || !strings.Contains(err.Error(), "reset to change the protocol") {
			t.Errorf("error %v", err)
		}
		c := Default()
		c.Replicas = 2
		if err := cl.DB().SetConfig(c); err == nil || !strings.Contains(err.Error(), "reset to change it") {
			t.Errorf("error %v", err)
		}
	})
}
