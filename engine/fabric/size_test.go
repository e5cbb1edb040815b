package fabric

import (
	"testing"
	"unsafe"
)

// The records on the hot path are whole lines of the host's memory.
func TestRecordSizes(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("64-bit only")
	}
	for name, c := range map[string]struct{ got, want uintptr }{
		"verb":             {unsafe.Sizeof(verb{}), 128},
		"verb, first line": {unsafe.Offsetof(verb{}.id), 64},
		"QP":               {unsafe.Sizeof(QP{}), 128},
		"QP, first line":   {unsafe.Offsetof(QP{}.fab), 64},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, c.got, c.want)
		}
	}
}
