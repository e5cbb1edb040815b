//go:build drtmxkernel

package main

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/cosmos72/gomacro/imports"

	"drtmx/engine/knob"
)

var (
	errorPlace = regexp.MustCompile(`^cell \[\d+\]:(\d+):(\d+): `)
	noMember   = regexp.MustCompile(`()not a package: "\w+" in (\w+)\.(\w+) <.*>`)
	noField    = regexp.MustCompile(`type (\S+) has no field or method "\w+": (.+)\.(\w+)$`)
	noName     = regexp.MustCompile(`not a type: (\w+)\.(\w+) <\*ast\.SelectorExpr>`)
	noLiteral  = regexp.MustCompile(`unknown field '(\w+)' in struct literal of type (\S+)`)
	tooMany    = regexp.MustCompile(`Field\(\d+\) out of bounds, struct type has (\d+) fields: (\S+)`)
	noPackage  = regexp.MustCompile(`undefined "(\w+)" in \S+ <.*>`)
	undefined  = regexp.MustCompile(`undefined identifier: (\w+)$`)
	noValue    = regexp.MustCompile(`cannot convert untyped constant \{(\w+) (.*)\} to <(\S+)>`)
	noDuration = regexp.MustCompile(`cannot convert untyped constant \{string (".*")\} to <time\.Duration>`)
	sameNames  = regexp.MustCompile(`cannot (?:assign|convert|use|return).*?<\*?main\.(\w+)> (?:to|as) <\*?main\.(\w+)>|incompatible types in assignment: \*?main\.(\w+) = \*?main\.(\w+)`)
	nilField   = regexp.MustCompile(`reflect: call of reflect\.Value\.(Field|Method|Set\w*|Elem|Interface) on zero Value`)
	arguments  = regexp.MustCompile(`arguments in call to (\S+):\s+have (\(.*\))\s+want (\(.*\))`)
)

// lacks is what the interpreter refuses of Go, by its message, and what to write instead.
var lacks = []struct {
	message *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`expected '\(', found '\['|expected '\]', found 'IDENT'|for instantiation|after '~'`), "the kernel has no generics: write the function or type for each of its types"},
	{regexp.MustCompile(`undefined identifier: (min|max)$`), "the kernel has no min and max: write if a < b, or math.Min of floats"},
	{regexp.MustCompile(`undefined identifier: clear$`), "the kernel has no clear: make a new map, or set each element"},
	{regexp.MustCompile(`cannot range over .*<func\(`), "the kernel has no range over functions: call it with a func(x T) bool that is the loop's body"},
	{regexp.MustCompile(`interface method \d+ is not a function`), "the kernel has no interface whose methods take or return it: let them take or return any, or a struct that holds it"},
	{regexp.MustCompile(`target must be interface or implement error`), "errors.As does not find types of a cell: write if e, ok := err.(T)"},
	{regexp.MustCompile(`goto label not found`), "the kernel has no goto: write a loop"},
}

// known are the names that a message compares a wrong one with.
type known struct {
	members func(expression, typ string) []string // fields and methods of a value, by its type where it has a name
	names   func(pkg string) []string             // what a package exports
}

// explain turns the interpreter's terse messages into ones that say where and
// what.
func explain(text string, of known) string {
	text = errorPlace.ReplaceAllString(text, "line $1: ")
	text = arguments.ReplaceAllStringFunc(text, func(s string) string {
		of := arguments.FindStringSubmatch(s)
		plain := strings.NewReplacer("untyped.Lit", "constant", "interface{}", "any").Replace
		return "arguments in call to " + of[1] + ": have " + plain(of[2]) + ", want " + plain(of[3])
	})
	text = explainNames(text, of)
	text = noPackage.ReplaceAllString(text, "undefined identifier: $1")
	if of := undefined.FindStringSubmatch(text); of != nil {
		if from := packageNamed(of[1]); from != "" {
			text += `; import "` + from + `" first`
		}
	}
	text = noDuration.ReplaceAllString(text, "$1 is a string where a time.Duration is wanted; write it as 2*time.Millisecond")
	text = noValue.ReplaceAllString(text, "$2 is a constant of kind $1, where $3 is wanted")
	for _, x := range lacks {
		if x.message.MatchString(text) {
			text += "; " + x.instead
		}
	}
	if strings.Contains(text, "call of nil function") {
		text += "; a function used here is of a cell that failed: run that cell again"
	}
	if of := sameNames.FindStringSubmatch(text); of != nil && of[1] == of[2] && of[3] == of[4] {
		text += "; " + of[1] + of[3] + " was declared again since: run the cells that use it again"
	}
	text = nilField.ReplaceAllString(text, "nil pointer dereference")
	if strings.Contains(text, "on zero Value") || strings.Contains(text, "nil pointer dereference") {
		// Variables of a cell that failed are declared, but not set.
		text += "; a pointer or variable used here has no value: set it, or run the cell that does again"
	}
	return text
}

// packageNamed is the path of the package that is called so, "" if there is none, the shortest of several.
func packageNamed(name string) (found string) {
	for p := range imports.Packages {
		if path.Base(p) == name && (found == "" || len(p) < len(found) || len(p) == len(found) && p < found) {
			found = p
		}
	}
	return found
}

// explainNames explains names that a value, a literal or a package does not have.
func explainNames(text string, of known) string {
	for _, form := range []*regexp.Regexp{noMember, noField} {
		text = form.ReplaceAllStringFunc(text, func(s string) string {
			m := form.FindStringSubmatch(s)
			return m[2] + " has no field or method like that: " + m[2] + "." + m[3] + instead(m[3], of.members(m[2], m[1]))
		})
	}
	text = noName.ReplaceAllStringFunc(text, func(s string) string {
		m := noName.FindStringSubmatch(s)
		return "package " + m[1] + " has no " + m[2] + instead(m[2], of.names(m[1]))
	})
	text = noLiteral.ReplaceAllStringFunc(text, func(s string) string {
		m := noLiteral.FindStringSubmatch(s)
		return m[2] + " has no field like that: " + m[1] + instead(m[1], of.members("", m[2]))
	})
	return tooMany.ReplaceAllString(text, "too many values in a literal of $2, which has $1 fields; several values of one are a slice, []int{1, 2}")
}

// instead is the name that was meant, or all there are where they are few.
func instead(wrong string, names []string) string {
	if meant := knob.DidYouMean(wrong, names); meant != "" && len(wrong) > 2 {
		return meant
	}
	if len(names) == 0 || len(names) > 12 {
		return ""
	}
	return "; there are " + strings.Join(names, ", ")
}

// names are what the messages of this session compare with.
func (s *session) names() known {
	return known{
		members: func(expression, typ string) []string {
			if dot := strings.LastIndexByte(typ, '.'); dot >= 0 {
				if t, ok := imports.Packages[strings.TrimLeft(typ[:dot], "*")].Types[typ[dot+1:]]; ok {
					return membersOf(t)
				}
				if expression == "" {
					expression = typ[dot+1:] + "{}" // a type of the notebook
				}
			}
			return s.members(expression)
		},
		names: func(pkg string) (names []string) {
			p := imports.Packages[packageNamed(pkg)]
			for name := range p.Binds {
				names = append(names, name)
			}
			for name := range p.Types {
				names = append(names, name)
			}
			slices.Sort(names)
			return names
		},
	}
}
