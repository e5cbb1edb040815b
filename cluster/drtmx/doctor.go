package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/drtmx/kept"
	"drtmx/cluster/runs"
	"drtmx/cluster/web"
	"drtmx/dashboard/charts"
	"drtmx/engine/code"
)

func kernelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kernel",
		Short: "The notebook kernel",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usage("kernel %s: no such command; there is kernel install", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var prefix string
	inst := &cobra.Command{
		Use:   "install",
		Short: "Copy the kernel into Jupyter's data folder",
		Args:  cli.Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			args := []string{"install"}
			if prefix != "" {
				args = []string{"-prefix", prefix, "install"}
			}
			// The kernel is a program of its own and knows how to install itself.
			bin, err := kernelBinary()
			if err != nil {
				return err
			}
			k := exec.CommandContext(cmd.Context(), bin, args...)
			k.Stdout, k.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			if err := k.Run(); err != nil {
				return errors.New("the kernel could not install itself")
			}
			return nil
		},
	}
	inst.Flags().StringVar(&prefix, "prefix", "", "install to `DIR`/share/jupyter instead of for this user")
	cmd.AddCommand(inst)
	return cmd
}

// kernelBinary is where make build puts the kernel: beside this program.
func kernelBinary() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("kernel: %w", err)
	}
	name := kernelName + "-kernel"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	bin := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(bin); err != nil {
		return "", fmt.Errorf("kernel: %s is not there; make build makes it", bin)
	}
	return bin, nil
}

// kernelName is the kernel's name in Jupyter.
const kernelName = "drtmx"

// need is one line of doctor.
type need struct {
	name string
	ok   bool
	must bool // without it drtmx up and run do not work
	what string
	fix  string
	mark string // instead of "missing", for what is there and does not serve
}

// String is its line.
func (n need) String() string {
	mark, fix := "ok", ""
	if !n.ok {
		mark, fix = cmp.Or(n.mark, "missing"), ": "+n.fix
	}
	return fmt.Sprintf("%-7s  %-10s %s%s", mark, n.name, n.what, fix)
}

func doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "What drtmx needs, what is there, and how to fix the rest",
		Args:  cli.Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var broken []string
			for _, n := range needs() {
				if !n.ok && n.must {
					broken = append(broken, n.name)
				}
				fmt.Fprintln(cmd.OutOrStdout(), n)
			}
			if len(broken) > 0 {
				return fmt.Errorf("needed and missing: %s", strings.Join(broken, ", "))
			}
			return nil
		},
	}
}

func needs() []need {
	out := []need{
		{name: "drtmx", ok: true, must: true, what: fmt.Sprintf("code %s, %s, %s/%s, %d cores", code.Build(), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())},
		{name: "charts", ok: charts.HasLibrary(), what: "echarts in this binary, for interactive charts", fix: "install npm and run make build, or use drtmx up --cdn"},
	}
	out = append(out, storeNeed(), portNeed(web.DefaultListen))
	for _, p := range []struct{ name, what, fix string }{
		{"jupyter", "Jupyter, for notebooks", "apt-get install --no-install-recommends jupyter-notebook jupyter-client"},
		{"npm", "fetches echarts at build time", "apt-get install npm, or https://nodejs.org"},
		{"chromium-headless-shell", "the page's tests", "apt-get install chromium-headless-shell"},
		{"qemu-aarch64", "digests of arm64 in the tests", "apt-get install qemu-user"},
	} {
		_, err := exec.LookPath(p.name)
		out = append(out, need{name: p.name, ok: err == nil, what: p.what, fix: p.fix})
	}
	return append(out, kernelNeed(), need{name: "interrupt", ok: true,
		what: "stops a cell of a notebook, but not one that waits for a channel or a lock: restart the kernel then, or select on charts.Context().Done() as well"})
}

func storeNeed() need {
	n := need{name: "store", what: "a file for finished runs", mark: "broken"}
	s, err := runs.Default()
	if err != nil {
		n.fix = cli.Line(err)
		return n
	}
	size, err := s.Size()
	if err != nil {
		n.fix = cli.Line(err)
		return n
	}
	n.ok, n.what = true, fmt.Sprintf("%s, %s, %s: %d points, %d kept runs, %s", n.what, s.Path(), s.Journal(), size.Points, size.Runs, kept.SizeText(size.FileBytes))
	return n
}

func portNeed(address string) need {
	n := need{name: "port", ok: true, what: address + " for the page", mark: "in use", fix: "another program serves it, perhaps a drtmx up; give drtmx up another with --listen 127.0.0.1:0"}
	l, err := net.Listen("tcp", address)
	if err != nil {
		n.ok = false
		return n
	}
	l.Close()
	return n
}

// kernelNeed looks where Jupyter looks by default.
func kernelNeed() need {
	n := need{name: "kernel", what: "the notebook kernel, where Jupyter finds it", fix: "make build, then drtmx kernel install"}
	dirs := filepath.SplitList(os.Getenv("JUPYTER_PATH"))
	if d := os.Getenv("JUPYTER_DATA_DIR"); d != "" {
		dirs = append(dirs, d)
	}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".local/share/jupyter"), filepath.Join(home, "Library/Jupyter"))
	}
	dirs = append(dirs, "/usr/local/share/jupyter", "/usr/share/jupyter")
	for _, d := range dirs {
		dir := filepath.Join(d, "kernels", kernelName)
		if _, err := os.Stat(filepath.Join(dir, "kernel.json")); err == nil {
			n.ok, n.what = true, n.what+", "+dir
			return n
		}
	}
	return n
}
