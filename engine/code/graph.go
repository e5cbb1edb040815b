package code

import (
	"crypto/sha256"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Packages of the module, by their paths in it.
const (
	module = "drtmx/"
	root   = "engine"                     // what runs a system
	list   = "engine/experiment/parts.go" // the list of parts: what it imports is no part of the base

	profiles = "engine/fabric/profile" // where the hardware profiles are, a YAML file each
)

// node is a package: what it imports of this module, and its text.
type node struct {
	imports []string
	files   []string // of all build constraints, without tests
}

// graph is the packages of a source tree.
type graph struct {
	tree  fs.FS
	nodes map[string]*node
	parts []string // packages that the list of parts imports
}

func read(tree fs.FS) (*graph, error) {
	g := &graph{tree: tree, nodes: map[string]*node{}}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") || !strings.Contains(name, "/") {
			return err
		}
		return g.add(name)
	})
	return g, err
}

// add enters a file. What is not Go, as assembly, is a part of its directory's package.
func (g *graph) add(name string) error {
	dir := path.Dir(name)
	if dir == profiles && path.Ext(name) == ".yaml" {
		return nil // hashed by name
	}
	n := g.nodes[dir]
	if n == nil {
		n = &node{}
		g.nodes[dir] = n
	}
	n.files = append(n.files, name)
	if path.Ext(name) != ".go" {
		return nil
	}
	text, err := fs.ReadFile(g.tree, name)
	if err != nil {
		return err
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
	if err != nil {
		return err
	}
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		to, inside := strings.CutPrefix(imported, module)
		switch {
		case !inside:
		case name == list:
			g.parts = append(g.parts, to)
		default:
			n.imports = append(n.imports, to)
		}
	}
	return nil
}

// closure is all that packages import, directly or not, themselves included, in order.
func (g *graph) closure(roots ...string) (out []string) {
	seen := map[string]bool{}
	for todo := slices.Clone(roots); len(todo) > 0; {
		dir := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n := g.nodes[dir]; n != nil && !seen[dir] {
			seen[dir], out = true, append(out, dir)
			todo = append(todo, n.imports...)
		}
	}
	slices.Sort(out)
	return out
}

// hash is one of the text of packages, in the order of their names, and of what else is given.
func (g *graph) hash(dirs []string, more ...string) (string, error) {
	h := sha256.New()
	for _, dir := range dirs {
		for _, name := range g.nodes[dir].files { // WalkDir goes in the order of names
			text, err := fs.ReadFile(g.tree, name)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%s %d\n%s", name, len(text), text) // a hash does not fail
		}
	}
	for _, s := range more {
		fmt.Fprintln(h, s)
	}
	return fmt.Sprintf("src-%x", h.Sum(nil)[:8]), nil
}
