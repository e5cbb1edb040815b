// Package systemtest has a System without a simulator: a number that changes with virtual time and with knobs. Digest
// and windows therefore tell whether both went by in the same way, however time was sliced.
package systemtest
