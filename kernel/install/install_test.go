package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInstall(t *testing.T) {
	tmp := t.TempDir()
	bin := filepath.Join(tmp, "drtmx-kernel")
	if err := os.WriteFile(bin, []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"one", "another"} { // the second replaces the first
		if err := os.WriteFile(bin, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		dir, err := Install(Options{Prefix: filepath.Join(tmp, "prefix"), Binary: bin})
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(tmp, "prefix", "share", "jupyter", "kernels", "drtmx"); dir != want {
			t.Errorf("installed in %s, want %s", dir, want)
		}
		copied := filepath.Join(dir, "drtmx-kernel")
		if b, err := os.ReadFile(copied); err != nil || string(b) != content {
			t.Errorf("copy holds %q (%v), want %q", b, err, content)
		}
		if st, err := os.Stat(copied); err != nil || st.Mode().Perm() != 0o755 {
			t.Errorf("copy is not executable: %v %v", st.Mode(), err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
		if err != nil {
			t.Fatal(err)
		}
		var spec struct{ Argv []string }
		if err := json.Unmarshal(b, &spec); err != nil || len(spec.Argv) != 2 || spec.Argv[0] != copied {
			t.Errorf("kernel.json: %s (%v)", b, err)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 2 {
			t.Errorf("folder holds %v (%v), want the kernel and its spec", left, err)
		}
	}
}

// Notebooks start workers with the command that stands beside the kernel.
func TestCommandBesideKernel(t *testing.T) {
	tmp := t.TempDir()
	bin := filepath.Join(tmp, "drtmx-kernel")
	if err := os.WriteFile(bin, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := command(bin); got != "" {
		t.Errorf("%s, where there is none", got)
	}
	want := filepath.Join(tmp, "drtmx")
	if err := os.WriteFile(want, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := Spec(bin, command(bin))
	var spec struct{ Env map[string]string }
	if err != nil || json.Unmarshal(b, &spec) != nil || spec.Env["DRTMX_COMMAND"] != want {
		t.Errorf("%s (%v), want the command %s", b, err, want)
	}
}

func TestUserFolder(t *testing.T) {
	t.Setenv("JUPYTER_DATA_DIR", "/data")
	if d, err := dataFolder(""); err != nil || d != "/data" {
		t.Errorf("JUPYTER_DATA_DIR is not respected: %s %v", d, err)
	}
}

func TestNoKernel(t *testing.T) {
	_, err := Install(Options{Prefix: t.TempDir()}) // no kernel beside the test binary
	if err == nil || !strings.Contains(err.Error(), "kernel/mkkernel") {
		t.Errorf("error %v does not say how to build it", err)
	}
}
