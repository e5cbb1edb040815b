//go:build drtmxkernel

package main

import (
	"fmt"
	"go/doc"
	"reflect"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/cosmos72/gomacro/xreflect"

	"drtmx/engine/knob"
)

// docsText has names and what is known of them in turn, each with a zero byte behind it: "drtmx/cluster.Cluster.Run", and its
// declaration and comment. kernel/mkkernel adds the file that fills it.
var docsText string

// docs are the declarations and comments of the bound packages by name.
var docs = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	parts := strings.Split(docsText, "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		all[parts[i]] = parts[i+1]
	}
	return all
})

// inspect answers the tooltip request: what stands at the cursor is. It is compiled and not run.
func (s *session) inspect(m msgReceipt) {
	code, _ := m.content()["code"].(string)
	pos, _ := m.content()["cursor_pos"].(float64)
	text := s.describe([]rune(code), int(pos))
	m.answer("inspect_reply", map[string]any{
		"status": "ok", "found": text != "", "data": map[string]any{"text/plain": text}, "metadata": map[string]any{},
	})
}

// describe explains the expression that ends with the name at the cursor; where there is none, the call or literal around it.
func (s *session) describe(code []rune, pos int) string {
	pos = max(0, min(pos, len(code)))
	p := cursorIn(string(code[:pos]))
	if p.text >= 0 {
		if text := knobText(textAt(string(code), p.text)); text != "" {
			return text
		}
		return s.around(string(code[:pos]), p, "")
	}
	end := pos
	for end < len(code) && lastWord.MatchString(string(code[end])) && lastWord.FindString(string(code[end])) != "" {
		end++
	}
	before := string(code[:end])
	expression := strings.Trim(operand(before), ".")
	if expression == "" || expression[0] >= '0' && expression[0] <= '9' {
		return s.around(before, p, "")
	}
	if text := s.about(expression); text != "" {
		return text
	}
	return s.around(before, p, expression)
}

// textAt is the string that begins at a position of the code.
func textAt(code string, begin int) string {
	text := code[begin+1:]
	if end := strings.IndexByte(text, code[begin]); end >= 0 {
		text = text[:end]
	}
	return text
}

// knobText explains a knob.
func knobText(name string) string {
	row := knob.Find(name)
	if row == nil {
		return ""
	}
	text := fmt.Sprintf("knob %s  %s, default %v", row.Name, row.Kind, row.Default)
	if row.Unit != "" {
		text += " " + row.Unit
	}
	if len(row.Choices) > 0 {
		text += "\nvalues: " + strings.Join(row.Choices, ", ")
	}
	return text + "\n\n" + row.Doc
}

// around explains the call or literal that the cursor is in. A name that is not known elsewhere can be a field of the literal, and
// nothing else.
func (s *session) around(before string, p cursor, name string) string {
	for _, open := range slices.Backward(p.open) {
		of := operand(strings.TrimRight(before[:open], " "))
		if name != "" {
			if t := s.typeOf(of + "{}"); before[open] == '{' && t != nil {
				return s.field(t, name)
			}
			return ""
		}
		if of != "" && before[open] != '[' {
			return s.about(of)
		}
	}
	return ""
}

// field explains a field of a literal.
func (s *session) field(t reflect.Type, name string) string {
	if t.Kind() != reflect.Struct {
		return ""
	}
	f, ok := t.FieldByName(name)
	if !ok || !f.IsExported() {
		return ""
	}
	return strings.TrimSpace(name + "  " + shortNames(f.Type.String()) + "\n\n" + memberDoc(t, name))
}

// about explains an expression: a package, a type, a function or a value.
func (s *session) about(expression string) string {
	name := lastWord.FindString(expression)
	known := ""
	if of, member := strings.CutSuffix(strings.TrimSuffix(expression, name), "."); member && name != "" {
		if n := s.compile(of); n != nil && n.isPackage() {
			known = docs()[n.path+"."+name]
		} else if t := s.typeOf(of); t != nil {
			known = memberDoc(t, name)
		}
	}
	if n := s.compile(expression); n != nil && n.isPackage() {
		return strings.TrimSpace(expression + "  " + n.text + "\n\n" + docs()[n.path])
	}
	if t := s.compiled("new(" + expression + ")"); t != nil { // of a value it does not compile
		return strings.TrimSpace("type " + listing(t.Elem(), expression))
	}
	t := s.compiled(expression)
	switch {
	case t == nil:
		return known
	case t.Kind() == reflect.Func && strings.HasPrefix(known, "func"):
		return known
	case strings.HasPrefix(known, "const"):
		return expression + "  " + shortNames(t.String()) + "\n\n" + known
	case t.Name() == "Builtin":
		return expression + "  a function of the language"
	case known != "":
		known = "\n\n" + known
	}
	if t.Kind() == reflect.Func {
		return expression + "  " + shortNames(t.String()) + known
	}
	return expression + "  " + listing(t, shortNames(t.String())+known)
}

// compiled is the type of an expression as the interpreter has it, nil if it does not compile.
func (s *session) compiled(expression string) (t xreflect.Type) {
	_ = recovered(func() error { // gomacro panics where it does not compile
		if e := s.kernel.ir.Compile(expression); e != nil {
			t = e.Type
		}
		return nil
	})
	return t
}

// listing has the comment, fields and methods of a type, or of the type that it points to or has elements of, under a title.
func listing(t xreflect.Type, title string) string {
	for t.Name() == "" && slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map}, t.Kind()) {
		t = t.Elem()
	}
	var fields, methods []string
	if r := reflected(t); r.Name() == "" && t.Named() {
		fields, methods = ownMembers(t)
	} else {
		fields, methods = fieldsOf(r), methodsOf(r)
	}
	var b strings.Builder
	b.WriteString(title)
	if d := docs()[t.PkgPath()+"."+t.Name()]; d != "" {
		fmt.Fprintf(&b, "\n\n%s", d)
	}
	if len(fields) > 0 {
		b.WriteString("\n\nFields:\n")
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, strings.Join(fields, "\n"))
		w.Flush()
	}
	if len(methods) > 0 {
		fmt.Fprintf(&b, "\n\nMethods:\n%s", strings.Join(methods, "\n"))
	}
	lines := strings.Split(strings.ReplaceAll(b.String(), "\n\n\n", "\n\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// fieldsOf are the fields that can be read, a line each.
func fieldsOf(t reflect.Type) (lines []string) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() && !(f.Anonymous && f.Type.Kind() == reflect.Struct) { // whose fields are among them
			text := strings.Join(strings.Fields(memberDoc(t, f.Name)), " ")
			lines = append(lines, "  "+f.Name+"\t"+shortNames(f.Type.String())+"\t"+text)
		}
	}
	return lines
}

// methodsOf are the methods with their signatures and the first sentences of their comments.
func methodsOf(t reflect.Type) (lines []string) {
	if t.Kind() == reflect.Interface {
		if docs()[t.PkgPath()+"."+t.Name()] != "" { // its declaration has them
			return nil
		}
	} else {
		t = reflect.PointerTo(t)
	}
	for i := range t.NumMethod() {
		m := t.Method(i)
		decl, comment, _ := strings.Cut(memberDoc(t, m.Name), "\n\n")
		if _, signature, ok := strings.Cut(decl, ") "+m.Name+"("); ok {
			decl = m.Name + "(" + signature
		} else {
			decl, comment = m.Name+strings.TrimPrefix(shortNames(withoutReceiver(t, m).String()), "func"), ""
		}
		lines = append(lines, "  "+decl)
		if first := new(doc.Package).Synopsis(comment); first != "" {
			lines = append(lines, "      "+first)
		}
	}
	return lines
}

func withoutReceiver(of reflect.Type, m reflect.Method) reflect.Type {
	if of.Kind() == reflect.Interface {
		return m.Type
	}
	var in, out []reflect.Type
	for i := 1; i < m.Type.NumIn(); i++ {
		in = append(in, m.Type.In(i))
	}
	for i := range m.Type.NumOut() {
		out = append(out, m.Type.Out(i))
	}
	return reflect.FuncOf(in, out, m.Type.IsVariadic())
}

// ownMembers are those of a type that a cell declares, of which package reflect knows neither the names nor the methods.
func ownMembers(t xreflect.Type) (fields, methods []string) {
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			f := t.Field(i)
			fields = append(fields, "  "+f.Name+"\t"+shortNames(f.Type.String()))
		}
	}
	for i := range t.NumMethod() {
		m := t.Method(i)
		_, signature, _ := strings.Cut(m.Type.String(), ").") // behind the receiver
		methods = append(methods, "  "+m.Name+shortNames(signature))
	}
	return fields, methods
}

// memberDoc is what is known of a field or method, which may come from an embedded type.
func memberDoc(t reflect.Type, name string) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if text := docs()[t.PkgPath()+"."+t.Name()+"."+name]; text != "" || t.Kind() != reflect.Struct {
		return text
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous {
			if text := memberDoc(f.Type, name); text != "" {
				return text
			}
		}
	}
	return ""
}
