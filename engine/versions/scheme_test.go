package versions

import (
	"strings"
	"testing"

	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
)

// told is a scheme that keeps what it is told.
type told struct {
	unstamped
	name string
	list *[]string
}

func (x told) Switch(on bool) {
	*x.list = append(*x.list, map[bool]string{true: x.name + " on", false: x.name + " off"}[on])
}
func (x told) Tune()                            { *x.list = append(*x.list, x.name+" tuned") }
func (x told) Low(_ *r2.Co, p *timestamp.Point) { p.One(0) }

// tellingOf is such a scheme in a list of parts. A change of ts.meaning needs new stamps.
func tellingOf(name string, oracle bool, list *[]string) timestamp.Kind {
	return timestamp.Kind{
		Name: name, Restamps: []string{"ts.meaning"},
		Traits: func(knob.Values) timestamp.Traits { return timestamp.Traits{Oracle: oracle} },
		Open: func(e timestamp.Env) (timestamp.Scheme, error) {
			*list = append(*list, name+" opened")
			e.Cluster.Handle(name, func(*r2.Co, r2.Peer, []byte, []byte) int { return 0 })
			return told{name: name, list: list}, nil
		},
	}
}

// A scheme is opened when it first comes into force, and only then. It is told when another one takes its place, at rest of the knobs
// that decide what its stamps mean, and at once of others.
func TestSchemesOpenWhenInForce(t *testing.T) {
	var list []string
	b := newBedUnder(t, 4, timestamp.Kinds{tellingOf("one", false, &list), tellingOf("two", false, &list), tellingOf("asking", true, &list)})
	defer b.close()
	for _, x := range []struct {
		set     string // the scheme, or a knob
		drained bool
		want    string
	}{
		{"", false, "one opened, one on"},
		{"ts.way", false, "one tuned"},
		{"ts.meaning", true, "one on"},
		{"two", true, "two opened, one off, two on"},
		{"ts.way", false, "two tuned"},
		{"none", true, "one off, two off"},
		{"one", true, "two off, one on"},
		{"one", false, "one tuned"},
	} {
		o := b.opt
		o.Values = o.Values.Clone()
		if strings.HasPrefix(x.set, "ts.") {
			o.Values[x.set] = len(list)
		} else if x.set != "" {
			o.Scheme = x.set
		}
		if x.set != "" {
			if drained := b.mv.Changes(o); drained != x.drained {
				t.Errorf("%s: a drain: %v", x.set, drained)
			}
			b.must(b.mv.Follow(o))
			if b.opt.Scheme = o.Scheme; o.Versions() {
				b.opt = o
			}
		}
		if got := strings.Join(list, ", "); got != x.want {
			t.Errorf("%s: %s, want %s", x.set, got, x.want)
		}
		list = list[:0]
	}
	o := b.opt
	for name, why := range map[string]string{"asking": "oracle=true", "three": "[one two asking]"} { // order-free: each is refused
		o.Scheme = name
		if err := b.mv.Follow(o); err == nil || !strings.Contains(err.Error(), "ts.scheme "+name) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(list) > 0 {
		t.Errorf("schemes that cannot be in force: %v", list)
	}
}
