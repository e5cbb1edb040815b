//go:build invariants

package nvm

// invariants makes every DIMM check itself.
const invariants = true
