//go:build !linux && !darwin

package runs

// filesystem is not known here: a store has a write-ahead log.
func filesystem(string) string { return "" }
