package testbed

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"drtmx/engine/fabric/profile"
	"drtmx/engine/knob"
)

// The numbers of the hardware profile are knobs too: hardware.NUMBER, by the name that `drtmx
// profiles` lists it under. They are a family beside the registry: the profile has some hundred of
// them, so only those that are set appear in resolved values, in results and on the page. Resolved
// values have none that says what the profile says anyway.

// NumberPrefix begins the knobs' names.
const NumberPrefix = "hardware."

// IsHardware says whether a knob is a number of the hardware profile.
func IsHardware(name string) bool { return strings.HasPrefix(name, NumberPrefix) }

// Unit is what the numbers of a knob are counted in, "" where they are just counted.
func Unit(name string) string {
	e := knob.Find(name)
	if e == nil || e.Unit == "count" {
		return ""
	}
	return e.Unit
}

// family are the knobs of the numbers of all profiles.
type family struct {
	byName map[string]*knob.Row
	names  []string
}

// numbers is made when a knob of the family is first asked for.
var numbers = sync.OnceValue(func() family {
	f := family{byName: map[string]*knob.Row{}}
	usual := knob.Find("profile").Default.(string)
	for _, shipped := range append([]string{usual}, ProfileNames()...) { // its names are suggested first
		shippedProfiles()[shipped].Each(func(number string, n *profile.Number) {
			if name := NumberPrefix + number; f.byName[name] == nil {
				f.byName[name] = numberKnob(name, n)
				f.names = append(f.names, name)
			}
		})
	}
	return f
})

// numberKnob is the knob of a number. What it means and may be is the profile's to say, see Describe.
func numberKnob(name string, n *profile.Number) *knob.Row {
	e := &knob.Row{Knob: knob.Knob{Name: name, Kind: knob.Int, Unit: n.Unit, Label: name[len(NumberPrefix):], Group: knob.Hardware, Section: "2.1"},
		Inactive: func(v knob.Values) string { return unusedNumber(v, name) },
		Own:      parseNumber,
		Unset:    unset}
	switch n.Unit {
	case "ns":
		e.Kind, e.Units = knob.Float, knob.DurationUnits
	case "GB/s":
		e.Kind, e.Units = knob.Float, rateUnits
	case "bytes":
		e.Kind = knob.Bytes
	case "MHz", "MB", "GB":
		e.Units = []knob.Unit{{Suffix: n.Unit, Factor: 1}}
	}
	return e
}

// rateUnits are of a bandwidth. Networks are sold by the bit.
var rateUnits = []knob.Unit{{Suffix: "GB/s", Factor: 1}, {Suffix: "Gbps", Factor: 0.125}, {Suffix: "Gbit/s", Factor: 0.125}, {Suffix: "Gb/s", Factor: 0.125}}

// NumberRow is a knob of the family, nil if there is none of that name.
func NumberRow(name string) *knob.Row {
	if !IsHardware(name) {
		return nil
	}
	return numbers().byName[name]
}

// IsNumber says whether a name is that of a number, or its last parts: "switch" for "hardware.wire.switch".
func IsNumber(name string) bool {
	return slices.ContainsFunc(numbers().names, func(full string) bool { return strings.HasSuffix(full, "."+name) })
}

// SetNumbers are the names of the family that are set in v, in order.
func SetNumbers(v knob.Values) []string {
	var names []string
	for name := range v { // order-free: sorted below
		if IsHardware(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// unset is the profile's value of a number of the hardware, nil if it has none.
func unset(e *knob.Row, v knob.Values) any {
	p := Shipped(v)
	if p == nil {
		return nil
	}
	if n := p.Number(e.Label); n != nil {
		return valueOf(e, n)
	}
	return nil
}

// parseNumber is parse for a number of the hardware. Its limits are the profile's, see validHardware.
func parseNumber(e *knob.Row, v any) (any, error) {
	x, want := knob.Plain(v), "a whole number such as 8 or 100k"
	if s, ok := x.(string); ok && len(s) <= knob.MaxText {
		x = knob.InUnits(s, e.Units)
	}
	c, rule := e.Canonical(x)
	switch {
	case rule == "":
		return c, nil
	case e.Kind == knob.Bytes:
		want = "a size such as 64 or 4KiB"
	case e.Unit == "ns":
		want = "a number of nanoseconds, or a time such as 0.5us"
	case e.Unit == "GB/s":
		want = "a number of GB/s, or a rate such as 200Gbps"
	case e.Units != nil:
		want = "a whole number of " + e.Unit
	}
	return nil, &knob.Error{Field: e.Name, Value: knob.Clip(v), Rule: "must be " + want, Next: "see `drtmx knobs " + e.Name + "`"}
}

// valueOf is the value of a profile's number, as the knob has it.
func valueOf(e *knob.Row, n *profile.Number) any {
	if e.Kind == knob.Float {
		return n.Value
	}
	return n.Int()
}

// DropPlain forgets the numbers that are what the profile says.
func DropPlain(v knob.Values) {
	for _, name := range SetNumbers(v) {
		if e := NumberRow(name); e != nil && unset(e, v) == v[name] {
			delete(v, name)
		}
	}
}

// changed is a profile with the numbers that v sets.
func changed(p *profile.Profile, v knob.Values) *profile.Profile {
	names := SetNumbers(v)
	if len(names) == 0 {
		return p
	}
	p = p.Clone()
	for _, name := range names {
		if n := p.Number(name[len(NumberPrefix):]); n != nil {
			switch x := v[name].(type) {
			case int:
				n.Value = float64(x)
			case float64:
				n.Value = x
			}
		}
	}
	return p
}

// validHardware refuses numbers that the profile has not, and values with which the model cannot
// work, alone or beside the others.
func validHardware(v knob.Values) error {
	names := SetNumbers(v)
	for _, name := range names {
		if err := HasNumber(v, name); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		return nil
	}
	var broken *profile.NumberError
	if err := Profile(v).Check(); errors.As(err, &broken) {
		name, rule := NumberPrefix+broken.Name, broken.Rule
		if bound := NumberPrefix + broken.Bound; v[name] == nil && v[bound] != nil { // the one that was changed
			name, rule = bound, "must be at most "+broken.Name+", which is "+knob.Format(name, v.Value(name))
		}
		return knob.Invalid(name, knob.Format(name, v.Value(name)), "`drtmx knobs "+name+"` tells more", "%s", rule)
	}
	return nil
}

// HasNumber refuses a number that the profile has not, or that another knob is for.
func HasNumber(v knob.Values, name string) error {
	profile, number := v.Text("profile"), name[len(NumberPrefix):]
	p, value := Shipped(v), ""
	if v[name] != nil {
		value = knob.Format(name, v[name])
	}
	switch {
	case strings.HasSuffix(number, ".nvm_generation"):
		return &knob.Error{Field: name, Value: value, Rule: "says which type of machine this is", Next: "set nvm.generation"}
	case p.Number(number) != nil:
		return nil
	}
	why := "there is no such number in profile " + profile
	switch section, _, _ := strings.Cut(number, "."); {
	case section == "nvm" && p.NVM == nil:
		why = "profile " + profile + " has no NVM"
	case section == "tcp" && p.TCP == nil:
		why = "profile " + profile + " has RDMA and no TCP"
	case section == "ssd":
		why = "profile " + profile + " names no SSD"
	case section == "scheduler":
	case section != "node_types" && p.TCP != nil:
		why = NoRDMA(v)
	}
	return &knob.Error{Field: name, Value: value, Rule: why, Next: "leave it out, or choose another profile: `drtmx profiles " + profile + "` lists its numbers"}
}

// unusedNumber is why a number has no effect in v.
func unusedNumber(v knob.Values, name string) string {
	number := name[len(NumberPrefix):]
	if why := Unread(number); why != "" && (HasRDMA(v) || !strings.HasPrefix(number, "nic.")) {
		return why
	}
	if number == "memory.llc_store" && Shipped(v).NVM == nil {
		return unread["memory.dram_store"]
	}
	if rest, ok := strings.CutPrefix(number, "node_types."); ok {
		kind := rest[:strings.LastIndexByte(rest, '.')]
		if !slices.Contains(NodeTypes(Profile(v), v), kind) {
			return "no machine of this cluster is of type " + kind
		}
	}
	return ""
}

// Describe is the state of the family's knobs in v: those of the given names.
func Describe(v knob.Values, names []string) []knob.State {
	p := Shipped(v)
	var out []knob.State
	for _, name := range names {
		e := knob.Find(name)
		s := e.State(v)
		s.Value = v.Value(name)
		if n := p.Number(e.Label); n != nil {
			s.Default = valueOf(e, n)
			s.Doc = fmt.Sprintf("%s. Source: %s (%s).", upper(n.Meaning), strings.TrimSuffix(n.Source, "."), n.Kind)
			least, most := p.Limits(e.Label)
			s.Min, s.Max = valueOf(e, &profile.Number{Value: least}), valueOf(e, &profile.Number{Value: most})
		}
		out = append(out, s)
	}
	return out
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// WithNumbers is a profile's name, or what a result has for it, and the numbers that v changes.
func WithNumbers(profile string, v knob.Values) string {
	for i, name := range SetNumbers(v) {
		profile += map[bool]string{true: "+", false: ","}[i == 0] + name + "=" + knob.Format(name, v[name])
	}
	return profile
}

// unread are the numbers that no system comes to, or all of a section, and why.
var unread = map[string]string{
	"nic.sge_max":        "no system posts requests of several segments",
	"nic.send_depth":     "R2 says itself how deep its queues are",
	"nic.recv_depth":     "R2 says itself how deep its queues are",
	"nic.rnr_retry":      "R2 sends messages as datagrams, which do not wait for a receiver",
	"nic.rnr_timer":      "R2 sends messages as datagrams, which do not wait for a receiver",
	"nic.loss_recovery":  "nothing loses packets of RC queue pairs here",
	"memory.dram_store":  "R2 charges a store to DRAM as a load",
	"memory.dram_random": "no system loads from several addresses at once",
	"scheduler":          "no two threads of a system share a core",
	"ssd":                "nothing in a system writes to an SSD",
}

// Unread says of a number of the profile why no system comes to it; "" of one that matters.
func Unread(number string) string {
	section, _, _ := strings.Cut(number, ".")
	return cmp.Or(unread[number], unread[section])
}

// Suggest names the numbers that a person may have meant: ", did you mean ...?" or "".
func Suggest(number string) string { return knob.DidYouMean(number, numbers().names) }

// hostBytes is what the simulator keeps of its own memory for the state of caches and devices.
func hostBytes(p *profile.Profile, v knob.Values) int64 {
	const (
		setBytes         = 64 // of the LLC; per way, behind NVM, a line number
		wayBytes         = 4
		translationBytes = 4
		slotBytes        = 16
		xlineBytes       = 72 // and its place in the order of use
		pageEntryBytes   = 32
		counterBytes     = 2
		cacheLine        = 64
	)
	all, _ := Machines(v)
	scale := v.Float("workload.scale")
	total := 0.0
	for m := range all {
		t := NodeType(p, v, m)
		sockets, nics, ways := t.Sockets.Value, t.NICs.Value, t.LLCWays.Value
		set := float64(setBytes)
		if n := p.NVM; n != nil && t.NVMGeneration.Int() > 0 {
			set += wayBytes * ways
			total += sockets * n.DIMMs.Value * (xlineBytes*n.XBuffer.Value + pageEntryBytes*n.TranslationPages.Value + counterBytes*n.WearCounters.Value)
		}
		total += sockets * t.LLC.Value * (1 << 20) / cacheLine / ways * set * scale
		total += translationBytes * scale * (float64(t.Cores())*p.Memory.TLBEntries.Value + nics*p.NIC.Translations.Value)
		total += slotBytes * nics * p.NIC.ConflictSlots.Value
	}
	return int64(total)
}

// MoreBytes is what the numbers that v changes take more than the profile's.
func MoreBytes(v knob.Values) int64 {
	if len(SetNumbers(v)) == 0 {
		return 0
	}
	return max(0, hostBytes(Profile(v), v)-hostBytes(Shipped(v), v))
}

// Costliest is the changed number without which the state would take least.
func Costliest(v knob.Values) string {
	return slices.MinFunc(SetNumbers(v), func(a, b string) int { return cmp.Compare(bytesWithout(v, a), bytesWithout(v, b)) })
}

func bytesWithout(v knob.Values, number string) int64 {
	v = v.Clone()
	delete(v, number)
	return hostBytes(Profile(v), v)
}
