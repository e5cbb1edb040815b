package runs

import (
	"strings"

	"golang.org/x/sys/unix"
)

// filesystem is the kind of file system that a folder is on, "" for one that needs no care.
func filesystem(dir string) string {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return "" // opening says what is wrong
	}
	switch name := unix.ByteSliceToString(s.Fstypename[:]); {
	case name == "smbfs":
		return "smb"
	case name == "afpfs":
		return "afs"
	case strings.Contains(name, "fuse"):
		return "fuse"
	default:
		return name
	}
}
