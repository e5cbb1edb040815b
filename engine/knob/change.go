package knob

// What a change of some knobs means for the others: here, and nowhere else. A knob may set others (Row.Sets), be
// derived from others (Row.Derived), or follow others while it is not set (a Follower's business).

// Follower keeps values true that follow from others, after each change.
type Follower struct {
	// Values is told of a change of resolved values: set is what it named, before is how the values were below
	// it, with a preset of the same change already in them.
	Values func(before, v, set Values)
	// Spec is called with a change of a spec, which has only what was set: it forgets of spec what the
	// change makes impossible. nil: nothing.
	Spec func(spec, set Values)
}

// Follow adds a follower. It is called while the program starts, and within Rebuild.
func Follow(f Follower) {
	to := open()
	to.followers = append(to.followers, f)
}

// Apply puts parsed settings onto resolved values: knobs that set a whole design first, then knobs that set others,
// then the settings themselves, and at last what follows from all of them.
func (v Values) Apply(set Values) {
	v.spread(set, true)
	before := v.Clone()
	v.spread(set, false)
	for name, x := range set { // order-free: fills a map
		v[name] = x
	}
	for _, f := range current.Load().followers {
		f.Values(before, v, set)
	}
	v.Derive()
}

// spread sets what the knobs of a change set, in the order of the list: those of designs, or the others.
func (v Values) spread(set Values, designs bool) {
	for _, r := range Rows() {
		x, named := set[r.Name]
		if !named || r.Sets == nil || r.Design != designs {
			continue
		}
		for name, to := range r.Sets(v, x) { // order-free: fills a map
			v[name] = to
		}
		v[r.Name] = x
	}
}

// Derive makes the knobs that are derived from others read what those say.
func (v Values) Derive() {
	for _, r := range Rows() {
		if r.Derived != nil {
			v[r.Name] = r.Derived(v)
		}
	}
}

// Override forgets of what a spec sets all that a change sets anew, and of the change what means no change. What is
// left of both can be put together.
func Override(spec, set Values) {
	gone := map[string]bool{}
	for _, r := range Rows() {
		x, named := set[r.Name]
		switch {
		case !named || r.Sets == nil:
			continue
		case r.Neutral != nil && x == r.Neutral:
			delete(set, r.Name)
			continue
		}
		for name := range r.Sets(spec, x) { // order-free: empties a map
			gone[name] = true
			delete(spec, name)
		}
	}
	for _, r := range Rows() { // a knob that sets others is overridden where all of those are
		if r.Members != nil && all(gone, r.Members) {
			delete(spec, r.Name)
		}
	}
	for _, f := range current.Load().followers {
		if f.Spec != nil {
			f.Spec(spec, set)
		}
	}
}

func all(has map[string]bool, names []string) bool {
	for _, name := range names {
		if !has[name] {
			return false
		}
	}
	return true
}
