// Command mkkernel builds the notebook kernel.
//
//	go run ./kernel/mkkernel [-o bin/drtmx-kernel] [-tags TAGS] [-vet]
//
// The kernel is gophernotes with its main.go replaced by the files of
// kernel/gophernotes. Its other files are neither copied nor forked: go build
// -overlay puts them beside ours, out of the module cache. (The reverse, a file
// of ours put into the module cache, is what the go command refuses.) The
// bindings of the packages that notebooks import are made for each build, which
// takes two seconds, and overlaid likewise on kernel/bind. The interpreter itself,
// gomacro, is built with its errors mended: edits.go has them.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const gophernotes = "github.com/gopherdata/gophernotes"

func main() {
	out := flag.String("o", "bin/drtmx-kernel", "kernel `file` to write")
	tags := flag.String("tags", "", "further build `tags`")
	vet := flag.Bool("vet", false, "vet the kernel and build nothing")
	flag.Parse()
	if err := run(*out, *tags, *vet); err != nil {
		fmt.Fprintf(os.Stderr, "mkkernel: %v\n", err)
		os.Exit(1)
	}
}

func run(out, tags string, vet bool) error {
	root, err := output("", "go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return err
	}
	root = strings.TrimSpace(root)
	tmp, err := os.MkdirTemp("", "mkkernel")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	overlay, modfile, err := writeOverlay(tmp, root)
	if err != nil {
		return err
	}
	common := []string{"-trimpath", "-modfile", modfile, "-overlay", overlay, "-tags", strings.Trim("drtmxkernel,"+tags, ",")}
	args := append([]string{"vet", "-unreachable=false"}, common...) // gophernotes has code that is
	if !vet {
		file, err := filepath.Abs(out)
		if err != nil {
			return err
		}
		args = append(append([]string{"build"}, common...), "-ldflags=-s -w", "-pgo="+filepath.Join(root, "cluster/bench/profile.pgo"), "-o", file)
	}
	_, err = output(root, "go", append(args, "./kernel/gophernotes")...)
	return err
}

// writeOverlay tells the go command that gophernotes' files, all but its
// main.go and its tests, lie in our folder, and which go.mod has the interpreter.
func writeOverlay(tmp, root string) (overlay, modfile string, err error) {
	dir, err := moduleDir(gophernotes)
	if err != nil {
		return "", "", err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", "", err
	}
	replace := map[string]string{}
	for _, f := range files {
		name := filepath.Base(f)
		if name == "main.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		ours := filepath.Join(root, "kernel", "gophernotes", name)
		if _, err := os.Stat(ours); err == nil {
			return "", "", fmt.Errorf("%s: gophernotes has a file of this name, too; rename ours", ours)
		}
		replace[ours] = f
	}
	if len(replace) == 0 {
		return "", "", fmt.Errorf("%s: no Go files found in %s", gophernotes, dir)
	}
	if replace[filepath.Join(root, "kernel", "gophernotes", "docs_generated.go")], err = writeDocs(tmp, root); err != nil {
		return "", "", err
	}
	if err := bindings(tmp, root, replace); err != nil {
		return "", "", err
	}
	if modfile, err = mendGomacro(tmp, root); err != nil {
		return "", "", err
	}
	j, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", "", err
	}
	overlay = filepath.Join(tmp, "overlay.json")
	return overlay, modfile, os.WriteFile(overlay, j, 0o644)
}

// bindings makes those of the packages in kernel/bind/packages.txt.
func bindings(tmp, root string, replace map[string]string) error {
	folder, made := filepath.Join(root, "kernel", "bind"), filepath.Join(tmp, "bind")
	if err := os.Mkdir(made, 0o755); err != nil {
		return err
	}
	if _, err := output(root, "go", "run", "./kernel/nbgen", "-list", filepath.Join(folder, "packages.txt"), "-optional", filepath.Join(folder, "optional.txt"), "-o", made, "-p", "bind"); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(made, "*.go"))
	if err != nil {
		return err
	}
	for _, f := range files {
		replace[filepath.Join(folder, filepath.Base(f))] = f
	}
	return nil
}

func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	b, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args[:min(2, len(args))], " "), err)
	}
	return string(b), nil
}
