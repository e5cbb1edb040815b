package kernel_test

import (
	"strings"
	"testing"

	"drtmx/engine/code"
)

// The kernel, which is built in another way, names the same code as command and tests do: their cached
// runs and sessions are each other's.
func TestKernelHasTheSameCode(t *testing.T) {
	t.Parallel()
	out := drive(t, step{Code: "import \"drtmx/engine/code\"\ncode.Build()"})
	if o := out[0]; !strings.Contains(o.text(), code.Build()) {
		t.Errorf("%s %q: the kernel says %q, the test %q", o.Status, o.Evalue, o.text(), code.Build())
	}
}
