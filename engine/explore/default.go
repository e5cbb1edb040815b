package explore

import (
	_ "embed"

	"drtmx/engine/experiment"
)

var (
	//go:embed explore.yaml
	transactions []byte
	//go:embed xstore.yaml
	xstore []byte
	//go:embed snapshots.yaml
	snapshots []byte
)

// Names are the systems that are small enough and come with the package, the default first.
var Names = []string{"transactions", "xstore", "snapshots"}

// Shipped is the spec of one of them. ok is false for another name.
func Shipped(name string) (spec experiment.Spec, ok bool) {
	text, ok := map[string][]byte{"transactions": transactions, "xstore": xstore, "snapshots": snapshots}[name]
	if !ok {
		return spec, false
	}
	spec, err := experiment.ParseSpec(text)
	if err != nil {
		panic("explore: spec " + name + ": " + err.Error())
	}
	return spec, true
}

// DefaultSpec is three transactions on two records.
func DefaultSpec() experiment.Spec {
	spec, _ := Shipped(Names[0])
	return spec
}
