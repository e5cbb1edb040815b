package knob

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The knobs of these tests: one of each kind.
var kinds = []Row{
	{Knob: Knob{Name: "on", Kind: Bool, Default: false, Label: "Switch"}},
	{Knob: Knob{Name: "nodes", Kind: Int, Default: 4, Min: 1, Max: 1024, Label: "Machines"}, Alias: "machines"},
	{Knob: Knob{Name: "share", Kind: Float, Default: 0.5, Min: 0.0, Max: 1.0, Label: "Write share"}},
	{Knob: Knob{Name: "phase.lock", Kind: Choice, Default: "one-sided", Choices: []string{"one-sided", "two-sided"}, Label: "Lock"}},
	{Knob: Knob{Name: "phase.commit", Kind: Choice, Default: "one-sided", Choices: []string{"one-sided", "two-sided"}, Label: "Commit"}},
	{Knob: Knob{Name: "window_ns", Kind: Duration, Default: 5000, Min: 1000, Max: 1_000_000_000, Label: "Window"}},
	{Knob: Knob{Name: "cache.bytes", Kind: Bytes, Default: 1_000_000, Min: 0, Max: 1 << 40, Label: "Cache"}},
	{Knob: Knob{Name: "note", Kind: Text, Default: "", Label: "Note"}},
}

func init() { Register(kinds) }

func TestErrorSaysFieldValueRuleAndNextStep(t *testing.T) {
	for _, tt := range []struct {
		knob string
		in   any
		rule string
	}{
		{"on", "perhaps", "must be true or false"},
		{"nodes", "many", "a whole number such as 8 or 100k"},
		{"nodes", 0, "must be from 1 to 1024"},
		{"share", 1.5, "must be from 0 to 1"},
		{"phase.lock", "one-side", "must be one of one-sided, two-sided, did you mean one-sided?"},
		{"window_ns", "5 parsecs", "a duration such as 500ns, 5us or 2ms"},
		{"window_ns", "10ns", "must be from 1us to 1s"},
		{"cache.bytes", "-1", "must be from 0"},
		{"note", 7, "must be text"},
		{"note", strings.Repeat("x", MaxText+1), "longer than"},
	} {
		_, err := Find(tt.knob).Parse(tt.in)
		e := (*Error)(nil)
		if !errors.As(err, &e) {
			t.Errorf("%s = %v: got %v", tt.knob, tt.in, err)
			continue
		}
		if e.Field != tt.knob || e.Value == "" || !strings.Contains(e.Rule, tt.rule) || e.Next == "" || strings.Contains(e.Error(), "\n") || len(e.Value) > 200 {
			t.Errorf("%s = %v: got %q, want the rule %q", tt.knob, tt.in, e, tt.rule)
		}
	}
}

// What is written of a value, in its largest unit, reads back as that value.
func TestFormatReadsBackEveryValue(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		values := Values{
			"on": rapid.Bool().Draw(r, "on"), "nodes": rapid.IntRange(1, 1024).Draw(r, "nodes"), "share": rapid.Float64Range(0, 1).Draw(r, "share"),
			"phase.lock": rapid.SampledFrom([]string{"one-sided", "two-sided"}).Draw(r, "lock"),
			"window_ns":  rapid.IntRange(1000, 1_000_000_000).Draw(r, "window"), "cache.bytes": rapid.IntRange(0, 1<<40).Draw(r, "cache"),
		}
		for name, v := range values { // order-free: each is judged alone
			text := Format(name, v)
			if got, err := Find(name).Parse(text); err != nil || got != v {
				r.Fatalf("%s = %v is written %q and read as %v, %v", name, v, text, got, err)
			}
		}
	})
}

// Any text is a value within the range or a refusal, never a panic.
func TestParseOfAnyText(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		row := &kinds[rapid.IntRange(0, len(kinds)-1).Draw(r, "knob")]
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`-?[0-9_.e+]{1,12}(ns|us|KB|GiB|k|M|%)?`)).Draw(r, "text")
		v, err := row.Parse(text)
		if err != nil {
			return
		}
		if again, err := row.Parse(v); err != nil || again != v {
			r.Fatalf("%s = %q is %v, and that is %v, %v", row.Name, text, v, again, err)
		}
	})
}

func TestNamesThatAreNearlyRight(t *testing.T) {
	for name, want := range map[string]string{
		"node": "nodes", "lock": "phase.lock", "Window_NS": "window_ns", "machine": "nodes", "cach.bytes": "cache.bytes",
	} {
		if got := Like(name); !strings.Contains(got, "did you mean "+want+"?") {
			t.Errorf("%s: got %q, want %s", name, got, want)
		}
	}
	if got := Like("phase"); !strings.Contains(got, "phase.lock") || !strings.Contains(got, "phase.commit") {
		t.Errorf("phase: got %q, want both of its knobs", got)
	}
	if got := Like("xylophone"); got != "" {
		t.Errorf("xylophone: got %q", got)
	}
}

// A list that is made anew takes the place of the old one as a whole, and not at all if that fails.
func TestRebuild(t *testing.T) {
	before, edition := current.Load(), Edition()
	defer current.Store(before)
	row := func(name string) []Row { return []Row{{Knob: Knob{Name: name, Kind: Bool, Default: false}}} }
	if !panics(func() { Rebuild(func() { Register(row("one")); Register(row("one")) }) }) || Find("one") != nil || Find("nodes") == nil || Edition() != edition {
		t.Error("a list that could not be made is there")
	}
	Rebuild(func() {
		Register(row("two"))
		if Find("two") != nil || Find("nodes") == nil {
			t.Error("a list is read before it is made")
		}
	})
	if Find("two") == nil || Find("nodes") != nil || len(Names()) != 1 || Edition() != edition+1 {
		t.Errorf("made anew: %v", Names())
	}
}

func TestRegister(t *testing.T) {
	if Find("machines") != Find("nodes") || Find("machines") == nil {
		t.Error("an alias is another knob")
	}
	if Find("hops") != nil {
		t.Error("hops is none")
	}
	before := len(Names())
	for _, twice := range []Row{{Knob: Knob{Name: "nodes"}}, {Knob: Knob{Name: "machines"}}, {Knob: Knob{Name: "servers"}, Alias: "nodes"}} {
		if !panics(func() { Register([]Row{twice}) }) {
			t.Errorf("%s, alias %q, is registered though one of its names is taken", twice.Name, twice.Alias)
		}
	}
	if len(Names()) != before {
		t.Errorf("names %v", Names())
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// From 2^53 on a double stands for several whole numbers: what JSON writes as one arrives as written, and
// what only a double can hold is refused.
func TestLargeWholeNumbersArriveAsWritten(t *testing.T) {
	const big = 1<<53 + 1
	var v Values
	if err := json.Unmarshal([]byte(`{"unknown":9007199254740993}`), &v); err != nil || v["unknown"] != big {
		t.Errorf("read %v, %v", v, err)
	}
	for _, x := range []any{float64(1 << 53), json.Number("9007199254740993.0"), "9007199254740993.0"} {
		if c, rule := (Knob{Kind: Int}).Canonical(x); rule == "" {
			t.Errorf("%v became %v", x, c)
		}
	}
}
