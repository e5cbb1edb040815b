package differential_test

import (
	"fmt"
	"slices"
	"strings"
)

// shared are the methods that interfaces of a program have, and types of it may have.
var shared = []struct {
	name   string
	result *typ
}{{"W", intType}, {"X", stringType}}

// declareInterface declares an interface with the first, or all, of the shared methods.
func (p *program) declareInterface() {
	t := &typ{kind: iface, name: p.fresh("I"), named: true, shared: 1 + p.r.IntN(len(shared))}
	var lines []*stmt
	for _, m := range shared[:t.shared] {
		t.methods = append(t.methods, method{m.name, funcOf(nil, false, m.result)})
		lines = append(lines, line("%s() %s", m.name, m.result.name))
	}
	p.top = append(p.top, block("type "+t.name+" interface", lines))
	p.types = append(p.types, once(t))
}

// declareShared gives a type the methods of interfaces. A value may hold itself, so they count steps.
func (p *program) declareShared(t *typ) {
	self, receiver := &variable{name: "self", typ: t}, t.name
	if t.byPointer {
		self, receiver = &variable{name: "self", typ: pointerTo(t), fixed: true}, "*"+t.name
	}
	for _, m := range shared[:t.shared] {
		f := funcOf(nil, false, m.result)
		body := append([]*stmt{line("tick()")}, p.pure([]*variable{self}, f)...)
		p.top = append(p.top, block("func (self "+receiver+") "+m.name+"() "+m.result.name, body))
	}
}

// implementers are the types of values that an interface may hold.
func (p *program) implementers(t *typ) (list []*typ) {
	for _, of := range p.types {
		if of.kind == iface || of.shared < t.shared {
			continue
		}
		if !of.byPointer {
			list = append(list, of)
		}
		if of.byPointer || of.kind == structure {
			list = append(list, pointerTo(of))
		}
	}
	return list
}

// boxed is a value of an interface.
func (p *program) boxed(t *typ, depth int) string {
	list := p.implementers(t)
	if depth <= 0 { // parts of parts come to an end
		list = slices.DeleteFunc(list, func(of *typ) bool { return !of.basic() })
	}
	if len(list) == 0 || p.r.IntN(12) == 0 {
		return t.name + "(nil)"
	}
	of := pick(p.r, list)
	if of.basic() && p.r.IntN(2) == 0 {
		return t.name + "(" + p.typed(of) + ")"
	}
	return t.name + "(" + p.converted(of, depth-1) + ")"
}

// interfaceStatement does something to what an interface holds.
func (p *program) interfaceStatement(depth int) []*stmt {
	var found []*variable
	for _, v := range p.visible() {
		if v.typ.kind == iface {
			found = append(found, v)
		}
	}
	if len(found) == 0 {
		return []*stmt{p.assignment()}
	}
	v := pick(p.r, found)
	of := append(p.implementers(v.typ), p.interfaces()...)
	t := pick(p.r, of)
	switch p.r.IntN(6) {
	case 0, 1:
		return []*stmt{p.dynamicSwitch(v, of, depth)}
	case 2:
		x, ok := p.fresh("x"), p.fresh("ok")
		p.declare(&variable{name: x, typ: t})
		return []*stmt{line("%s, %s := %s.(%s)", x, ok, v.name, t.name), line("_ = %s", x), line("emit(%s)", ok)}
	case 3:
		x := p.fresh("x")
		p.declare(&variable{name: x, typ: t})
		return []*stmt{block("if _, ok := "+v.name+".("+t.name+"); !ok && steps % 7 != 0", []*stmt{line("%s = %s", v.name, p.boxed(v.typ, 0))}),
			line("%s := %s.(%s)", x, v.name, t.name), line("_ = %s", x)}
	case 4:
		return []*stmt{line("emit(%s == nil, %s == %s)", v.name, v.name, p.expr(v.typ, 1))}
	}
	return []*stmt{line("emit(%s.%s())", v.name, pick(p.r, v.typ.methods).name)}
}

func (p *program) interfaces() (list []*typ) {
	for _, t := range p.types {
		if t.kind == iface {
			list = append(list, t)
		}
	}
	return list
}

// dynamicSwitch is a type switch, with cases of one type and of several.
func (p *program) dynamicSwitch(v *variable, of []*typ, depth int) *stmt {
	of = slices.Clone(of)
	p.r.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	x := p.fresh("x")
	s := &stmt{parts: []part{{head: fmt.Sprintf("switch %s := %s.(type)", x, v.name)}}}
	add := func(head string, t *typ) {
		body := append(p.body(1+p.r.IntN(2), min(depth, 1), &variable{name: x, typ: t}), line("_ = %s", x))
		if t.kind == iface {
			body = append([]*stmt{block("if "+x+" != nil", []*stmt{line("emit(%s.W())", x)})}, body...)
		}
		s.parts = append(s.parts, part{head, body})
	}
	for len(of) > 0 && p.r.IntN(6) != 0 {
		n := min(len(of), 1+p.r.IntN(4)/2)
		var names []string
		for _, t := range of[:n] {
			names = append(names, t.name)
		}
		if n == 1 {
			add("case "+names[0]+":", of[0])
		} else {
			add("case "+strings.Join(names, ", ")+":", v.typ)
		}
		of = of[n:]
	}
	if p.r.IntN(3) == 0 {
		add("case nil:", v.typ)
	}
	if p.r.IntN(2) == 0 {
		add("default:", v.typ)
	}
	return s
}
