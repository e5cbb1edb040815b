package twopl

import (
	"strings"
	"testing"

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
		{"deadlock", func(c *Config) { c.Deadlock = 7 }, "deadlock 7: use timeout or wait-die"},
		{"isolation", func(c *Config) { c.Isolation = 7 }, "isolation 7: use serializable or read-committed"},
		{"timeout", func(c *Config) { c.TimeoutNS = MaxTimeoutNS + 1 }, "timeout of 200000001 ns"},
		{"host", func(c *Config) { c.HostScale = -1 }, "host scale of -1 thousandths"},
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

// TestNeedsDrain: only a change of what is done about deadlocks, or of isolation, does.
func TestNeedsDrain(t *testing.T) {
	from := Default()
	to := from
	to.TimeoutNS, to.ReadNS = 5, 7
	if NeedsDrain(from, to) {
		t.Error("costs need a drain")
	}
	if to.Deadlock = WaitDie; !NeedsDrain(from, to) {
		t.Error("another rule of deadlocks needs none")
	}
	to = from
	if to.Isolation = ReadCommitted; !NeedsDrain(from, to) {
		t.Error("another isolation needs none")
	}
}

// TestPassive: commits are passive where readers wait for them.
func TestPassive(t *testing.T) {
	c := Default()
	c.Opt[txn.Commit].Passive = true
	if !c.mode(txn.Commit).Passive {
		t.Error("commits are not passive")
	}
	if c.Isolation = ReadCommitted; c.mode(txn.Commit).Passive {
		t.Error("commits are passive though reads take no locks")
	}
}
