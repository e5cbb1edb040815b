//go:build drtmxkernel

package main

import (
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	interp "github.com/cosmos72/gomacro/fast"
)

// complete answers with the names that begin as the one at the cursor does. The cursor is counted
// in characters, as all positions of the protocol; the interpreter counts bytes.
func (s *session) complete(m msgReceipt) {
	text, _ := m.content()["code"].(string)
	pos, _ := m.content()["cursor_pos"].(float64)
	code := []rune(text)
	at := max(0, min(int(pos), len(code)))
	before := string(code[:at])
	var head string
	var matches []string
	if plainChain.MatchString(before) && cursorIn(before).text < 0 { // it knows the fields of a notebook's own types too
		head, matches = s.shallow(before)
	}
	if len(matches) == 0 {
		head, matches = s.deeper(before)
	}
	if len(matches) == 0 && cursorIn(before).text < 0 {
		head, matches = s.shallow(before)
	}
	if len(matches) == 0 {
		head, matches = before, []string{}
	}
	m.answer("complete_reply", map[string]any{
		"status": "ok", "matches": matches, "metadata": map[string]any{},
		"cursor_start": utf8.RuneCountInString(head), "cursor_end": at,
	})
}

// shallow completes what the interpreter does: names, and members of names.
func (s *session) shallow(before string) (head string, matches []string) {
	head, matches, _ = s.kernel.ir.CompleteWords(before, len(before))
	return head, slices.DeleteFunc(matches, s.hidden(head))
}

// hidden is true for names that follow head and that a user cannot mean: the kernel's own, and what
// a package keeps to itself.
func (s *session) hidden(head string) func(name string) bool {
	of, member := strings.CutSuffix(head, ".")
	foreign := false
	if member {
		r := []rune(of)
		n := s.compile(wordAt(r, len(r)))
		foreign = n != nil && n.path != "" && n.path != "main" // the notebook itself is main
	}
	return func(name string) bool {
		return strings.HasPrefix(name, guard) || foreign && !token.IsExported(name)
	}
}

// named is what a name in a notebook stands for.
type named struct {
	text      string // its type
	path, typ string // package path, and the type's name
}

func (n *named) isPackage() bool { return n.typ == "" && n.path != "" }

// compile looks a name up; nil if there is none.
func (s *session) compile(word string) (n *named) {
	defer func() {
		if recover() != nil { // the interpreter's way to say that it does not compile
			n = nil
		}
	}()
	e := s.kernel.ir.Compile(word)
	if e == nil {
		return nil
	}
	if imp, ok := e.Value.(*interp.Import); ok {
		return &named{text: "package " + strconv.Quote(imp.Path), path: imp.Path}
	}
	if e.Type == nil {
		return nil
	}
	t := e.Type
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	return &named{text: shortNames(e.Type.String()), path: t.PkgPath(), typ: t.Name()}
}

var importPath = regexp.MustCompile(`[\w.-]+/|\bmain\.`)

// shortNames writes types as Go code does: *charts.Chart, without the path, and the notebook's own by their names alone.
func shortNames(text string) string { return importPath.ReplaceAllString(text, "") }

// wordAt is the name, with what it is selected from, around a position.
func wordAt(code []rune, pos int) string {
	ok := func(r rune) bool {
		return r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	pos = max(0, min(pos, len(code)))
	i, j := pos, pos
	for i > 0 && ok(code[i-1]) {
		i--
	}
	for j < len(code) && ok(code[j]) && code[j] != '.' {
		j++
	}
	return strings.Trim(string(code[i:j]), ".")
}
