package engine

import "drtmx/engine/fabric"

func profileNames() []string { return fabric.Profiles() }

// profileCores is the number of cores of a machine of the profile's first node type.
func profileCores(name string) int {
	p, err := fabric.LoadProfile(name)
	if err != nil {
		panic("engine: shipped profile: " + err.Error())
	}
	t, err := p.NodeType("")
	if err != nil {
		panic("engine: shipped profile: " + err.Error())
	}
	return t.Cores()
}
