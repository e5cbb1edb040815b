package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Bug is one that is planted.
type Bug struct {
	Name  string
	Says  string // what is wrong, in a sentence
	Tests []Test // each of which must catch it
	Edits []Edit
}

// Test is one that must catch a bug.
type Test struct {
	Pkg   string // ./engine/explore
	Name  string // as -test.run takes it, with subtests behind slashes
	Shows string // what its output has to have; may be empty
}

func (t Test) String() string { return t.Pkg + " " + t.Name }

// Edit puts one text in the place of another.
type Edit struct {
	File, Old, New string
}

// mark stands for the condition that the bug is chosen.
const mark = "PLANTED"

var nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Trial is a bug and one of its tests.
type Trial struct {
	Bug
	Test
}

// trialsOf are those of bugs. Those of one package's tests are neighbours.
func trialsOf(bugs []Bug) (list []Trial) {
	for _, b := range bugs {
		for _, t := range b.Tests {
			list = append(list, Trial{b, t})
		}
	}
	slices.SortStableFunc(list, func(a, b Trial) int { return strings.Compare(a.Pkg, b.Pkg) })
	return list
}

// readLists reads all lists of a folder.
func readLists(dir string) ([]Bug, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	var all []Bug
	seen := map[string]bool{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		bugs, err := parseList(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
		for _, b := range bugs {
			if seen[b.Name] {
				return nil, fmt.Errorf("%s: %s is in a list already; rename one", filepath.Base(name), b.Name)
			}
			seen[b.Name] = true
		}
		all = append(all, bugs...)
	}
	return all, nil
}

// reading is a list that is being read.
type reading struct {
	bugs []Bug
	into *string // the text that follows, of an edit
}

func parseList(text string) ([]Bug, error) {
	var p reading
	for i, line := range strings.Split(text, "\n") {
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	for i := range p.bugs {
		if err := p.bugs[i].check(); err != nil {
			return nil, fmt.Errorf("%s: %w", p.bugs[i].Name, err)
		}
	}
	return p.bugs, nil
}

// line takes a line: the name of a bug, a field, or text of the edit above, which begins with a tab or is empty.
func (p *reading) line(line string) error {
	if name, ok := strings.CutPrefix(line, "== "); ok {
		p.bugs, p.into = append(p.bugs, Bug{Name: name}), nil
		return nil
	}
	if p.into != nil && (line == "" || line[0] == '\t') {
		*p.into += strings.TrimPrefix(line, "\t") + "\n"
		return nil
	}
	if line == "" || line[0] == '#' {
		return nil
	}
	if len(p.bugs) == 0 {
		return fmt.Errorf("%q is before the first bug; begin with == and its name", line)
	}
	field, value, ok := strings.Cut(line, ":")
	if !ok {
		return fmt.Errorf("%q is no field; text of an edit begins with a tab", line)
	}
	return p.field(field, strings.TrimSpace(value))
}

func (p *reading) field(field, value string) error {
	b := &p.bugs[len(p.bugs)-1]
	p.into = nil
	switch field {
	case "says":
		b.Says = value
	case "test":
		pkg, name, _ := strings.Cut(value, " ")
		b.Tests = append(b.Tests, Test{Pkg: pkg, Name: name})
	case "shows":
		if len(b.Tests) == 0 {
			return fmt.Errorf("shows: is what the output of a test has, and no test is above it")
		}
		b.Tests[len(b.Tests)-1].Shows = value
	case "file":
		b.Edits = append(b.Edits, Edit{File: value})
	case "old", "new":
		if len(b.Edits) == 0 || value != "" {
			return fmt.Errorf("%s: begins an edit's text; a file is above it, and the text on the lines below", field)
		}
		e := &b.Edits[len(b.Edits)-1]
		if e.Old != "" && field == "old" { // a second edit of the same file
			b.Edits = append(b.Edits, Edit{File: e.File})
			e = &b.Edits[len(b.Edits)-1]
		}
		if p.into = &e.Old; field == "new" {
			p.into = &e.New
		}
	default:
		return fmt.Errorf("field %q; use says, test, shows, file, old or new", field)
	}
	return nil
}

// check ends the reading of a bug.
func (b *Bug) check() error {
	marked := false
	for i := range b.Edits {
		e := &b.Edits[i]
		e.Old, e.New = trim(e.Old), trim(e.New)
		if e.Old == "" || e.New == "" {
			return fmt.Errorf("edit of %s: old and new have text", e.File)
		}
		marked = marked || strings.Contains(e.New, mark)
	}
	switch {
	case !nameForm.MatchString(b.Name):
		return fmt.Errorf("a name is of lower-case words and hyphens")
	case b.Says == "" || len(b.Tests) == 0 || len(b.Edits) == 0 || slices.ContainsFunc(b.Tests, func(t Test) bool { return t.Name == "" }):
		return fmt.Errorf("has no sentence, test or edit; give says, test, file, old and new")
	case !marked:
		return fmt.Errorf("no edit depends on the choice; write %s where new code is conditional", mark)
	}
	return nil
}

// trim leaves out the empty lines between an edit and what follows.
func trim(text string) string {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return ""
	}
	return text + "\n"
}
