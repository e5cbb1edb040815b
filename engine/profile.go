package engine

import (
	"sync"

	"drtmx/engine/fabric"
)

func profileNames() []string { return fabric.Profiles() }

// shippedProfiles are the profiles by name, parsed once: validation asks for them
// at every change of a knob. Nobody changes them.
var shippedProfiles = sync.OnceValue(func() map[string]*fabric.Profile {
	all := map[string]*fabric.Profile{}
	for _, name := range profileNames() {
		p, err := fabric.LoadProfile(name)
		if err != nil {
			panic("engine: shipped profile: " + err.Error())
		}
		all[name] = p
	}
	return all
})

// shippedProfile is the profile as it is shipped, nil if there is none of that name.
func shippedProfile(v Knobs) *fabric.Profile {
	name, _ := v["profile"].(string)
	return shippedProfiles()[name]
}

// profileOf is the hardware: the profile with the numbers that are changed.
func profileOf(v Knobs) *fabric.Profile { return changed(shippedProfile(v), v) }

// hasRDMA says whether the profile's NICs have it; else messages go by TCP.
func hasRDMA(v Knobs) bool { return shippedProfile(v).TCP == nil }

// noRDMA is why a knob of RNICs has no effect, if they are none.
func noRDMA(v Knobs) string {
	if hasRDMA(v) {
		return ""
	}
	return "the NICs of profile " + v.Text("profile") + " have no RDMA"
}

func noDoorbells(v Knobs) string {
	return noRDMA(v) + ": each message is a system call"
}

// nodeType is the type of machine m. In a profile with NVM the servers of an
// asymmetric cluster have it and the clients have none, as on the testbed.
func nodeType(p *fabric.Profile, v Knobs, m int) *fabric.NodeType {
	if p.NVM == nil {
		return p.NodeTypes[0]
	}
	want := 1
	switch {
	case asymmetric(v) && m >= v.Int("servers"):
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

// nodeTypes are the names of all machines' types.
func nodeTypes(p *fabric.Profile, v Knobs) []string {
	all, _ := machines(v)
	names := make([]string, all)
	for m := range names {
		names[m] = nodeType(p, v, m).Name
	}
	return names
}
