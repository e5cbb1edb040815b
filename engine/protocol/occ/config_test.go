package occ

import (
	"strings"
	"testing"

	"drtmx/engine/txn"
)

// Table 4-3: I is one-sided, II two-sided.
func TestPresetsThesis(t *testing.T) {
	for name, want := range map[string]string{
		// E, lock+validate, L, C, read-only R, V
		"farm":   "one-sided two-sided+one-sided one-sided two-sided one-sided one-sided",
		"drtm+r": "one-sided one-sided+one-sided one-sided one-sided one-sided one-sided",
		"fasst":  "two-sided two-sided+two-sided two-sided two-sided two-sided two-sided",
		"drtm+h": "hybrid one-sided+one-sided one-sided one-sided hybrid one-sided",
	} {
		c, ok := Preset(name)
		if !ok {
			t.Fatalf("no preset %s", name)
		}
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		c = c.Resolved()
		got := strings.Join([]string{c.Execution.String(), c.Lock.String() + "+" + c.Validation.String(), c.Logging.String(), c.Commit.String(), c.RORead.String(), c.ROValidation.String()}, " ")
		if got != want {
			t.Errorf("%s is %s, Table 4-3 says %s", name, got, want)
		}
		if pa := c.Posts(txn.Commit, c.Commit).Passive; pa != (name == "drtm+h") {
			t.Errorf("%s: passive commit %v", name, pa)
		}
	}
	if _, ok := Preset("spanner"); ok {
		t.Error("preset spanner exists")
	}
}

func TestValidate(t *testing.T) {
	h, _ := Preset("drtm+h")
	for _, c := range []struct {
		change func(*Config)
		want   string // part of the error, empty: legal
	}{
		{func(*Config) {}, ""},
		{func(c *Config) { c.Commit = TwoSided }, ""},
		{func(c *Config) { c.Lock = TwoSided }, ""},
		{func(c *Config) { c.Lock, c.Commit = TwoSided, OneSided }, ""},
		{func(c *Config) { c.Lock, c.Commit = OneSided, TwoSided }, "not atomic"},
		{func(c *Config) { c.Lock = Hybrid }, "phase.lock hybrid"},
		{func(c *Config) { c.Logging = Hybrid }, "phase.logging hybrid"},
		{func(c *Config) { c.Replicas = -1 }, "replicas -1"},
		{func(c *Config) { c.Replicas = 9 }, "replicas 9"},
		{func(c *Config) { c.CacheBytes = 1 }, "cache.bytes 1"},
		{func(c *Config) { c.BackoffMaxNS = 1 }, "back-off"},
		{func(c *Config) { c.MaxAttempts = -1 }, "max attempts"},
	} {
		cfg := h
		c.change(&cfg)
		err := cfg.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: error %v, want %q", cfg, err, c.want)
		}
	}
}

func TestResolved(t *testing.T) {
	c := Config{Settings: txn.Settings{CacheEnabled: true}}.Resolved()
	if c.Execution != Hybrid || c.Lock != OneSided || c.Commit != OneSided || c.Logging != OneSided {
		t.Errorf("all automatic: %+v", c)
	}
	if c = (Config{}).Resolved(); c.Execution != TwoSided || c.RORead != TwoSided {
		t.Errorf("without cache: execution %s", c.Execution)
	}
	if c = (Config{LocalPercent: 90}).Resolved(); c.Lock != TwoSided || c.Commit != TwoSided {
		t.Errorf("mostly local: lock %s, commit %s", c.Lock, c.Commit)
	}
	if c = (Config{Overloaded: true}).Resolved(); c.Execution != OneSided || c.RORead != OneSided {
		t.Errorf("without cache, overloaded: execution %s", c.Execution)
	}
	if c = (Config{Overloaded: true, Settings: txn.Settings{CacheEnabled: true}}).Resolved(); c.Execution != Hybrid {
		t.Errorf("with cache, overloaded: execution %s", c.Execution)
	}
	if c = (Config{LocalPercent: 90, Primitives: Primitives{Lock: OneSided}}).Resolved(); c.Lock != OneSided || c.Commit != OneSided {
		t.Errorf("lock one-sided by hand: lock %s, commit %s", c.Lock, c.Commit)
	}
	c, why := Config{Primitives: Primitives{Lock: TwoSided}}.Decide()
	for _, p := range Phases {
		if said := why[p.ID] != ""; said != (p.ID != txn.Lock) || *p.Field(&c.Primitives) == Auto {
			t.Errorf("%s is %s because %q", p.Knob(), *p.Field(&c.Primitives), why[p.ID])
		}
	}
	c = Config{Settings: txn.Settings{CacheEnabled: true}, Primitives: Primitives{NoRDMA: true}}
	if r := c.Resolved(); r.Execution != TwoSided || r.Lock != TwoSided || r.ROValidation != TwoSided || c.Validate() != nil {
		t.Errorf("without RDMA: %+v, %v", r, c.Validate())
	}
	if c.Logging = OneSided; c.Validate() == nil {
		t.Error("one-sided logging without RDMA is accepted")
	}
	one, two := Config{Primitives: Primitives{Lock: OneSided}}, Config{Primitives: Primitives{Lock: TwoSided}}
	if !NeedsDrain(one, two) || NeedsDrain(two, two) || NeedsDrain(Config{}, one) {
		t.Error("NeedsDrain is about who locks")
	}
}
