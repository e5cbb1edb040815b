package differential_test

import (
	"fmt"
	"strings"
)

// visible are the variables that a statement can name: of those of one name, the innermost.
func (p *program) visible() (list []*variable) {
	seen := map[string]bool{}
	for i := len(p.scopes) - 1; i >= 0; i-- {
		for j := len(p.scopes[i]) - 1; j >= 0; j-- {
			if v := p.scopes[i][j]; !seen[v.name] {
				seen[v.name] = true
				list = append(list, v)
			}
		}
	}
	return list
}

// variable is one of the type, at any depth, nil if there is none.
func (p *program) variable(t *typ, assigned bool) *variable {
	var found []*variable
	for _, v := range p.visible() {
		if v.typ == t && !(assigned && v.fixed) {
			found = append(found, v)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return pick(p.r, found)
}

func (p *program) declare(v *variable) {
	p.scopes[len(p.scopes)-1] = append(p.scopes[len(p.scopes)-1], v)
}

// body is a block with a scope of its own. It ends in printing all that it has.
func (p *program) body(n, depth int, with ...*variable) []*stmt {
	p.scopes = append(p.scopes, with)
	defer func() { p.scopes = p.scopes[:len(p.scopes)-1] }()
	list := p.statements(n, depth)
	var shown []string
	for _, v := range p.visible() {
		if v.typ.printable() && p.r.IntN(3) == 0 {
			shown = append(shown, v.name)
		}
	}
	for _, v := range p.scopes[len(p.scopes)-1] {
		if v.typ.kind == function || v.typ.kind == pointer || v.typ.kind == iface {
			list = append(list, line("_ = %s", v.name))
		} else {
			shown = append(shown, v.name)
		}
	}
	return append(list, line("emit(%s)", strings.Join(shown, ", ")))
}

func (p *program) statements(n, depth int) (list []*stmt) {
	for range n {
		list = append(list, p.statement(depth)...)
	}
	return list
}

// statement is one, or a few that belong together.
func (p *program) statement(depth int) []*stmt {
	if depth > 0 && p.r.IntN(3) == 0 {
		return p.compound(depth - 1)
	}
	switch n := p.r.IntN(22); {
	case n < 6:
		return p.declaration()
	case n < 14:
		return []*stmt{p.assignment()}
	case n < 15:
		return p.closure(depth)
	case n < 16:
		return []*stmt{p.swap()}
	case n < 17:
		return p.callEffect()
	case n < 18:
		return p.mapStatement()
	case n < 20:
		return p.interfaceStatement(depth)
	}
	t := p.anyOf(1)
	if !t.printable() {
		t = intType
	}
	return []*stmt{line("emit(%s)", p.converted(t, 3))}
}

func (p *program) declaration() []*stmt {
	t := p.anyOf(2)
	v := &variable{name: fmt.Sprintf("v%d", p.r.IntN(9)), typ: t}
	defer p.declare(v)
	for _, other := range p.scopes[len(p.scopes)-1] {
		if other.name == v.name {
			v.name = p.fresh("v")
		}
	}
	switch n := p.r.IntN(10); {
	case n == 0 && t.basic():
		v.fixed = true
		return []*stmt{line("const %s %s = %s", v.name, t.name, p.literal(t))}
	case n == 1 && t.whole():
		return []*stmt{line("var %s %s", v.name, t.name)}
	case n < 5:
		return []*stmt{line("var %s %s = %s", v.name, t.name, p.operandOf(t, 4))}
	}
	return []*stmt{line("%s := %s", v.name, p.converted(t, 4))}
}

// place is something of a basic type that can be assigned to, and its type.
func (p *program) place() (string, *typ) {
	for range 20 {
		t := basicType(p.r)
		if len(p.types) > 0 && p.r.IntN(4) == 0 {
			t = pick(p.r, p.types)
		}
		if p.r.IntN(2) == 0 {
			if v := p.variable(t, true); v != nil {
				return v.name, t
			}
			continue
		}
		var found []string
		for _, v := range p.visible() {
			if v.fixed && v.typ.kind != pointer || v.typ == t {
				continue
			}
			found = p.parts(found, v.name, v.typ, t, 1, 3)
		}
		if len(found) > 0 {
			return pick(p.r, found), t
		}
	}
	return "_", intType
}

func (p *program) assignment() *stmt {
	at, t := p.place()
	op := "="
	if t.number() && at != "_" && p.r.IntN(3) != 0 {
		if p.r.IntN(5) == 0 {
			return line("%s%s", at, pick(p.r, []string{"++", "--"}))
		}
		op = pick(p.r, []string{"+=", "-=", "*=", "/="})
		if t.kind == integer {
			op = pick(p.r, []string{"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "&^=", "<<=", ">>="})
		}
	} else if t.kind == text && p.r.IntN(2) == 0 {
		op = "+="
	}
	if op != "=" && strings.ContainsAny(at, "[.*") { // whether a call on the right, which may change the place, comes before the place is read is open
		p.noCalls = true
		defer func() { p.noCalls = false }()
	}
	switch op {
	case "<<=", ">>=":
		return line("%s %s %s", at, op, p.count(2))
	case "/=", "%=":
		if t.kind == integer {
			y := p.literal(t)
			if y == "0" || p.r.IntN(2) == 0 {
				y = p.expr(t, 2) + " | 1"
			}
			if p.r.IntN(20) == 0 { // which may be 0
				y = p.expr(t, 2)
			}
			return line("%s %s %s", at, op, y)
		}
	}
	if at == "_" {
		return line("_ = %s", p.converted(t, 3))
	}
	return line("%s %s %s", at, op, p.operandOf(t, 3))
}

// swap assigns to several places at once.
func (p *program) swap() *stmt {
	a, t := p.place()
	b, u := p.place()
	if a == "_" || b == "_" || strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
		return p.assignment()
	}
	if t == u {
		return line("%s, %s = %s, %s", a, b, b, a)
	}
	return line("%s, %s = %s, %s", a, b, p.operandOf(t, 2), p.operandOf(u, 2))
}

func (p *program) mapStatement() []*stmt {
	for _, v := range p.visible() {
		if v.typ.kind != mapping {
			continue
		}
		switch p.r.IntN(3) {
		case 0:
			return []*stmt{line("delete(%s, %s)", v.name, p.operand(v.typ.key, 2))}
		case 1:
			x, ok := p.fresh("x"), p.fresh("ok")
			list := []*stmt{line("%s, %s := %s[%s]", x, ok, v.name, p.operand(v.typ.key, 2)), line("_ = %s", x), line("emit(%s)", ok)}
			p.declare(&variable{name: x, typ: v.typ.elem})
			return list
		}
		return []*stmt{line("%s[%s] = %s", v.name, p.operand(v.typ.key, 2), p.operandOf(v.typ.elem, 2))}
	}
	return []*stmt{p.assignment()}
}

// closure declares a function value that changes what is around it, and calls it at once or later.
func (p *program) closure(depth int) []*stmt {
	name := p.fresh("h")
	result := basicType(p.r)
	param := p.anyOf(1)
	a := &variable{name: "a", typ: param}
	loops := p.loops
	p.loops = nil
	p.scopes = append(p.scopes, []*variable{a})
	body := append(p.statements(1+p.r.IntN(3), min(depth, 1)), line("return %s", p.operandOf(result, 3)))
	p.scopes = p.scopes[:len(p.scopes)-1]
	p.loops = loops
	list := []*stmt{block(fmt.Sprintf("%s := func(a %s) %s", name, param.name, result.name), append([]*stmt{line("tick()")}, body...))}
	v := &variable{name: p.fresh("v"), typ: result}
	list = append(list, line("%s := %s(%s)", v.name, name, p.operandOf(param, 2)))
	for range p.r.IntN(3) {
		list = append(list, p.assignment())
		list = append(list, line("%s = %s(%s)", v.name, name, p.operandOf(param, 2)))
	}
	p.declare(v)
	return list
}

// callEffect calls a method that changes what it is called on, or takes an address.
func (p *program) callEffect() []*stmt {
	var found []*stmt
	for _, v := range p.visible() {
		of := v.typ
		if of.kind == pointer {
			of = of.elem
		}
		for _, m := range of.pointerMethods {
			if !v.fixed {
				found = append(found, line("emit(%q, %s.%s(%s) == nil)", m.name, v.name, m.name, p.arguments(m.f, 2)))
				if m.f.elem.printable() {
					found[len(found)-1] = line("emit(%q, %s.%s(%s))", m.name, v.name, m.name, p.arguments(m.f, 2))
				}
			}
		}
		if !v.fixed && v.typ.basic() {
			at := p.fresh("q")
			found = append(found, block("if "+at+" := &"+v.name+"; "+at+" != nil", []*stmt{line("*%s = %s", at, p.operand(v.typ, 2)), line("emit(*%s, %s)", at, v.name)}))
		}
	}
	if len(found) == 0 {
		return []*stmt{p.assignment()}
	}
	return []*stmt{pick(p.r, found)}
}

func (p *program) funcLiteral(t *typ) string {
	var names []string
	for i, of := range t.params {
		names = append(names, fmt.Sprintf("p%d %s", i, of.name))
	}
	return "func(" + strings.Join(names, ", ") + ") " + t.elem.name + " { return " + p.leaf(t.elem) + " }"
}
