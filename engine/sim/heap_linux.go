package sim

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// inLargePages is how much of its heap this process has asked for.
var inLargePages struct { // program: of its heap
	sync.Mutex
	bytes int64
}

// LargePages lets the first so many bytes of the Go heap, in which coroutines have their
// stacks, lie in large pages of the host: a cluster touches more small ones than a core
// keeps translations for. The heap must have the addresses before anything is written
// there, so they are taken, marked and given back. A host without large pages leaves
// everything as it is.
func LargePages(bytes int64) {
	inLargePages.Lock()
	defer inLargePages.Unlock()
	if bytes < translated || bytes <= inLargePages.bytes {
		return
	}
	inLargePages.bytes = bytes
	room := make([]byte, bytes)
	_ = unix.Madvise(room, unix.MADV_HUGEPAGE)
	runtime.KeepAlive(room)
	runtime.GC()
}

// translated is what a core has translations for in small pages, about.
const translated = 8 << 20
