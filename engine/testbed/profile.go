package testbed

import (
	"sync"

	"drtmx/engine/fabric/profile"
	"drtmx/engine/knob"
	"drtmx/engine/membership"
)

// ProfileNames are the shipped profiles.
func ProfileNames() []string { return profile.Names() }

// shippedProfiles are the profiles by name, parsed once: validation asks for them
// at every change of a knob. They are never changed.
var shippedProfiles = sync.OnceValue(func() map[string]*profile.Profile {
	all := map[string]*profile.Profile{}
	for _, name := range ProfileNames() {
		p, err := profile.Load(name)
		if err != nil {
			panic("testbed: shipped profile: " + err.Error())
		}
		all[name] = p
	}
	return all
})

// Shipped is the profile as it is shipped, nil if there is none of that name.
func Shipped(v knob.Values) *profile.Profile {
	name, _ := v["profile"].(string)
	return shippedProfiles()[name]
}

// Profile is the hardware: the profile with the numbers that are changed.
func Profile(v knob.Values) *profile.Profile { return changed(Shipped(v), v) }

// HasRDMA says whether the profile's NICs have it; else messages go by TCP.
func HasRDMA(v knob.Values) bool { return Shipped(v).TCP == nil }

// NoRDMA is why a knob of RNICs has no effect, if they are none.
func NoRDMA(v knob.Values) string {
	if HasRDMA(v) {
		return ""
	}
	return "the NICs of profile " + v.Text("profile") + " have no RDMA"
}

// NoDoorbells is why doorbells cannot be shared where there are no RNICs.
func NoDoorbells(v knob.Values) string {
	return NoRDMA(v) + ": each message is a system call"
}

// NodeType is the type of machine m. In a profile with NVM the machines with data have it and the others have none, as on the testbed.
func NodeType(p *profile.Profile, v knob.Values, m int) *profile.NodeType {
	if p.NVM == nil {
		return p.NodeTypes[0]
	}
	want := 1
	switch {
	case !Members(v).Roles(m).Has(membership.Primary):
		want = 0
	case v.Text("nvm.generation") == "next":
		want = 2
	}
	for _, t := range p.NodeTypes {
		if t.NVMGeneration.Int() == want {
			return t
		}
	}
	return p.NodeTypes[0]
}

// NodeTypes are the names of all machines' types.
func NodeTypes(p *profile.Profile, v knob.Values) []string {
	all, _ := Machines(v)
	names := make([]string, all)
	for m := range names {
		names[m] = NodeType(p, v, m).Name
	}
	return names
}
