package differential_test

import "fmt"

// compound is a statement with statements below.
func (p *program) compound(depth int) []*stmt {
	n := 1 + p.r.IntN(4)
	switch p.r.IntN(12) {
	case 0, 1:
		return []*stmt{p.ifElse(n, depth)}
	case 2, 3, 4:
		return p.counted(n, depth)
	case 5, 6:
		return p.ranged(n, depth)
	case 7:
		return []*stmt{p.switched(n, depth)}
	case 8:
		return []*stmt{p.typeSwitch(n, depth)}
	case 9:
		return []*stmt{p.recovered(n, depth)}
	case 10:
		return p.captured(depth)
	}
	return []*stmt{block("", p.body(n, depth))}
}

func (p *program) ifElse(n, depth int) *stmt {
	t := basicType(p.r)
	v := &variable{name: p.fresh("v"), typ: t}
	init := fmt.Sprintf("%s := %s; ", v.name, p.converted(t, 2))
	p.scopes = append(p.scopes, []*variable{v})
	defer func() { p.scopes = p.scopes[:len(p.scopes)-1] }()
	s := block("if "+init+p.expr(boolType, 3), p.body(n, depth))
	if p.r.IntN(2) == 0 {
		s.parts = append(s.parts, part{"else if " + p.expr(boolType, 3), p.body(n, depth)})
	}
	s.parts = append(s.parts, part{"else", p.body(n, depth)})
	return s
}

// inLoop is the body of a loop. It may leave it, or go on, or do so with one around it.
func (p *program) inLoop(n, depth int, label string, with ...*variable) []*stmt {
	p.loops = append(p.loops, label)
	defer func() { p.loops = p.loops[:len(p.loops)-1] }()
	body := append([]*stmt{line("tick()")}, p.body(n, depth, with...)...)
	if p.r.IntN(3) == 0 {
		word := pick(p.r, []string{"break", "continue"})
		if p.r.IntN(2) == 0 {
			word += " " + pick(p.r, p.loops)
		}
		p.scopes = append(p.scopes, with)
		jump := block("if "+p.expr(boolType, 2), []*stmt{line("%s", word)})
		p.scopes = p.scopes[:len(p.scopes)-1]
		at := 1 + p.r.IntN(len(body)-1)
		// Not before a variable that the condition names, for it may have been declared since.
		body = append(body[:at:at], append([]*stmt{jump}, body[at:]...)...)
	}
	return body
}

// counted is a loop of three clauses.
func (p *program) counted(n, depth int) []*stmt {
	t := pick(p.r, basics[:11])
	i := &variable{name: p.fresh("i"), typ: t, fixed: true}
	label := p.fresh("L")
	bound := 1 + p.r.IntN(3)
	head := fmt.Sprintf("for %[1]s := %[2]s(0); %[1]s < %[3]d; %[1]s++", i.name, t.name, bound)
	switch p.r.IntN(5) {
	case 0:
		head = fmt.Sprintf("for %[1]s := %[2]s(%[3]d); %[1]s > 0; %[1]s--", i.name, t.name, bound)
	case 1:
		j := &variable{name: p.fresh("j"), typ: intType}
		head = fmt.Sprintf("for %[1]s, %[4]s := %[2]s(0), %[5]s; %[1]s < %[3]d; %[1]s, %[4]s = %[1]s + 1, %[4]s * 3", i.name, t.name, bound, j.name, p.typed(intType))
		return []*stmt{line("%s:", label), block(head, p.inLoop(n, depth, label, i, j))}
	case 2:
		p.declare(&variable{name: i.name, typ: t, fixed: true})
		return []*stmt{line("var %s %s", i.name, t.name), line("%s:", label),
			block(fmt.Sprintf("for %s < %d", i.name, bound), append([]*stmt{line("%s++", i.name)}, p.inLoop(n, depth, label)...))}
	}
	return []*stmt{line("%s:", label), block(head, p.inLoop(n, depth, label, i))}
}

// ranged is a loop over what a value has.
func (p *program) ranged(n, depth int) []*stmt {
	label := p.fresh("L")
	k, v := &variable{name: p.fresh("k"), typ: intType}, &variable{name: p.fresh("e")}
	switch p.r.IntN(5) {
	case 0:
		v.typ = basics[3]
		return []*stmt{line("%s:", label), block(fmt.Sprintf("for %s, %s := range %s", k.name, v.name, p.expr(stringType, 2)), p.inLoop(n, depth, label, k, v))}
	case 1:
		t := mapOf(p.keyType(), basicType(p.r))
		k.typ, v.typ = t.key, t.elem
		sum := p.fresh("s") // the order is not known: what does not depend on it is
		return []*stmt{line("%s := 0", sum),
			block(fmt.Sprintf("for %s, %s := range %s", k.name, v.name, p.parenthesis(t, 2)), []*stmt{
				line("if %s == %s { %s += 3 }", k.name, p.literal(t.key), sum), line("if %s == %s { %s += 7 }", v.name, p.literal(t.elem), sum)}),
			line("emit(%s)", sum)}
	case 2:
		k.typ = pick(p.r, basics[:11])
		return []*stmt{line("%s:", label), block(fmt.Sprintf("for %s := range %s(%d)", k.name, k.typ.name, p.r.IntN(4)), p.inLoop(n, depth, label, k))}
	}
	t := p.anyOf(1)
	for t.kind != slice && t.kind != array {
		t = pick(p.r, []*typ{sliceOf(p.anyOf(0)), arrayOf(1+p.r.IntN(3), p.anyOf(0))})
	}
	v.typ = t.elem
	head := fmt.Sprintf("for %s, %s := range %s", k.name, v.name, p.parenthesis(t, 2))
	return []*stmt{line("%s:", label), block(head, p.inLoop(n, depth, label, k, v))}
}

func (p *program) switched(n, depth int) *stmt {
	t := p.anyOf(0)
	if !t.basic() || t.kind == boolean || t.kind == complexNumber || p.r.IntN(4) == 0 {
		s := &stmt{parts: []part{{head: "switch"}}}
		for range 1 + p.r.IntN(3) {
			s.parts = append(s.parts, part{"case " + p.expr(boolType, 2) + ":", p.caseBody(n, depth)})
		}
		return s
	}
	s := &stmt{parts: []part{{head: "switch " + p.converted(t, 2)}}}
	keys := p.keys(t, 4)
	for i, k := range keys {
		if p.r.IntN(3) == 0 {
			k = p.expr(t, 1)
		}
		body := p.caseBody(n, depth)
		if i < len(keys)-1 && p.r.IntN(3) == 0 {
			body = append(body, line("fallthrough"))
		}
		s.parts = append(s.parts, part{"case " + k + ":", body})
	}
	if p.r.IntN(2) == 0 {
		s.parts = append(s.parts, part{"default:", p.caseBody(n, depth)})
	}
	return s
}

// caseBody has no break of a loop by chance: break leaves the switch.
func (p *program) caseBody(n, depth int) []*stmt {
	body := p.body(n, depth)
	if p.r.IntN(5) == 0 {
		body = append(body[:len(body)-1:len(body)-1], block("if "+p.expr(boolType, 2), []*stmt{line("break")}), body[len(body)-1])
	}
	return body
}

func (p *program) typeSwitch(n, depth int) *stmt {
	// In an interface without methods the kernel has no types of a cell.
	types := p.types
	p.types = nil
	of := p.anyOf(1)
	value := p.converted(of, 0)
	p.types = types
	x := p.fresh("x")
	s := &stmt{parts: []part{{head: fmt.Sprintf("switch %s := interface{}(%s).(type)", x, value)}}}
	seen := map[*typ]bool{}
	for range 3 {
		p.types = nil
		t := p.anyOf(1)
		p.types = types
		if p.r.IntN(2) == 0 {
			t = of
		}
		if seen[t] {
			continue
		}
		seen[t] = true
		body := append(p.body(n, depth, &variable{name: x, typ: t}), line("_ = %s", x))
		s.parts = append(s.parts, part{"case " + t.name + ":", body})
	}
	s.parts = append(s.parts, part{"default:", append(p.body(n, depth), line("_ = %s", x))})
	return s
}

// recovered panics, in a function of its own that recovers.
func (p *program) recovered(n, depth int) *stmt {
	loops := p.loops
	p.loops = nil
	defer func() { p.loops = loops }()
	body := p.body(n, depth)
	if p.r.IntN(2) == 0 {
		body = append(body, block("if "+p.expr(boolType, 2), []*stmt{line("panic(\"user: %d\")", p.r.IntN(9))}))
	}
	recovers := block("defer func()", []*stmt{line("r := recover()"), line("emit(r != nil)"), block("if r != nil", []*stmt{line("emit(class(r))")})})
	recovers.end = "}()"
	deferred := []*stmt{recovers}
	for range p.r.IntN(2) {
		v := p.expr(intType, 1)
		prints := block("defer func(x int)", []*stmt{line("emit(x)")})
		prints.end = "}(" + v + ")"
		deferred = append(deferred, prints)
	}
	call := block("func()", append(deferred, body...))
	call.end = "}()"
	return call
}

// captured keeps functions that see the variables of a loop, and calls them behind it.
func (p *program) captured(depth int) []*stmt {
	fs, i := p.fresh("fs"), p.fresh("i")
	t := pick(p.r, basics[:11])
	v := &variable{name: i, typ: t, fixed: p.r.IntN(2) == 0}
	head := fmt.Sprintf("for %[1]s := %[2]s(0); %[1]s < 3; %[1]s++", i, t.name)
	if p.r.IntN(3) == 0 {
		head = fmt.Sprintf("for _, %s := range []%s{1, 2, 3}", i, t.name)
	} else if !v.fixed {
		head = fmt.Sprintf("for %[1]s := %[2]s(0); %[1]s < 3; %[1]s += 2", i, t.name)
		v.fixed = true
	}
	p.scopes = append(p.scopes, []*variable{v})
	kept := []*stmt{line("tick()")}
	if p.r.IntN(3) == 0 {
		kept = append(kept, line("if %s == 1 { continue }", i))
	}
	if p.r.IntN(3) == 0 {
		kept = append(kept, line("if %s == 1 { %s++ }", i, i))
	}
	kept = append(kept, line("%s = append(%s, func() %s { %s += 10; return %s })", fs, fs, t.name, i, p.expr(t, 2)))
	kept = append(kept, p.statements(2, min(depth, 1))...)
	p.scopes = p.scopes[:len(p.scopes)-1]
	return []*stmt{line("var %s []func() %s", fs, t.name), block(head, kept),
		block(fmt.Sprintf("for _, f := range %s", fs), []*stmt{line("emit(f(), f())")})}
}
