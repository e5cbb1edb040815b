package code

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"drtmx"
	"drtmx/engine/experiment"
	"drtmx/engine/knob"
)

// executed are the modules whose code a run goes through, besides this one and Go's own library.
// A test derives the list from what the engine imports.
var executed = []string{
	"golang.org/x/sys",
	"gopkg.in/yaml.v3",
}

// Of is the version of what a system with these resolved values can execute.
func Of(v knob.Values) string { return must(source().of(v)) }

// Known is false where a part is of a notebook's cell: no version says what code that is, and a function of the cell may be another one at any time.
func Known(v knob.Values) bool {
	return !slices.ContainsFunc(chosen(v), func(pkg string) bool { return pkg == interpreted || pkg == proxies })
}

// The packages that stand for code of a cell: what reflect makes functions of, and the types with which a cell's implement interfaces.
const (
	interpreted = "reflect"
	proxies     = "kernel/bind"
)

// Build is the version of all that this program can run: the base, all parts and all profiles.
func Build() string { return source().build() }

// OfPackage is the version of a package of this module that computes without a run, and of all that it imports.
func OfPackage(pkg string) string {
	s := source()
	return must(s.hash(s.closure(pkg), s.modules))
}

// Join is the version of what came from several: itself where all are equal, "" of none.
func Join(versions ...string) string {
	v := slices.Clone(versions)
	slices.Sort(v)
	switch v = slices.Compact(v); len(v) {
	case 0:
		return ""
	case 1:
		return v[0]
	}
	return fmt.Sprintf("src-%x", sha256.Sum256([]byte(strings.Join(v, " "))))[:len("src-")+16]
}

// must is for the text in the binary, which was compiled from the same files.
func must(version string, err error) string {
	if err != nil {
		panic("engine/code: " + err.Error())
	}
	return version
}

// versions are those of a source tree.
type versions struct {
	*graph
	modules string
	base    []string // packages
	baseID  string   // since when the base behaves as it does

	mu    sync.Mutex
	known map[string]string // by parts and profiles
	build func() string
}

var source = sync.OnceValue(func() *versions {
	s, err := open(drtmx.Source)
	if err != nil {
		panic("engine/code: " + err.Error())
	}
	return s
})

func open(tree fs.FS) (*versions, error) {
	g, err := read(tree)
	if err != nil {
		return nil, err
	}
	s := &versions{graph: g, known: map[string]string{}, base: g.closure(root)}
	if s.modules, err = modules(tree); err != nil {
		return nil, err
	}
	base, err := s.baseHash()
	if err != nil {
		return nil, err
	}
	s.baseID = proven().since(base)
	s.build = sync.OnceValue(func() string {
		files, err := fs.Glob(tree, profiles+"/*.yaml")
		if err != nil {
			panic("engine/code: " + err.Error()) // the pattern is right
		}
		for i, f := range files {
			files[i] = strings.TrimSuffix(path.Base(f), ".yaml")
		}
		return must(s.version(g.parts, files))
	})
	return s, nil
}

// baseHash is one of the base's text alone.
func (s *versions) baseHash() (string, error) { return s.hash(s.base, s.modules) }

func (s *versions) of(v knob.Values) (string, error) {
	return s.version(chosen(v), []string{v.Text("profile")})
}

// version is that of the base with parts, which are packages, and with profiles, which are names.
func (s *versions) version(parts, names []string) (string, error) {
	parts, names = slices.Clone(parts), slices.Clone(names)
	slices.Sort(parts)
	slices.Sort(names)
	parts, names = slices.Compact(parts), slices.Compact(names)
	key := fmt.Sprint(parts, names)
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.known[key]; ok {
		return v, nil
	}
	more := []string{s.baseID}
	for _, name := range names {
		text, err := s.profile(name)
		if err != nil {
			return "", err
		}
		more = append(more, name, text)
	}
	if slices.ContainsFunc(parts, func(p string) bool { return s.nodes[p] == nil }) {
		program, err := programHash()
		if err != nil {
			return "", err
		}
		more = append(more, program)
	}
	own := slices.DeleteFunc(s.closure(parts...), func(dir string) bool { return slices.Contains(s.base, dir) })
	v, err := s.hash(own, more...)
	if err == nil {
		s.known[key] = v
	}
	return v, err
}

// profile is the text of a shipped hardware profile.
func (s *versions) profile(name string) (string, error) {
	text, err := fs.ReadFile(s.tree, path.Join(profiles, name+".yaml"))
	return string(text), err
}

// modules are the lines of go.mod and go.sum about the executed modules: their versions and the sums of their files. The
// version of the language is one of them.
func modules(tree fs.FS) (string, error) {
	var out strings.Builder
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
			if len(words) > 1 && (words[0] == "go" || slices.Contains(executed, words[0])) {
				fmt.Fprintln(&out, strings.Join(words, " "))
			}
		}
	}
	return out.String(), nil
}

// programHash is that of the program's file.
var programHash = sync.OnceValues(func() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return fmt.Sprintf("%x", h.Sum(nil)), err
})

// chosen are the packages of the parts that resolved values choose.
func chosen(v knob.Values) []string {
	w := experiment.Workloads.Of(v)
	out := []string{packageOf(w.Build)}
	if w.Transactions {
		out = append(out, packageOf(experiment.Protocols.Of(v).Config), typePackage(experiment.Stores.Of(v)), packageOf(experiment.LogOf(v).Open))
	}
	if k := experiment.Schemes.Of(v); k != nil && w.Transactions {
		out = append(out, packageOf(k.Open))
	}
	if k := experiment.Ordered.Of(v); k != nil && (w.Ordered || w.Indexes) {
		if k.Open != nil {
			out = append(out, packageOf(k.Open))
		} else {
			out = append(out, packageOf(k.Indexes))
		}
	}
	return out
}

// packageOf is the path in this module of the package that a function stands in, the whole path of a package outside.
func packageOf(function any) string {
	name := runtime.FuncForPC(reflect.ValueOf(function).Pointer()).Name()
	i := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[i:], '.')
	return strings.TrimPrefix(name[:i+dot], module)
}

func typePackage(x any) string {
	t := reflect.TypeOf(x)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return strings.TrimPrefix(t.PkgPath(), module)
}
