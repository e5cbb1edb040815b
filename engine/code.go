package engine

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"sort"
	"strings"
	"sync"

	"drtmx/rdpma/nvm"
)

// The source of this room and of those below it (that of rdpma/nvm it brings itself), so that a run knows what computed it whatever
// built the binary: command, notebook kernel or test, from a clean or a changed tree. The numbers of
// the hardware profiles are part of it.
//
//go:embed *.go */*.go */*/*.go fabric/profiles/*.yaml
var source embed.FS

// CodeVersion identifies the simulator's source: equal for equal source, "dev" when there is none.
func CodeVersion() string { return codeVersion() }

var codeVersion = sync.OnceValue(func() string {
	h := sha256.New()
	for _, tree := range []embed.FS{source, nvm.Source} {
		if n, err := hashTree(h, tree); err != nil || n == 0 {
			return "dev"
		}
	}
	return "src-" + hex.EncodeToString(h.Sum(nil))[:16]
})

// hashTree folds in the files that are not tests, nor of a package for tests, in the order of their names.
func hashTree(h io.Writer, tree embed.FS) (files int, err error) {
	var names []string
	err = fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasSuffix(path, "test") {
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() && !strings.HasSuffix(path, "_test.go") {
			names = append(names, path)
		}
		return err
	})
	sort.Strings(names)
	for _, path := range names {
		text, err := tree.ReadFile(path)
		if err != nil {
			return 0, err
		}
		fmt.Fprintf(h, "%s %d\n%s", path, len(text), text) // a hash does not fail
	}
	return len(names), err
}
