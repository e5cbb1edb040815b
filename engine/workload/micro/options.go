package micro

import "fmt"

// Copy is what the server of a two-sided read or write does with the bytes.
type Copy uint8

const (
	CopyNothing Copy = iota // answers at once
	CopyStore               // copies them through the cache
	CopyStoreNT             // writes them past the cache, with non-temporal stores
)

var copyNames = []string{"none", "store", "ntstore"}

// maxPad is the largest padding: an XLine.
const maxPad = xline

// check refuses places and padding that are no part or multiple of a line.
func (o *Options) check() error {
	power := func(n int) bool { return n > 0 && n&(n-1) == 0 }
	switch {
	case !power(o.Align) || o.Align > lineBytes:
		return fmt.Errorf("workload.align %d: a power of 2 up to %d", o.Align, lineBytes)
	case !power(o.Pad) || o.Pad > maxPad:
		return fmt.Errorf("workload.pad %d: a power of 2 up to %d", o.Pad, maxPad)
	}
	return nil
}

// Limit is the largest payload: of one that travels in a message, what this leaves.
func (o *Options) Limit() int {
	switch {
	case o.Verb == RPC || o.TwoSided && o.Verb == Read:
		return maxMessage - messageHeader
	case o.TwoSided:
		return maxMessage - messageHeader - addressBytes
	}
	return maxPayload / max(o.Objects, 1)
}

// Copies are the names of Copy.
func Copies() []string { return copyNames }

// ParseCopy finds one by name.
func ParseCopy(name string) (Copy, error) {
	for i, n := range copyNames {
		if n == name {
			return Copy(i), nil
		}
	}
	return 0, fmt.Errorf("workload.copy %q is not one of %v", name, copyNames)
}

// Socket is whose memory requests go to, seen from the RNIC that serves them.
type Socket uint8

const (
	Own   Socket = iota // that of the RNIC's socket
	Other               // that of the next socket
	Any                 // that of a random one
	First               // that of the first socket, whichever RNIC serves it
)

var socketNames = []string{"own", "other", "any", "first"}

// Sockets are the names of Socket.
func Sockets() []string { return socketNames }

// ParseSocket finds one by name.
func ParseSocket(name string) (Socket, error) {
	for i, n := range socketNames {
		if n == name {
			return Socket(i), nil
		}
	}
	return 0, fmt.Errorf("workload.socket %q is not one of %v", name, socketNames)
}
