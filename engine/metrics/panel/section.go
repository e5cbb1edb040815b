package panel

// Section is what a part says of itself in a result, under its own name. The gauges of all parts are in results anyway: a section is
// for what follows from them, under names that stay.
type Section struct {
	Part   string
	Fields []Field
}

// Field is one number of a section.
type Field struct {
	Name string
	Of   func(r *Reading) float64
}

// Reading is what the part's gauges showed in the measured interval.
type Reading struct {
	Gauge   func(name string) float64 // 0: it showed nothing
	Seconds float64                   // of virtual time
}

var sections []*Section // program: a list

// NewSection makes a section known. It is called while the program starts.
func NewSection(s Section) *Section {
	for _, o := range sections {
		if o.Part == s.Part {
			panic("panel: part " + s.Part + " has a section already: add to that")
		}
	}
	sections = append(sections, &s)
	return &s
}

// Sections are all that are known.
func Sections() []*Section { return sections }
