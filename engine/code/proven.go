package code

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
)

//go:embed proven.json
var provenText []byte

// Proven is what proven.json says: the golden systems behave under the base Base as they have since the base Since.
type Proven struct {
	Base  string `json:"base"`
	Since string `json:"since"`
	// Behaviour are the behaviour digests of the golden systems.
	Behaviour map[string]string `json:"behaviour"`
}

var proven = sync.OnceValue(func() *Proven {
	p := &Proven{}
	if err := json.Unmarshal(provenText, p); err != nil {
		panic("engine/code: proven.json: " + err.Error())
	}
	return p
})

// since is the first base that behaves as the given one does, as far as it is known.
func (p *Proven) since(base string) string {
	if base == p.Base {
		return p.Since
	}
	return base
}

// Prove is what proven.json has to say after the golden systems have had these behaviour digests under the base of this
// program. A golden system that is new says nothing about bases before it.
func Prove(behaviour map[string]string) (text []byte, err error) {
	base, err := source().baseHash()
	if err != nil {
		return nil, err
	}
	return json.MarshalIndent(proven().next(base, behaviour), "", "  ")
}

func (p *Proven) next(base string, behaviour map[string]string) *Proven {
	n := &Proven{Base: base, Since: p.Since, Behaviour: behaviour}
	if p.Base == "" {
		n.Since = base
	}
	for _, name := range slices.Sorted(maps.Keys(p.Behaviour)) {
		if got, ok := behaviour[name]; !ok || got != p.Behaviour[name] {
			n.Since = base
		}
	}
	return n
}

// Check says what is wrong with proven.json, if it is about the base of this program: the golden systems have these behaviour digests.
func Check(behaviour map[string]string) error {
	base, err := source().baseHash()
	if err != nil {
		return err
	}
	return proven().check(base, behaviour)
}

func (p *Proven) check(base string, behaviour map[string]string) error {
	if p.Base == base && !maps.Equal(p.Behaviour, behaviour) {
		return fmt.Errorf("engine/code/proven.json names this base with other behaviour digests: run make proven")
	}
	return nil
}
