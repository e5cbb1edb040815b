//go:build unix

package fabric

import (
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A process with a limit of address space gets smaller machines, not none; the addresses stay the same.
func TestAddressSpaceIsReservedInProportion(t *testing.T) {
	before, _, _ := pairBed(t, Config{})
	at, err := before.f.Machine(1).Mem.Alloc(host.Alloc{Name: "table", Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	limitSpace(t, space.InUse()+8<<30)
	b, _, _ := pairBed(t, Config{})
	mem := b.f.Machine(1).Mem
	if again, err := mem.Alloc(host.Alloc{Name: "table", Bytes: 1 << 20}); err != nil || again != at {
		t.Errorf("under the limit a table is at %#x (%v), without at %#x", again, err, at)
	}
	var full *host.SpaceError
	if _, err := mem.Alloc(host.Alloc{Name: "much", Bytes: 4 << 30}); !errors.As(err, &full) || !full.Limited || !strings.Contains(err.Error(), "ulimit -v") {
		t.Errorf("more than the limit leaves: %v", err)
	}
}

func TestTooLittleAddressSpaceSaysWhatToDo(t *testing.T) {
	b, _, _ := pairBed(t, Config{})
	limitSpace(t, space.InUse()+100<<20)
	if _, err := New(b.sim, Config{Machines: 2}); err == nil || !strings.Contains(err.Error(), "ulimit -v") {
		t.Errorf("with 100 MB left: %v", err)
	}
}

// limitSpace is in force until the test ends.
func limitSpace(t *testing.T, bytes uint64) {
	t.Helper()
	if space.InUse() == 0 {
		t.Skip("this system does not say how much address space is in use")
	}
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &was); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: bytes, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Setrlimit(unix.RLIMIT_AS, &was); err != nil {
			t.Error(err)
		}
	})
}
