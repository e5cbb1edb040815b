//go:build drtmxkernel

package main

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/cosmos72/gomacro/imports"
	"github.com/cosmos72/gomacro/xreflect"

	"drtmx/engine/knob"
)

// cursor is where in a cell's code the cursor is: within a string that began at text, or -1, and within brackets that are open.
type cursor struct {
	text int
	open []int
}

// cursorIn reads the code before the cursor.
func cursorIn(before string) cursor {
	p := cursor{text: -1}
	for i := 0; i < len(before); i++ {
		c := before[i]
		switch {
		case p.text >= 0 && c == '\\' && before[p.text] != '`':
			i++
		case p.text >= 0:
			if c == before[p.text] || c == '\n' && before[p.text] != '`' {
				p.text = -1
			}
		case c == '"' || c == '`' || c == '\'':
			p.text = i
		case strings.HasPrefix(before[i:], "//"):
			if n := strings.IndexByte(before[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(before)
			}
		case strings.IndexByte("({[", c) >= 0:
			p.open = append(p.open, i)
		case strings.IndexByte(")}]", c) >= 0 && len(p.open) > 0:
			p.open = p.open[:len(p.open)-1]
		}
	}
	return p
}

var (
	wantsKnob  = regexp.MustCompile(`(\.(Set|Knob)\(|\bAxis\{(Knob:)?|\bKnobs\{([^{}]*,)?)\s*$`)
	wantsValue = regexp.MustCompile(`"([\w.]+)"\s*[:,]\s*(Values:\s*)?(\[\]\w+\{\s*("[^"]*"\s*,\s*)*)?$`)
	wantsField = regexp.MustCompile(`\b(Preset|Workload)\s*:\s*$`)
	plainChain = regexp.MustCompile(`(^|[^\w.)\]}])[\w.]+\.\w*$`)
	lastColumn = regexp.MustCompile(`[\w.]*$`)
	lastWord   = regexp.MustCompile(`\w*$`)
)

// deeper completes what the interpreter does not: knobs and their values in strings, fields in literals, and the members of what a
// call, an index or a field gives. head is the code before what is completed.
func (s *session) deeper(before string) (head string, matches []string) {
	p := cursorIn(before)
	if p.text >= 0 {
		if columns := s.columnsInQuery(before[:p.text], p); columns != nil {
			word := lastColumn.FindString(before[p.text+1:])
			return strings.TrimSuffix(before, word), beginning(word, columns)
		}
		head = before[:p.text+1]
		return head, beginning(before[len(head):], append(knobWords(before[:p.text]), s.namesIn(before[:p.text], p)...))
	}
	word := lastWord.FindString(before)
	head = strings.TrimSuffix(before, word)
	if of, member := strings.CutSuffix(head, "."); member {
		return head, beginning(word, s.members(operand(of)))
	}
	if n := len(p.open) - 1; n >= 0 && before[p.open[n]] == '{' {
		element := strings.TrimSpace(head[p.open[n]+1:])
		typ := operand(strings.TrimRight(before[:p.open[n]], " "))
		if typ != "" && (element == "" || strings.HasSuffix(element, ",")) {
			return head, beginning(word, fieldNames(s.typeOf(typ+"{}")))
		}
	}
	return head, nil
}

func beginning(prefix string, names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) })
}

// knobWords are what a string behind this code may be: a knob, or a value of one.
func knobWords(before string) (names []string) {
	name := ""
	if m := wantsField.FindStringSubmatch(before); m != nil {
		name = strings.ToLower(m[1])
	} else if m := wantsValue.FindStringSubmatch(before); m != nil && !wantsKnob.MatchString(before) {
		name = m[1]
	}
	if row := knob.Find(name); row != nil {
		return slices.Clone(row.Choices)
	}
	if wantsKnob.MatchString(before) {
		for _, row := range knob.Rows() {
			names = append(names, row.Name)
		}
		slices.Sort(names)
	}
	return names
}

// operand is the expression that ends the code: names with what they are called with and indexed by.
func operand(code string) string {
	i := len(code)
	for i > 0 {
		c := code[i-1]
		switch {
		case c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			i--
			continue
		case strings.IndexByte(")]}", c) >= 0:
			if open := opening(code[:i]); open >= 0 {
				i = open
				continue
			}
		}
		break
	}
	return code[i:]
}

// opening is where the bracket that ends the code was opened, -1 if it was not.
func opening(code string) int {
	open := cursorIn(code[:len(code)-1]).open
	if len(open) == 0 {
		return -1
	}
	return open[len(open)-1]
}

// typeOf is the type of an expression, which is compiled and not run; nil if it does not compile.
func (s *session) typeOf(expression string) (t reflect.Type) {
	_ = recovered(func() error { // gomacro panics where it does not compile
		if e := s.kernel.ir.Compile(expression); e != nil && e.Type != nil {
			t = reflected(e.Type)
		}
		return nil
	})
	return t
}

// reflected is the type as it was compiled. For a type that has itself in it, as a spec has specs, gomacro has but a placeholder.
func reflected(t xreflect.Type) reflect.Type {
	if r, ok := imports.Packages[t.PkgPath()].Types[t.Name()]; ok {
		return r
	}
	if t.Name() == "" && t.Kind() == reflect.Pointer {
		return reflect.PointerTo(reflected(t.Elem()))
	}
	if t.Name() == "" && t.Kind() == reflect.Slice {
		return reflect.SliceOf(reflected(t.Elem()))
	}
	return t.ReflectType()
}

// members are the fields and methods of an expression.
func (s *session) members(expression string) (names []string) {
	return membersOf(s.typeOf(expression))
}

// membersOf are the fields and methods of values of a type, none if it is nil.
func membersOf(t reflect.Type) (names []string) {
	if t == nil {
		return nil
	}
	with := t
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
		with = reflect.PointerTo(t)
	}
	for i := range with.NumMethod() {
		names = append(names, with.Method(i).Name)
	}
	names = append(names, fieldNames(t)...)
	slices.Sort(names)
	return slices.Compact(names)
}

func fieldNames(t reflect.Type) (names []string) {
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		// So the interpreter calls fields that are not exported or embedded.
		name := strings.TrimPrefix(strings.TrimPrefix(f.Name, xreflect.StrGensymPrivate), xreflect.StrGensymAnonymous)
		if f.IsExported() && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
