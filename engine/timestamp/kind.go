package timestamp

import (
	"fmt"

	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/testbed"
)

// Kind is a scheme as the list of parts has it.
type Kind struct {
	Name   string // value of the knob ts.scheme
	Doc    string // a clause
	Traits func(v knob.Values) Traits
	// Rows are its own knobs, Rules what may not be set together under it.
	Rows  func(load testbed.LoadOf) []knob.Row
	Rules []func(v knob.Values) error
	// Elsewhere are rules that hold under every other scheme, of knobs that mean something under this one alone.
	Elsewhere []func(v knob.Values) error
	// Restamps are its live knobs that decide what a stamp means. After a change of one of them all versions get new stamps, and it
	// waits until no transaction is under way. Its other live knobs take effect at once, see Tuned.
	Restamps []string
	// Claim is the most that transactions under it may claim together, ClaimOf that under these options, where it depends
	// on them.
	Claim   history.Claim
	ClaimOf func(o *Options) history.Claim
	// Open makes it ready on a cluster. It happens when a system first has it in force: its handlers, memory and coroutines are in no other one.
	Open func(e Env) (Scheme, error)
}

// ClaimUnder is what transactions may claim together under options.
func (k *Kind) ClaimUnder(o *Options) history.Claim {
	if k.ClaimOf == nil {
		return k.Claim
	}
	return k.ClaimOf(o)
}

// Kinds are the schemes of a list, and how resolved values name one of them.
type Kinds []Kind

// Knob is the one that names the scheme. None is its value under which nothing has a stamp, and Without both, as one sets it.
const (
	Knob    = "ts.scheme"
	None    = "none"
	Without = Knob + "=" + None
)

// Named is the scheme of a name, nil if there is none.
func (ks Kinds) Named(name string) *Kind {
	for i := range ks {
		if ks[i].Name == name {
			return &ks[i]
		}
	}
	return nil
}

// Of is the scheme of values, nil where records have one version.
func (ks Kinds) Of(v knob.Values) *Kind {
	name, _ := v[Knob].(string)
	return ks.Named(name)
}

// Names lists them.
func (ks Kinds) Names() []string {
	names := make([]string, len(ks))
	for i := range ks {
		names[i] = ks[i].Name
	}
	return names
}

// Versioned says that records have versions.
func Versioned(v knob.Values) bool { return v.Text(Knob) != None }

// Valid reports the first rule of the schemes that is broken: of one that is not in force, which refuses what means nothing without
// it, and of the one that is.
func (ks Kinds) Valid(v knob.Values) error {
	k := ks.Of(v)
	if k == nil {
		return nil
	}
	if k.Traits(v).Oracle && !v.Bool("oracle") {
		return knob.Invalid(Knob, k.Name, "set oracle=true with it, which takes a reset, or "+Knob+"="+ks.alone(v), "it asks an oracle machine, and oracle is false")
	}
	for _, rule := range k.Rules {
		if err := rule(v); err != nil {
			return fmt.Errorf("%s %s: %w", Knob, k.Name, err)
		}
	}
	return nil
}

// ValidElsewhere reports the first knob that only a scheme which is not in force has a use for.
func (ks Kinds) ValidElsewhere(v knob.Values) error {
	for i := range ks {
		if k := &ks[i]; k.Name != v.Text(Knob) {
			for _, rule := range k.Elsewhere {
				if err := rule(v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// alone is the first scheme that takes no oracle.
func (ks Kinds) alone(v knob.Values) string {
	for i := range ks {
		if !ks[i].Traits(v).Oracle {
			return ks[i].Name
		}
	}
	return None
}
