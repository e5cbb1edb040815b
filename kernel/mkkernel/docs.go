package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// writeDocs writes a Go file with the declarations and comments of this
// module's bound packages, for the notebook's tooltips (Shift-Tab). It is made
// at every build and not committed: comments change often.
func writeDocs(tmp, root string) (string, error) {
	list, err := os.ReadFile(filepath.Join(root, "kernel", "bind", "packages.txt"))
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	b.WriteString("//go:build drtmxkernel\n\npackage main\n\nfunc init() {\n")
	for path := range strings.FieldsSeq(string(list)) {
		if dir, ok := strings.CutPrefix(path, "drtmx/"); ok {
			if err := packageDocs(&b, filepath.Join(root, filepath.FromSlash(dir)), path); err != nil {
				return "", err
			}
		}
	}
	b.WriteString("}\n")
	file := filepath.Join(tmp, "docs.go")
	return file, os.WriteFile(file, b.Bytes(), 0o644)
}

func packageDocs(b *bytes.Buffer, dir, path string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	p, err := doc.NewFromFiles(fset, files, path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	put := func(name string, decl ast.Node, text string) {
		var d bytes.Buffer
		if format.Node(&d, fset, decl) == nil {
			fmt.Fprintf(b, "\tdocs[%q] = %q\n", name, strings.TrimSpace(d.String()+"\n\n"+text))
		}
	}
	funcs := func(prefix string, list []*doc.Func) {
		for _, f := range list {
			f.Decl.Body, f.Decl.Doc = nil, nil
			put(prefix+f.Name, f.Decl, f.Doc)
		}
	}
	fmt.Fprintf(b, "\tdocs[%q] = %q\n", path, strings.TrimSpace(p.Doc))
	funcs(path+".", p.Funcs)
	for _, t := range p.Types {
		t.Decl.Doc = nil
		put(path+"."+t.Name, t.Decl, t.Doc)
		funcs(path+".", t.Funcs)
		funcs(path+"."+t.Name+".", t.Methods)
	}
	return nil
}
