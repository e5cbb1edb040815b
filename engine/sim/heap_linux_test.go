package sim

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"
)

// What is allocated afterwards lies in a mapping that is marked for large pages, where
// the kernel knows of such. That is so in a fresh process: what other tests have left
// in the heap is not marked, and is taken first.
func TestHeapIsInLargePages(t *testing.T) {
	const fresh = "DRTMX_FRESH_HEAP"
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("a kernel without large pages")
	}
	if os.Getenv(fresh) == "" {
		// One heap in three hundred begins at a random address with no room behind its first 64 MB: what is left of
		// those is not marked, and is taken first.
		var out []byte
		for range 3 {
			again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
			again.Env = append(os.Environ(), fresh+"=1")
			var err error
			if out, err = again.CombinedOutput(); err == nil {
				return
			}
		}
		t.Errorf("three processes fail:\n%s", out)
		return
	}
	LargePages(64 << 20)
	object := uintptr(unsafe.Pointer(unsafe.SliceData(make([]byte, 16<<20))))
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	here := false
	for line := range strings.Lines(string(smaps)) {
		var from, to uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			here = from <= object && object < to
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && here {
			if !strings.Contains(flags, " hg") {
				t.Errorf("the mapping of %#x has flags %q", object, flags)
			}
			return
		}
	}
	t.Errorf("%#x is in no mapping", object)
}
