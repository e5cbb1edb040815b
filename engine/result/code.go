package result

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"drtmx"
)

// executed are the modules whose code a run goes through, besides this one and Go's own library.
// A test derives the list from what the engine imports.
var executed = []string{
	"github.com/HdrHistogram/hdrhistogram-go",
	"golang.org/x/sys",
	"gopkg.in/yaml.v3",
}

// neverRun are packages that no run goes through: what runs many of them, and what is for benchmarks.
var neverRun = []string{"engine/batch", "engine/example", "engine/explore", "engine/sim/cputime", "xstore/model/compare"}

// CodeVersion identifies what a run executes, whatever built the binary: command, notebook kernel or
// test, from a clean or a changed tree. It covers the source of all packages that the engine imports,
// the hardware profiles, and the versions of other modules. The release of Go and the platform are no
// part of it: no result depends on them, which the golden digests hold on two architectures.
func CodeVersion() string { return codeVersion() }

var codeVersion = sync.OnceValue(func() string {
	version, err := codeOf(drtmx.Source)
	if err != nil {
		panic("engine: code version: " + err.Error()) // the text is a part of the binary
	}
	return version
})

// CodeWith is CodeVersion together with the source of a package that no run goes through: the version of what
// it computes from the same models.
func CodeWith(pkg string) string {
	h := sha256.New()
	fmt.Fprintln(h, CodeVersion()) // a hash does not fail
	err := fs.WalkDir(drtmx.Source, pkg, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(drtmx.Source, name)
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
		return err
	})
	if err != nil {
		panic("engine: code version: " + err.Error()) // the text is a part of the binary
	}
	return "src-" + hex.EncodeToString(h.Sum(nil))[:16]
}

func codeOf(tree fs.FS) (string, error) {
	h := sha256.New()
	if err := hashModules(h, tree); err != nil {
		return "", err
	}
	names, err := codeFiles(tree)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text) // a hash does not fail
	}
	return "src-" + hex.EncodeToString(h.Sum(nil))[:16], nil
}

// codeFiles are the files that are not tests, nor of a package for tests, in the order of their names.
func codeFiles(tree fs.FS) (names []string, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if strings.HasSuffix(name, "test") || slices.Contains(neverRun, name) {
				return fs.SkipDir
			}
		case !strings.HasSuffix(name, "_test.go") && strings.Contains(name, "/"):
			names = append(names, name)
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// hashModules folds in the lines of go.mod and go.sum about the executed modules: their versions and
// the sums of their files. The version of the language is one of them.
func hashModules(h io.Writer, tree fs.FS) error {
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
			if len(words) > 1 && (words[0] == "go" || slices.Contains(executed, words[0])) {
				fmt.Fprintln(h, strings.Join(words, " "))
			}
		}
	}
	return nil
}
