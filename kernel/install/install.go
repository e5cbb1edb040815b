// Package install puts the notebook kernel where Jupyter finds it: the binary
// and its kernel.json in kernels/drtmx of a Jupyter data folder.
//
// Left out: Jupyter itself, whose installation differs from system to system.
package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Name is the kernel's name in notebooks and on Jupyter's command line.
const Name = "drtmx"

// Options say what to install and where.
type Options struct {
	// Prefix is the root of an installation, as in jupyter kernelspec install
	// --prefix: the kernel goes to PREFIX/share/jupyter. Set it to install for
	// a virtual environment or for all users (/usr/local). Empty installs for
	// the current user.
	Prefix string
	// Binary is the kernel to copy. Empty takes drtmx-kernel beside the
	// running command, where make puts it.
	Binary string
}

// Install copies the kernel and returns the folder it is in. An older copy is
// replaced; notebooks that run it go on until they are restarted.
func Install(o Options) (string, error) {
	if o.Binary == "" {
		var err error
		if o.Binary, err = beside(); err != nil {
			return "", err
		}
	}
	data, err := dataFolder(o.Prefix)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(data, "kernels", Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("kernel: %w; give a folder you may write to with --prefix", err)
	}
	bin := filepath.Join(dir, filepath.Base(o.Binary))
	if err := replace(bin, o.Binary); err != nil {
		return "", fmt.Errorf("kernel: %w", err)
	}
	spec, err := Spec(bin, command(o.Binary))
	if err != nil {
		return "", fmt.Errorf("kernel: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kernel.json"), spec, 0o644); err != nil {
		return "", fmt.Errorf("kernel: %w", err)
	}
	return dir, nil
}

// command is the command drtmx beside a kernel, "" where there is none. Notebooks start workers with it.
func command(kernel string) string {
	path, err := filepath.Abs(filepath.Join(filepath.Dir(kernel), "drtmx"))
	if err != nil {
		return ""
	}
	if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() {
		return ""
	}
	return path
}

// Spec returns the kernel.json for a kernel binary. command is where the command drtmx is, "" if that is not known.
func Spec(binary, command string) ([]byte, error) {
	spec := map[string]any{
		"argv":           []string{binary, "{connection_file}"},
		"display_name":   "Go (drtmx)",
		"language":       "go",
		"interrupt_mode": "signal",
		"metadata":       map[string]any{"debugger": false},
	}
	if command != "" {
		spec["env"] = map[string]string{"DRTMX_COMMAND": command}
	}
	b, err := json.MarshalIndent(spec, "", " ")
	return append(b, '\n'), err
}

func beside() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("kernel: %w", err)
	}
	name := "drtmx-kernel"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	bin := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(bin); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("kernel: %s does not exist; build it with: go run ./kernel/mkkernel -o %s", bin, bin)
	} else if err != nil {
		return "", fmt.Errorf("kernel: %w", err)
	}
	return bin, nil
}

// dataFolder is Jupyter's data folder, as jupyter --data-dir prints it.
func dataFolder(prefix string) (string, error) {
	if prefix != "" {
		abs, err := filepath.Abs(prefix)
		if err != nil {
			return "", fmt.Errorf("kernel: prefix %s: %w", prefix, err)
		}
		return filepath.Join(abs, "share", "jupyter"), nil
	}
	if d := os.Getenv("JUPYTER_DATA_DIR"); d != "" {
		return d, nil
	}
	if d := os.Getenv("APPDATA"); runtime.GOOS == "windows" && d != "" {
		return filepath.Join(d, "jupyter"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("kernel: %w; say where with --prefix", err)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Jupyter"), nil
	}
	if d := os.Getenv("XDG_DATA_HOME"); d != "" {
		return filepath.Join(d, "jupyter"), nil
	}
	return filepath.Join(home, ".local", "share", "jupyter"), nil
}

// replace copies a program over a file that may be a running program.
func replace(to, from string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(dst.Name()) // gone already when all went well
	_, err = io.Copy(dst, src)
	if err := errors.Join(err, dst.Chmod(0o755), dst.Close()); err != nil {
		return err
	}
	return os.Rename(dst.Name(), to)
}
