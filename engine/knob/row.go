package knob

import (
	"cmp"
	"sync/atomic"
)

// Row is a knob with what only its owner knows.
type Row struct {
	Knob
	Inactive func(v Values) string            // why it has no effect in v; nil: always active
	Normal   func(s string) (string, string)  // text knobs: canonical form, or the rule that is broken
	ByLoad   map[string]any                   // workload.*: default by workload
	Alias    string                           // another name for it
	Units    []Unit                           // a number's units, as text may end with; written exactly so
	Most     func(v Values) any               // its maximum in v; nil: always Max
	Own      func(r *Row, v any) (any, error) // how it reads a value, if not by its kind
	Words    map[int]string                   // numbers that are written as a word, which Own reads
	Unset    func(r *Row, v Values) any       // of a row beside the list: its value where it is not set

	// What a change of it means for others, see Values.Apply. Sets is what it sets them to, Members lists them where
	// they are always the same. Design says that it sets a whole design, before everything else of the change.
	Sets    func(v Values, x any) Values
	Members []string
	Design  bool
	Neutral any                // a value that changes nothing: how it reads where its members differ
	Derived func(v Values) any // what it reads: it only says what others are. nil: what it was set to
	Follows bool               // it follows others while it is not set
	File    func(v any) string // the file that a value names, whose content decides like a knob; "": it names none. nil: no value does
	Order   bool               // a command rather than a setting: what it reads is not what it was set to

	// Together says that it is offered for several systems side by side at once, where all have it and it is live: at a value. nil: it is not.
	Together func(x any) bool

	// Needs is what the part that runs must have for the knob to have an effect, see txn.Kind.Has; "": the part is one that declares it.
	Needs string
}

// Always is Together at any value.
func Always(any) bool { return true }

// IsGroup says whether a knob only sets others, and reads what they say.
func (r *Row) IsGroup() bool { return r.Derived != nil }

// registry is the list of all knobs, in the order of the page.
type registry struct {
	edition   int
	rows      []*Row
	byName    map[string]*Row
	names     []string
	followers []Follower
	beside    func(name string) *Row
}

// The list is replaced as a whole, for others may read it meanwhile: a page that is open.
var (
	current  = listed(&registry{byName: map[string]*Row{}})
	building *registry // program: by Rebuild; nil: none
)

func listed(r *registry) *atomic.Pointer[registry] {
	p := &atomic.Pointer[registry]{}
	p.Store(r)
	return p
}

// open is the list that is written to.
func open() *registry {
	if building != nil {
		return building
	}
	return current.Load()
}

// Register adds rows to the list of all knobs, in the order of the page. It is called while the program
// starts, and within Rebuild.
func Register(list []Row) {
	to := open()
	for i := range list {
		r := &list[i]
		for _, name := range []string{r.Name, r.Alias} {
			switch {
			case name == "": // no alias
			case to.byName[name] != nil:
				panic("knob: " + name + " twice")
			default:
				to.byName[name] = r
			}
		}
		to.rows = append(to.rows, r)
		to.names = append(to.names, r.Name)
	}
}

// Rebuild has build register all knobs anew. Until it returns the old list holds, and if it panics from then on, too.
func Rebuild(build func()) {
	building = &registry{edition: Edition() + 1, byName: map[string]*Row{}}
	defer func() { building = nil }()
	build()
	current.Store(building)
}

// Edition counts how often the list was made anew: what was read of another edition may lack knobs, or have others.
func Edition() int { return current.Load().edition }

// Beside finds knobs that are not in the list, for there are too many.
func Beside(find func(name string) *Row) { open().beside = find }

// Rows are the list, in the order of the page.
func Rows() []*Row { return current.Load().rows }

// Names are those of the list.
func Names() []string { return current.Load().names }

// Find is a knob by any of its names, nil if there is none.
func Find(name string) *Row {
	list := current.Load()
	if r := list.byName[name]; r != nil || list.beside == nil {
		return r
	}
	return list.beside(name)
}

// Parse turns what a person, YAML, JSON or Go code gave into the canonical value.
func (r *Row) Parse(v any) (any, error) {
	if r.Own != nil {
		return r.Own(r, v)
	}
	c, err := r.Knob.Parse(v)
	if err != nil || r.Normal == nil {
		return c, err
	}
	s, rule := r.Normal(c.(string))
	if rule != "" {
		return nil, &Error{Field: r.Name, Value: Clip(v), Rule: rule, Next: "see `drtmx knobs " + r.Name + "`"}
	}
	return s, nil
}

// DefaultFor is the default under a workload.
func (r *Row) DefaultFor(workload string) any {
	if d, ok := r.ByLoad[workload]; ok {
		return d
	}
	return r.Default
}

// State is the knob in resolved values.
func (r *Row) State(v Values) State {
	s := State{
		Name: r.Name, Kind: r.Kind, Value: v[r.Name], Default: r.DefaultFor(v.Text("workload")), Min: r.Min, Max: r.Max,
		Choices: r.Choices, Unit: r.Unit, Label: r.Label, Doc: r.Doc, Section: r.Section, Group: r.Group, Live: r.Live, Active: true,
	}
	if r.Most != nil {
		s.Max = r.Most(v)
	}
	if r.Inactive != nil {
		s.InactiveBecause = r.Inactive(v)
		s.Active = s.InactiveBecause == ""
	}
	return s
}

// Like guesses which knob of the list was meant by a name: ", did you mean ...?" or "". A word of a label is a better
// sign than a name of which every third letter differs: models are sub-models and not nodes.
func Like(name string) string {
	return cmp.Or(within(max(1, len(name)/5), name, Names()), labelled(name), DidYouMean(name, Names()))
}

// Groups are the headings under which the page shows knobs: the floors that they act on.
const (
	Cluster       = "Cluster"
	Hardware      = "Hardware"
	Communication = "Communication"
	Store         = "Index and cache"
	Phases        = "Transaction phases"
	Timestamps    = "Timestamps"
	Optimisations = "Optimisations"
	Workload      = "Workload"
	Faults        = "Faults"
	Measurement   = "Measurement"
)

// Idle is what to tell of a knob that does nothing where it is, and why; "" of one that works.
func (s State) Idle() string {
	if s.Active {
		return ""
	}
	return NoEffect(s.Name, s.InactiveBecause)
}

// NoEffect says that a knob does nothing, and why.
func NoEffect(name, why string) string { return name + " has no effect here: " + why }
