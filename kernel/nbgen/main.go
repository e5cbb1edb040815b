// Command nbgen writes what the notebook's interpreter must know of a compiled
// package: its functions, types, constants and variables, and a proxy for each
// interface, with which types written in a notebook implement it.
//
//	nbgen -list packages.txt -optional optional.txt -o . -p bind
//
// The list names one package per line; "#" starts a comment.
//
// gomacro has a generator of its own, which cannot read the export data of
// today's Go, knows no modules and stops at generic declarations. This one
// reads what "go list -export" leaves in the build cache and leaves generic
// functions and types out, for the interpreter cannot use them.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("nbgen: ")
	list := flag.String("list", "packages.txt", "`file` that names the packages")
	optional := flag.String("optional", "optional.txt", "`file` that names what compiled code may ask of the values of an interface")
	out := flag.String("o", ".", "`folder` to write to; its old bind_*.go files are removed")
	pkg := flag.String("p", "bind", "package `name` of the generated files")
	flag.Parse()
	paths, err := readList(*list)
	if err != nil {
		log.Fatal(err)
	}
	asked, err := readOptional(*optional)
	if err != nil {
		log.Fatal(err)
	}
	files, err := generateAll(paths, *pkg, asked)
	if err != nil {
		log.Fatal(err)
	}
	if err := replaceFiles(*out, files); err != nil {
		log.Fatal(err)
	}
}

func readList(file string) ([]string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var paths []string
	for line := range strings.Lines(string(b)) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			paths = append(paths, line)
		}
	}
	return paths, nil
}

// replaceFiles writes the files and removes those of packages that are no
// longer in the list.
func replaceFiles(dir string, files map[string][]byte) error {
	old, err := filepath.Glob(filepath.Join(dir, "bind_*.go"))
	if err != nil {
		return err
	}
	for _, f := range old {
		if files[filepath.Base(f)] == nil {
			if err := os.Remove(f); err != nil {
				return err
			}
		}
	}
	for name, src := range files {
		if err := os.WriteFile(filepath.Join(dir, name), src, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generateAll returns the generated files by name.
func generateAll(paths []string, pkgname string, asked map[string][]string) (map[string][]byte, error) {
	exports, err := listExports(paths)
	if err != nil {
		return nil, err
	}
	imp := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		f := exports[path]
		if f == "" {
			return nil, fmt.Errorf("no export data for %q", path)
		}
		return os.Open(f)
	})
	named := func(name string) (*types.TypeName, error) {
		dot := strings.LastIndexByte(name, '.')
		p, err := imp.Import(name[:max(dot, 0)])
		if err != nil {
			return nil, err
		}
		t, ok := p.Scope().Lookup(name[dot+1:]).(*types.TypeName)
		if !ok {
			return nil, fmt.Errorf("%s is no type", name)
		}
		return t, nil
	}
	more := map[string]map[string][]*types.TypeName{} // by package and name
	for name, list := range asked {
		of, err := named(name)
		if err != nil {
			return nil, err
		}
		for _, x := range list {
			t, err := named(x)
			if err != nil {
				return nil, err
			}
			byName := more[of.Pkg().Path()]
			if byName == nil {
				byName = map[string][]*types.TypeName{}
				more[of.Pkg().Path()] = byName
			}
			byName[of.Name()] = append(byName[of.Name()], t)
		}
	}
	files := map[string][]byte{}
	for _, path := range paths {
		p, err := imp.Import(path)
		if err != nil {
			return nil, err
		}
		src, err := generate(p, path, pkgname, more[path])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if src == nil {
			return nil, fmt.Errorf("%s: has nothing to bind (all generic?); take it off the list", path)
		}
		files["bind_"+slug(path)+".go"] = src
	}
	return files, nil
}

// slug turns an import path into part of a Go name.
func slug(path string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, path)
}

// listExports maps the packages and all that they import to files with their
// export data.
func listExports(paths []string) (map[string]string, error) {
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, paths...)...)
	cmd.Stderr = os.Stderr
	b, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	m := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(b)); ; {
		var x struct{ ImportPath, Export string }
		if err := dec.Decode(&x); errors.Is(err, io.EOF) {
			return m, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		m[x.ImportPath] = x.Export
	}
}
