package table

import (
	"fmt"
	"html"
	"reflect"
	"slices"
	"strings"

	"drtmx/cluster/words"
)

// module begins the paths of packages whose values Show writes.
const module = "drtmx/"

// Show writes a value of this module that has no form of its own, such as r.Raw.ByType, as a person reads it: a list or map of structs as a
// table, one struct as a line for each field. It is false for all other values, which a notebook shows as Go does.
func Show(v any) (text, page string, ok bool) {
	x := reflect.ValueOf(v)
	if !x.IsValid() || hasForm(v) {
		return "", "", false
	}
	for x.Kind() == reflect.Pointer && !x.IsNil() {
		if x = x.Elem(); speaks(x) {
			return fmt.Sprint(x.Interface()), "", true
		}
	}
	if !ours(x.Type()) {
		return "", "", false
	}
	switch x.Kind() {
	case reflect.Pointer:
		return "none: " + typeName(x.Type()) + " that is not set", "", true
	case reflect.Struct:
		fields := fieldsOf(x)
		return aligned(fields), definitions(fields), true
	case reflect.Slice, reflect.Array, reflect.Map:
		if x.Len() == 0 {
			return "none: an empty " + typeName(x.Type()), "", true
		}
		if t, err := from(x.Interface()); err == nil && len(t.names) > 0 && structs(x.Type().Elem()) {
			return t.String(), t.HTML(), true
		}
		fields := entriesOf(x)
		return aligned(fields), definitions(fields), true
	}
	return "", "", false
}

// speaks says whether a value has a form of its own.
func speaks(v reflect.Value) bool {
	if !v.CanInterface() {
		return false
	}
	return hasForm(v.Interface()) && (v.Kind() != reflect.Pointer || !v.IsNil())
}

// hasForm says whether a type has a form of its own; of one that is not set it may fail.
func hasForm(v any) bool {
	switch v.(type) {
	case fmt.Stringer, error, interface{ HTML() string }, interface{ SimpleRender() map[string]any }:
		return true
	}
	return false
}

// structs says whether a list or map holds structs without a form of their own.
func structs(t reflect.Type) bool {
	if t.Implements(reflect.TypeFor[fmt.Stringer]()) {
		return false
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}

// ours says whether a type is a struct of this module, or a list, map or pointer that leads to one.
func ours(t reflect.Type) bool {
	for t.Kind() != reflect.Struct {
		switch t.Kind() {
		case reflect.Slice, reflect.Array, reflect.Map, reflect.Pointer:
			if t.Name() != "" && strings.HasPrefix(t.PkgPath(), module) {
				return true
			}
			t = t.Elem()
		default:
			return false
		}
	}
	return strings.HasPrefix(t.PkgPath(), module)
}

// field is one line: a name and what it has.
type field struct{ name, value string }

// fieldsOf are the exported fields that have something; the others are named in a line behind them.
func fieldsOf(v reflect.Value) (out []field) {
	var empty []string
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case !f.IsExported():
		case isEmpty(v.Field(i)):
			empty = append(empty, f.Name)
		default:
			out = append(out, field{f.Name, inLine(f.Name, v.Field(i), 2)})
		}
	}
	if empty != nil {
		out = append(out, field{"not set or 0", strings.Join(empty, ", ")})
	}
	if out == nil {
		out = append(out, field{typeName(v.Type()), "nothing that a notebook can read"})
	}
	return out
}

// isEmpty says that there is nothing to say of a value; a truth value always says something.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Bool:
		return false
	}
	return v.IsZero()
}

// entriesOf are what a list or map holds.
func entriesOf(v reflect.Value) (out []field) {
	if v.Kind() == reflect.Map {
		for _, k := range sortedKeys(v) {
			out = append(out, field{fmt.Sprint(k), inLine("", v.MapIndex(k), 2)})
		}
		return out
	}
	for i := range min(v.Len(), rowsShown) {
		out = append(out, field{fmt.Sprintf("[%d]", i), inLine("", v.Index(i), 2)})
	}
	if left := v.Len() - len(out); left > 0 {
		out = append(out, field{"…", fmt.Sprintf("%d more", left)})
	}
	return out
}

func sortedKeys(v reflect.Value) []reflect.Value {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return keys
}

// partsShown bounds what is said of what a line holds.
const partsShown = 6

// inLine is a value in a line; what lies deeper than depth is named only.
func inLine(name string, v reflect.Value, depth int) string {
	if speaks(v) {
		if _, page := v.Interface().(fmt.Stringer); page {
			text := strings.TrimSpace(fmt.Sprint(v.Interface()))
			if line := words.OneLine(text); line != text {
				return words.Clip(line) + " …"
			}
			return text
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return "–"
		}
		return inLine(name, v.Elem(), depth)
	case reflect.Struct:
		return ofStruct(v, depth)
	case reflect.Slice, reflect.Array, reflect.Map:
		return ofMany(name, v, depth)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return typeName(v.Type())
	}
	if !v.CanInterface() {
		return "–"
	}
	n, whole := numberKind(v)
	if ns := strings.HasSuffix(name, "NS"); ns && whole && n >= 1000 {
		return fmt.Sprintf("%d (%s)", n, words.NS(n))
	}
	if v.Kind() == reflect.Float64 || v.Kind() == reflect.Float32 {
		return words.Number(v.Float())
	}
	return words.OneLine(fmt.Sprint(v.Interface()))
}

func numberKind(v reflect.Value) (n int64, ok bool) {
	if v.CanInt() {
		return v.Int(), true
	}
	if v.CanUint() {
		return int64(v.Uint()), true
	}
	return 0, false
}

// ofStruct is a struct in a line.
func ofStruct(v reflect.Value, depth int) string {
	if depth == 0 {
		return typeName(v.Type())
	}
	var parts []string
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && !isEmpty(v.Field(i)) {
			parts = append(parts, f.Name+" "+inLine(f.Name, v.Field(i), depth-1))
		}
	}
	if parts == nil {
		return "–"
	}
	if left := len(parts) - partsShown; left > 0 {
		parts = append(parts[:partsShown], fmt.Sprintf("and %d more", left))
	}
	return strings.Join(parts, ", ")
}

// ofMany is a list or map in a line.
func ofMany(name string, v reflect.Value, depth int) string {
	if v.Len() == 0 {
		return "–"
	}
	simple := v.Type().Elem().Kind()
	if depth == 0 || v.Kind() != reflect.Map && (simple == reflect.Struct || simple == reflect.Pointer) {
		return fmt.Sprintf("%d of %s", v.Len(), typeName(v.Type().Elem()))
	}
	var parts []string
	if v.Kind() == reflect.Map {
		for _, k := range sortedKeys(v) {
			if len(parts) < partsShown {
				parts = append(parts, strings.TrimSpace(fmt.Sprintf("%v %s", k, inLine(name, v.MapIndex(k), 0))))
			}
		}
	} else {
		for i := range min(v.Len(), partsShown) {
			parts = append(parts, inLine(name, v.Index(i), depth-1))
		}
	}
	if left := v.Len() - len(parts); left > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", left))
	}
	return strings.Join(parts, ", ")
}

// typeName is a type as Go code has it.
func typeName(t reflect.Type) string { return strings.ReplaceAll(t.String(), "interface {}", "any") }

// aligned are fields as text, definitions as a table of HTML.
func aligned(fields []field) string {
	wide := 0
	for _, f := range fields {
		wide = max(wide, len([]rune(f.name)))
	}
	var b strings.Builder
	for i, f := range fields {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(f.name + strings.Repeat(" ", wide-len([]rune(f.name))+2) + f.value)
	}
	return b.String()
}

func definitions(fields []field) string {
	var b strings.Builder
	b.WriteString(`<div style="overflow-x:auto;max-width:100%"><table class="drtmx">`)
	for _, f := range fields {
		fmt.Fprintf(&b, `<tr><th style="text-align:left">%s</th><td style="text-align:left">%s</td></tr>`, html.EscapeString(f.name), html.EscapeString(f.value))
	}
	return b.String() + "</table></div>"
}
