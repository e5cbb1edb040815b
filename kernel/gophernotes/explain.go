//go:build drtmxkernel

package main

import (
	"path"
	"reflect"
	"regexp"
	"strings"

	"github.com/cosmos72/gomacro/imports"

	"drtmx/engine/knob"
)

var (
	errorPlace = regexp.MustCompile(`^cell \[\d+\]:(\d+):(\d+): `)
	noMember   = regexp.MustCompile(`not a package: "\w+" in (\w+)\.(\w+) <.*>`)
	noField    = regexp.MustCompile(`type \S+ has no field or method "\w+": (\w+)\.(\w+)`)
	noPackage  = regexp.MustCompile(`undefined "(\w+)" in \S+ <.*>`)
	undefined  = regexp.MustCompile(`undefined identifier: (\w+)$`)
	noDuration = regexp.MustCompile(`cannot convert untyped constant \{string (".*")\} to <time\.Duration>`)
	arguments  = regexp.MustCompile(`arguments in call to (\S+):\s+have (\(.*\))\s+want (\(.*\))`)
)

// explain turns the interpreter's terse messages into ones that say where and
// what. membersOf lists the fields and methods of a variable.
func explain(text string, membersOf func(variable string) []string) string {
	text = errorPlace.ReplaceAllString(text, "line $1: ")
	text = arguments.ReplaceAllStringFunc(text, func(s string) string {
		of := arguments.FindStringSubmatch(s)
		plain := strings.NewReplacer("untyped.Lit", "constant", "interface{}", "any").Replace
		return "arguments in call to " + of[1] + ": have " + plain(of[2]) + ", want " + plain(of[3])
	})
	for _, form := range []*regexp.Regexp{noMember, noField} {
		text = form.ReplaceAllStringFunc(text, func(s string) string {
			of := form.FindStringSubmatch(s)
			return of[1] + " has no field or method like that: " + of[1] + "." + of[2] + knob.DidYouMean(of[2], membersOf(of[1]))
		})
	}
	text = noPackage.ReplaceAllString(text, "undefined identifier: $1")
	if of := undefined.FindStringSubmatch(text); of != nil {
		if from := packageNamed(of[1]); from != "" {
			text += `; import "` + from + `" first`
		}
	}
	text = noDuration.ReplaceAllString(text, "$1 is a string where a time.Duration is wanted; write it as 2*time.Millisecond")
	if strings.Contains(text, "on zero Value") || strings.Contains(text, "nil pointer dereference") {
		// Variables of a cell that failed are declared, but not set.
		text += "; a variable used here has no value: run the cell that sets it again"
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

// membersOf are the names of the fields and methods of a variable of the notebook, none if it has no value.
func (s *session) membersOf(variable string) (names []string) {
	_ = recovered(func() error { // gomacro panics where there is no such variable
		t := s.kernel.ir.ValueOf(variable).ReflectValue().Type()
		for i := range t.NumMethod() {
			names = append(names, t.Method(i).Name)
		}
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() == reflect.Struct {
			for _, f := range reflect.VisibleFields(t) {
				if f.IsExported() {
					names = append(names, f.Name)
				}
			}
		}
		return nil
	})
	return names
}
