// Package drtmx holds the text of what a run executes: rooms below the engine and the engine itself,
// the numbers of the hardware profiles, and the versions of other modules. engine.CodeVersion is a
// hash of it. It is the root of the module because a package cannot embed files beside or above it.
package drtmx

import "embed"

// Source has every package that the engine imports; a test of the engine fails where one is missing.
// A new room takes a pattern here.
//
//go:embed go.mod go.sum
//go:embed engine/*.go engine/*/*.go engine/*/*/*.go engine/fabric/profile/*.yaml
//go:embed engine/*/*.s
//go:embed dst/*.go dst/*/*.go
//go:embed rdpma/*.go rdpma/*/*.go
//go:embed xstore/*.go xstore/*/*.go xstore/*/*/*.go
var Source embed.FS
