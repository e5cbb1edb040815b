package differential_test

import (
	"fmt"
	"strconv"
	"strings"
)

// integers that are at the end of something, or that an interpreter may treat on its own.
var integers = []string{"0", "1", "2", "3", "4", "5", "7", "8", "10", "15", "16", "63", "64", "100", "127", "128", "255", "256", "1000", "32767", "32768",
	"65535", "65536", "2147483647", "2147483648", "4294967295", "4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551615",
	"-1", "-2", "-3", "-4", "-7", "-8", "-16", "-100", "-127", "-128", "-32768", "-2147483648", "-9223372036854775807", "-9223372036854775808"}

var floats = []string{"0.0", "1.0", "2.0", "0.5", "-0.5", "1.5", "-2.25", "3.0", "4", "1e10", "-1e-3", "0.1", "7", "-1", "1e30"}

var complexes = []string{"0", "1", "2i", "(1+2i)", "(-0.5+1i)", "(3-4i)", "2", "(0.25+0.1i)"}

var texts = []string{`""`, `"a"`, `"ab"`, `"zz"`, `"héllo"`, `"世界"`, "`raw`", `"\x00\n"`, `"key"`}

// fits is true for an integer that a type has.
func (t *typ) fits(literal string) bool {
	if t.signed {
		_, err := strconv.ParseInt(literal, 10, t.bits)
		return err == nil
	}
	_, err := strconv.ParseUint(literal, 10, t.bits)
	return err == nil
}

// literal is a constant of a basic type, without its type.
func (p *program) literal(t *typ) string {
	switch t.kind {
	case integer:
		for {
			if s := pick(p.r, integers); t.fits(s) {
				return s
			}
		}
	case float:
		return pick(p.r, floats)
	case complexNumber:
		return pick(p.r, complexes)
	case text:
		return pick(p.r, texts)
	}
	return pick(p.r, []string{"true", "false"})
}

// typed is a constant of a basic type that keeps it where no type is asked for.
func (p *program) typed(t *typ) string { return t.name + "(" + p.literal(t) + ")" }

// expr is an expression of a type. It has no effect but what it computes.
func (p *program) expr(t *typ, depth int) string {
	if depth <= 0 || p.r.IntN(5) == 0 {
		return p.leaf(t)
	}
	if t.basic() {
		if p.r.IntN(4) == 0 {
			if s := p.part(t, depth-1); s != "" {
				return s
			}
		}
		if p.r.IntN(8) == 0 {
			return p.call(t, depth-1)
		}
	}
	switch t.kind {
	case integer, float, complexNumber:
		return p.arithmetic(t, depth-1)
	case text:
		return p.textExpr(t, depth-1)
	case boolean:
		return p.condition(t, depth-1)
	}
	return p.composite(t, depth-1)
}

// leaf is a variable, or what stands for itself.
func (p *program) leaf(t *typ) string {
	if p.r.IntN(4) != 0 {
		if v := p.variable(t, false); v != nil {
			return v.name
		}
	}
	if t.basic() {
		return p.typed(t)
	}
	return p.composite(t, 0)
}

// operand is an expression of a type, or a constant that takes it.
func (p *program) operand(t *typ, depth int) string {
	if p.r.IntN(3) == 0 {
		return p.literal(t)
	}
	return p.expr(t, depth)
}

// binary is an operation of which one operand has the type, so that its value has.
func (p *program) binary(t *typ, op string, depth int) string {
	x, y := p.expr(t, depth), p.operand(t, depth)
	if p.r.IntN(2) == 0 && !strings.HasPrefix(op, "/") && op != "%" {
		x, y = y, x
	}
	return "(" + x + " " + op + " " + y + ")"
}

func (p *program) arithmetic(t *typ, depth int) string {
	switch n := p.r.IntN(20); {
	case n < 3:
		return p.convert(t, depth)
	case n < 5:
		return "(-" + p.expr(t, depth) + ")"
	case n < 6:
		return "(+" + p.expr(t, depth) + ")"
	case t.kind == complexNumber && n < 8:
		part := basics[12]
		if t.bits == 64 {
			part = basics[11]
		}
		return t.name + "(complex(" + p.convertTo(part, p.expr(part, depth)) + ", " + p.convertTo(part, p.expr(part, depth)) + "))"
	case t.kind == float && !t.named && n < 7:
		c := basics[14]
		if t.bits == 32 {
			c = basics[13]
		}
		return pick(p.r, []string{"real", "imag"}) + "(" + p.convertTo(c, p.expr(c, depth)) + ")"
	case t.kind != integer:
		return p.binary(t, pick(p.r, []string{"+", "-", "*", "/"}), depth)
	case n < 7:
		return "(^" + p.expr(t, depth) + ")"
	case n < 10:
		return "(" + p.expr(t, depth) + " " + pick(p.r, []string{"<<", ">>"}) + " " + p.count(depth) + ")"
	case n < 13:
		return p.divide(t, depth)
	}
	return p.binary(t, pick(p.r, []string{"+", "-", "*", "&", "|", "^", "&^"}), depth)
}

// divide is a division that does not fail: an operation that panics has no order with a call in the same expression.
func (p *program) divide(t *typ, depth int) string {
	op, y := pick(p.r, []string{"/", "%"}), p.literal(t)
	if y == "0" || p.r.IntN(3) != 0 {
		y = "(" + p.expr(t, depth) + " | 1)"
	}
	return "(" + p.expr(t, depth) + " " + op + " " + y + ")"
}

// count is how far a shift goes.
func (p *program) count(depth int) string {
	switch p.r.IntN(4) {
	case 0:
		return pick(p.r, []string{"0", "1", "3", "7", "8", "31", "32", "63", "64", "65", "200"})
	case 1:
		return "uint8(" + p.expr(basics[6], depth) + ")"
	}
	t := pick(p.r, basics[5:11])
	return "(" + p.expr(t, depth) + " % " + pick(p.r, []string{"3", "9", "40", "70"}) + ")"
}

// convertTo is a conversion where the value may be of a named type.
func (p *program) convertTo(t *typ, e string) string { return t.name + "(" + e + ")" }

// convert is a value of another type made one of this.
func (p *program) convert(t *typ, depth int) string {
	from := pick(p.r, basics[:13])
	if len(p.types) > 0 && p.r.IntN(3) == 0 {
		if named := pick(p.r, p.types); named.kind == integer || named.kind == float {
			from = named
		}
	}
	if t.kind == complexNumber {
		from = pick(p.r, basics[13:15])
	}
	// What a float becomes that the integer type does not have is for the compiler to choose.
	if t.kind == integer && from.kind == float {
		return t.name + "(" + from.name + "(int8(" + p.expr(basics[1], depth) + ") & 63) / 4)"
	}
	// A constant would have to fit.
	if v := p.variable(from, false); v != nil && p.r.IntN(2) == 0 {
		return t.name + "(" + v.name + ")"
	}
	return t.name + "(" + p.expr(from, depth) + ")"
}

func (p *program) textExpr(t *typ, depth int) string {
	switch p.r.IntN(8) {
	case 0:
		return t.name + "(" + p.expr(stringType, depth) + ")"
	case 1:
		return t.name + "(rune(" + p.expr(basics[3], depth) + " & 0xffff))"
	case 2:
		return t.name + "([]byte(" + p.expr(stringType, depth) + "))"
	case 3:
		return t.name + "([]rune(" + p.expr(stringType, depth) + "))"
	case 4:
		return "(" + p.expr(t, depth) + " + \"xyz\")[" + pick(p.r, []string{"1:", ":2", "1:3", ":"}) + "]"
	}
	return p.binary(t, "+", depth)
}

func (p *program) condition(t *typ, depth int) string {
	of := p.anyOf(1)
	for !of.comparable() {
		of = p.anyOf(1)
	}
	var s string
	switch n := p.r.IntN(10); {
	case n < 2:
		return "(" + p.expr(t, depth) + pick(p.r, []string{" && ", " || "}) + p.expr(t, depth) + ")"
	case n < 3:
		return "(!" + p.expr(t, depth) + ")"
	case n < 7 && of.basic() && of.kind != complexNumber && of.kind != boolean:
		s = p.binary(of, pick(p.r, []string{"<", "<=", ">", ">=", "==", "!="}), depth)
	case of.basic():
		s = p.binary(of, pick(p.r, []string{"==", "!="}), depth)
	default:
		s = "(" + p.expr(of, depth) + pick(p.r, []string{" == ", " != "}) + p.parenthesis(of, depth) + ")"
	}
	if t.named {
		return t.name + "(" + s + ")"
	}
	return s
}

// parenthesis keeps a composite literal out of the header of a statement.
func (p *program) parenthesis(t *typ, depth int) string { return "(" + p.expr(t, depth) + ")" }

// composite is a value of a type that has parts.
func (p *program) composite(t *typ, depth int) string {
	var parts []string
	switch t.kind {
	case array:
		n := t.n
		if t.elem.whole() {
			n = p.r.IntN(n + 1)
		}
		for range n {
			parts = append(parts, p.expr(t.elem, depth))
		}
	case slice:
		if p.r.IntN(4) == 0 {
			if v := p.variable(t, false); v != nil {
				return pick(p.r, []string{"append(" + v.name + ", " + p.expr(t.elem, depth) + ")", v.name + "[:1]", "append(" + v.name + ", " + v.name + "...)"})
			}
		}
		for range 1 + p.r.IntN(4) {
			parts = append(parts, p.expr(t.elem, depth))
		}
	case mapping:
		for i, k := range p.keys(t.key, p.r.IntN(4)) {
			_ = i
			parts = append(parts, k+": "+p.expr(t.elem, depth))
		}
	case structure:
		for _, f := range t.fields {
			if f.in == nil && (p.r.IntN(4) != 0 || !f.typ.whole()) {
				parts = append(parts, f.name+": "+p.expr(f.typ, depth))
			}
		}
	case pointer:
		return "func() " + t.name + " { v := " + p.converted(t.elem, depth) + "; return &v }()"
	case function:
		return p.funcLiteral(t)
	case iface:
		return p.boxed(t, depth)
	}
	return "(" + t.name + "{" + strings.Join(parts, ", ") + "})"
}

// converted is an expression that has the type where nothing asks for one.
func (p *program) converted(t *typ, depth int) string {
	if t.basic() {
		return t.name + "(" + p.expr(t, depth) + ")"
	}
	return p.expr(t, depth)
}

// keys are different constants.
func (p *program) keys(t *typ, n int) (list []string) {
	seen := map[string]bool{}
	for range n {
		k := p.literal(t)
		if !seen[k] {
			seen[k] = true
			list = append(list, k)
		}
	}
	return list
}

// index is one that an indexable value has, but seldom.
func (p *program) index(v string, depth int) string {
	if p.r.IntN(60) == 0 {
		return p.expr(intType, depth)
	}
	t := pick(p.r, basics[5:11])
	return "(" + p.expr(t, depth) + ") % " + t.name + "(len(" + v + "))"
}

// part is a part of the wanted type of a variable that has parts, "" if there is none.
func (p *program) part(t *typ, depth int) string {
	var found []string
	for _, v := range p.visible() {
		found = p.parts(found, v.name, v.typ, t, depth, 3)
		if v.typ.kind == text && t.name == "uint8" {
			found = append(found, "("+v.name+" + \"q\")["+pick(p.r, []string{"0", "uint8(0)"})+"]")
		}
		if t.name == "int" && (v.typ.kind == slice || v.typ.kind == mapping || v.typ.kind == text || v.typ.kind == array) {
			found = append(found, "len("+v.name+")")
		}
	}
	if len(found) == 0 {
		return ""
	}
	return pick(p.r, found)
}

// parts adds the paths from a value to places of a type.
func (p *program) parts(found []string, at string, from, want *typ, depth, steps int) []string {
	if steps == 0 {
		return found
	}
	add := func(path string, t *typ) {
		if t == want {
			found = append(found, path)
		} else {
			found = p.parts(found, path, t, want, depth, steps-1)
		}
	}
	switch from.kind {
	case array, slice:
		if from.elem == want || from.elem.kind == structure || from.elem.kind == array {
			add(at+"["+p.index(at, 0)+"]", from.elem)
		}
	case mapping:
		if from.elem == want {
			add(at+"["+p.expr(from.key, depth-1)+"]", from.elem)
		}
	case structure:
		for _, f := range from.fields {
			add(at+"."+f.name, f.typ)
		}
	case pointer:
		if from.elem.kind == structure {
			for _, f := range from.elem.fields {
				add(at+"."+f.name, f.typ)
			}
		} else {
			add("(*"+at+")", from.elem)
		}
	}
	return found
}

// call is a call of a function without effects.
func (p *program) call(t *typ, depth int) string {
	if p.noCalls {
		return p.leaf(t)
	}
	var found []string
	for _, f := range p.funcs {
		if f.typ.elem == t {
			found = append(found, f.name+"("+p.arguments(f.typ, depth)+")")
		}
	}
	for _, v := range p.visible() {
		of := v.typ
		if of.kind == pointer {
			of = of.elem
		}
		for _, m := range of.methods {
			if m.f.elem == t {
				found = append(found, v.name+"."+m.name+"("+p.arguments(m.f, depth)+")")
			}
		}
	}
	if len(found) == 0 {
		return p.leaf(t)
	}
	return pick(p.r, found)
}

func (p *program) arguments(f *typ, depth int) string {
	var args []string
	for i, t := range f.params {
		if f.rest && i == len(f.params)-1 {
			if p.r.IntN(3) == 0 {
				args = append(args, p.expr(t, depth)+"...")
				break
			}
			for range p.r.IntN(3) {
				args = append(args, p.expr(t.elem, depth))
			}
			break
		}
		args = append(args, p.operandOf(t, depth))
	}
	return strings.Join(args, ", ")
}

func (p *program) operandOf(t *typ, depth int) string {
	if t.basic() {
		return p.operand(t, depth)
	}
	return p.expr(t, depth)
}

func (p *program) fresh(prefix string) string {
	p.names++
	return fmt.Sprintf("%s%d_%d", prefix, p.id, p.names)
}
