package engine

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"sort"
	"strings"
	"sync"
)

// The source of this room and of those below it, so that a run knows what computed it whatever
// built the binary: command, notebook kernel or test, from a clean or a changed tree. The numbers of
// the hardware profiles are part of it.
//
//go:embed *.go */*.go */*/*.go fabric/profiles/*.yaml
var source embed.FS

// CodeVersion identifies the simulator's source: equal for equal source, "dev" when there is none.
func CodeVersion() string { return codeVersion() }

var codeVersion = sync.OnceValue(func() string {
	h, n := sha256.New(), 0
	var files []string
	err := fs.WalkDir(source, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(path, "_test.go") {
			files = append(files, path)
		}
		return err
	})
	sort.Strings(files)
	for _, path := range files {
		text, readErr := source.ReadFile(path)
		if readErr != nil {
			err = readErr
			break
		}
		fmt.Fprintf(h, "%s %d\n", path, len(text))
		h.Write(text)
		n++
	}
	if err != nil || n == 0 {
		return "dev"
	}
	return "src-" + hex.EncodeToString(h.Sum(nil))[:16]
})
