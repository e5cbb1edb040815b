//go:build !invariants

package nvm

// invariants makes every DIMM check itself. Build with -tags invariants.
const invariants = false
