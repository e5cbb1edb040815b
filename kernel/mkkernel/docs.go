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
	"strconv"
	"strings"
)

// writeDocs writes a Go file with the declarations and comments of the bound
// packages, their types' fields and methods, for the notebook's tooltips
// (Shift-Tab). It is made at every build and not committed: comments change often.
//
// It is one text, name and comment in turn, which the kernel takes apart when a
// tooltip is asked for: statements for some seven thousand names would all run
// at every start.
func writeDocs(tmp, root string) (string, error) {
	list, err := os.ReadFile(filepath.Join(root, "kernel", "bind", "packages.txt"))
	if err != nil {
		return "", err
	}
	args := []string{"list", "-f", "{{.ImportPath}}\t{{.Dir}}\t{{join .GoFiles \"\\t\"}}"}
	for line := range strings.Lines(string(list)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			args = append(args, line)
		}
	}
	packages, err := output(root, "go", args...)
	if err != nil {
		return "", err
	}
	d := docWriter{fset: token.NewFileSet()}
	for line := range strings.Lines(packages) {
		p := strings.Split(strings.TrimSpace(line), "\t")
		if err := d.add(p[0], p[1], p[2:]); err != nil {
			return "", err
		}
	}
	file := filepath.Join(tmp, "docs.go")
	text := "//go:build drtmxkernel\n\npackage main\n\nfunc init() { docsText = " + strconv.Quote(d.out.String()) + " }\n"
	return file, os.WriteFile(file, []byte(text), 0o644)
}

// docWriter collects names and what is known of them, each with a zero byte behind it.
type docWriter struct {
	fset *token.FileSet
	out  strings.Builder
}

// add writes what a package exports.
func (w *docWriter) add(path, dir string, names []string) error {
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(w.fset, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	p, err := doc.NewFromFiles(w.fset, files, path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	w.put(path, "", p.Doc)
	w.values(path, p.Consts)
	w.values(path, p.Vars)
	w.funcs(path, p.Funcs)
	for _, t := range p.Types {
		w.values(path, t.Consts)
		w.values(path, t.Vars)
		w.funcs(path, t.Funcs)
		w.funcs(path+"."+t.Name, t.Methods)
		for _, s := range t.Decl.Specs {
			if s, ok := s.(*ast.TypeSpec); ok && s.Name.Name == t.Name {
				w.typ(path+"."+t.Name, s, t.Doc)
			}
		}
	}
	return nil
}

// put writes a declaration and its comment.
func (w *docWriter) put(name, decl, text string) {
	text = strings.TrimSpace(decl + "\n\n" + strings.TrimSpace(text))
	w.out.WriteString(name + "\x00" + strings.ReplaceAll(text, "\x00", "") + "\x00")
}

// code is a part of a package as it is written.
func (w *docWriter) code(node any) string {
	var b bytes.Buffer
	if err := format.Node(&b, w.fset, node); err != nil {
		return ""
	}
	return b.String()
}

func (w *docWriter) funcs(prefix string, list []*doc.Func) {
	for _, f := range list {
		f.Decl.Body, f.Decl.Doc = nil, nil
		w.put(prefix+"."+f.Name, strings.Join(strings.Fields(w.code(f.Decl)), " "), f.Doc)
	}
}

// values are constants and variables.
func (w *docWriter) values(path string, list []*doc.Value) {
	for _, v := range list {
		for _, s := range v.Decl.Specs {
			s, ok := s.(*ast.ValueSpec)
			if !ok {
				continue
			}
			text := strings.TrimSpace(s.Doc.Text() + s.Comment.Text())
			if text == "" {
				text = v.Doc
			}
			for i, name := range s.Names {
				decl := v.Decl.Tok.String() + " " + name.Name
				if s.Type != nil {
					decl += " " + w.code(s.Type)
				}
				if v.Decl.Tok == token.CONST && i < len(s.Values) {
					decl += " = " + w.code(s.Values[i])
				}
				w.put(path+"."+name.Name, decl, text)
			}
		}
	}
}

// typ writes a type; its fields, which the kernel lists with their types, by themselves.
func (w *docWriter) typ(name string, s *ast.TypeSpec, text string) {
	st, ok := s.Type.(*ast.StructType)
	if !ok {
		s.Doc, s.Comment = nil, nil
		w.put(name, "type "+w.code(s), text)
		return
	}
	w.put(name, "type "+s.Name.Name+" struct", text)
	for _, f := range st.Fields.List {
		text := strings.TrimSpace(f.Doc.Text() + f.Comment.Text())
		for _, field := range f.Names {
			if text != "" && field.IsExported() {
				w.put(name+"."+field.Name, "", text)
			}
		}
	}
}
