//go:build !unix

package cluster

import "os"

// lockFile does nothing where files cannot be locked this way.
func lockFile(*os.File) error { return nil }
