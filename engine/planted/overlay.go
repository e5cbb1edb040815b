package main

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The overlay has one package that the tree does not have: what the edits ask whether a bug was chosen.
const (
	chosenVariable = "DRTMX_PLANTED"
	switchPackage  = "engine/planted/on"
	switchSource   = `// Package on says which bug was chosen.
package on

import "os"

var chosen = os.Getenv("` + chosenVariable + `")

// Is says that it is this one.
func Is(name string) bool { return name == chosen }
`
)

// plant gives the sources with all edits, by file.
func plant(root string, trials []Trial) (map[string]string, error) {
	edits, had := map[string][]placed{}, map[string]bool{}
	for _, t := range trials {
		if had[t.Bug.Name] {
			continue
		}
		had[t.Bug.Name] = true
		for _, e := range t.Edits {
			edits[e.File] = append(edits[e.File], placed{bug: t.Bug.Name, edit: e})
		}
	}
	sources := map[string]string{switchPackage + "/on.go": switchSource}
	for file, list := range edits {
		source, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", list[0].bug, err)
		}
		if sources[file], err = edited(string(source), list); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return sources, nil
}

// edited makes all edits of one file, in place: numbers of lines change only behind edits that have more of them.
func edited(source string, list []placed) (string, error) {
	for i := range list {
		p := &list[i]
		at := find(source, p.edit.Old)
		if len(at) != 1 {
			return "", fmt.Errorf("%s: its old text is in the file %d times, want once:\n%s", p.bug, len(at), p.edit.Old)
		}
		p.span = at[0]
	}
	slices.SortFunc(list, func(a, b placed) int { return a.from - b.from })
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", source, parser.PackageClauseOnly)
	if err != nil {
		return "", err
	}
	end := set.Position(f.Name.End()).Offset
	var out strings.Builder
	out.WriteString(source[:end])
	if slices.ContainsFunc(list, func(p placed) bool { return strings.Contains(p.edit.New, mark) }) {
		out.WriteString("; import planted \"drtmx/" + switchPackage + "\"")
	}
	for _, p := range list {
		if p.from < end {
			return "", fmt.Errorf("%s: edits text that another edit has, or that is above the package clause", p.bug)
		}
		out.WriteString(source[end:p.from])
		out.WriteString(strings.ReplaceAll(p.edit.New, mark, fmt.Sprintf("planted.Is(%q)", p.bug)))
		end = p.to
	}
	out.WriteString(source[end:])
	return out.String(), nil
}

// placed is an edit of a bug, and where its old text is in the file.
type placed struct {
	bug  string
	edit Edit
	span
}

// span is from a byte of a text up to another one.
type span struct{ from, to int }

// find is where a source has these lines, however they are indented.
func find(source, text string) (at []span) {
	lines, want := strings.SplitAfter(source, "\n"), strings.SplitAfter(text, "\n")
	want = want[:len(want)-1] // behind the last line there is nothing
	from := 0
	for i, line := range lines {
		to, k := from, 0
		for k < len(want) && i+k < len(lines) && strings.TrimLeft(lines[i+k], "\t") == strings.TrimLeft(want[k], "\t") {
			to += len(lines[i+k])
			k++
		}
		if k == len(want) {
			at = append(at, span{from, to})
		}
		from += len(line)
	}
	return at
}

// writeOverlay puts the sources below a folder and returns the file that -overlay takes.
func writeOverlay(root, dir string, sources map[string]string) (string, error) {
	replace := map[string]string{}
	for file, source := range sources {
		to := filepath.Join(dir, "overlay", filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(to, []byte(source), 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(file))] = to
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, text, 0o644)
}
