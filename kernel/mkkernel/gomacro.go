package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const gomacro = "github.com/cosmos72/gomacro"

// edit replaces text in a file of the interpreter, where it was wrong for a valid Go program.
type edit struct {
	file, old, new string
	times          int    // how often the text occurs, between from and to if they are given
	from, to       string // the function that the text is in, by its first words, and what follows it
	why            string // the program that was wrong
}

// mendGomacro writes the interpreter of the module cache without the errors that edits.go lists to tmp, with the files of
// ours that kernel/mkkernel/fast and dep have, and returns a go.mod that has it. (Its folder has to be there, so that its files are
// not overlaid as those of gophernotes: the assembler is started in it.) Paths are trimmed, so that what is built of it is
// found in the cache at the next build, wherever tmp is then.
func mendGomacro(tmp, root string) (modfile string, err error) {
	dir, err := moduleDir(gomacro)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(tmp, "gomacro")
	if err := copyModule(folder, dir); err != nil {
		return "", err
	}
	for _, e := range edits {
		file := filepath.Join(folder, filepath.FromSlash(e.file))
		b, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		text, err := e.apply(string(b))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	for ours, theirs := range map[string]string{"fast": "fast", "dep": "base/dep"} {
		files, err := filepath.Glob(filepath.Join(root, "kernel", "mkkernel", ours, "drtmx_*.go"))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			if err := copyFile(filepath.Join(folder, filepath.FromSlash(theirs), filepath.Base(file)), file); err != nil {
				return "", err
			}
		}
	}
	return writeModfile(tmp, root, folder)
}

// copyModule copies what a module is built of.
func copyModule(to, from string) error {
	return filepath.WalkDir(from, func(file string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir() && strings.HasPrefix(name, "_"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case name == "go.mod", strings.HasSuffix(name, ".s"), strings.HasSuffix(name, ".h"), strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			return copyFile(filepath.Join(to, rel), file)
		}
		return nil
	})
}

func copyFile(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}

// writeModfile writes our go.mod with the interpreter replaced, and go.sum beside it.
func writeModfile(tmp, root, folder string) (string, error) {
	b, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	if err := copyFile(filepath.Join(tmp, "go.sum"), filepath.Join(root, "go.sum")); err != nil {
		return "", err
	}
	b = fmt.Appendf(b, "\nreplace %s => %s\n", gomacro, strconv.Quote(folder))
	return filepath.Join(tmp, "go.mod"), os.WriteFile(filepath.Join(tmp, "go.mod"), b, 0o644)
}

// apply makes the edit, and fails where the text is not what it was written for.
func (e edit) apply(text string) (string, error) {
	begin, end := 0, len(text)
	if e.from != "" {
		if begin = strings.Index(text, e.from); begin < 0 {
			return "", fmt.Errorf("gomacro's %s has no %q, which an edit begins at", e.file, e.from)
		}
		n := strings.Index(text[begin:], e.to)
		if n < 0 {
			return "", fmt.Errorf("gomacro's %s has no %q behind %q, which an edit ends at", e.file, e.to, e.from)
		}
		end = begin + n
	}
	part := text[begin:end]
	if n := strings.Count(part, e.old); n != e.times {
		return "", fmt.Errorf("gomacro's %s has %q %d times, an edit was written for %d", e.file, e.old, n, e.times)
	}
	return text[:begin] + strings.ReplaceAll(part, e.old, e.new) + text[end:], nil
}

// moduleDir is the folder of a module in the module cache. "go list -m" gives no Dir for one that is not downloaded yet.
func moduleDir(path string) (string, error) {
	b, err := output("", "go", "mod", "download", "-json", path)
	if err != nil {
		return "", err
	}
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(b), &module); err != nil {
		return "", fmt.Errorf("go mod download: %w", err)
	}
	return module.Dir, nil
}
