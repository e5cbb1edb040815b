package explore

import (
	_ "embed"

	"drtmx/engine/experiment"
)

//go:embed explore.yaml
var defaultSpec []byte

// DefaultSpec is three transactions on two records.
func DefaultSpec() experiment.Spec {
	spec, err := experiment.ParseSpec(defaultSpec)
	if err != nil {
		panic("explore: default spec: " + err.Error())
	}
	return spec
}
