package runs

import "fmt"

// journal is how a store keeps what a transaction changes until it is whole.
type journal string

const (
	// writeAhead has readers and a writer at once. Its index is memory that all processes map, so they must run on one
	// machine.
	writeAhead journal = "WAL"
	// rollback takes locks of the file alone, which network file systems pass on.
	rollback journal = "DELETE"
)

// shared are the file systems that several machines, or a program in between, can reach, by the names of filesystem.
// Those that are false do not pass on locks of parts of a file.
var shared = map[string]bool{
	"nfs": true, "smb": true, "fuse": true, "9p": false, "afs": false, "coda": false, "ceph": true, "gfs2": true, "ocfs2": true,
	"lustre": true, "gpfs": true, "beegfs": true, "webdav": false, "vboxsf": false,
}

// journalOn is the journal for a store on a file system: the name that filesystem gives, "" for one that it does not know.
func journalOn(filesystem string) (journal, error) {
	locks, known := shared[filesystem]
	switch {
	case !known:
		return writeAhead, nil
	case locks:
		return rollback, nil
	}
	return "", fmt.Errorf("is on %s, which does not lock files for several processes; name a file on another disk with --runs or %s", filesystem, FileVariable)
}
