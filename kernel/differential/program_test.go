package differential_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math/rand/v2"
	"strings"
)

// prelude is what all programs have. A program that runs on for long, which one in nested loops may, ends in a panic of its own.
const prelude = `
var out string
var steps int
func tick() { steps++; if steps > 3000 { panic("user: steps") } }
func emit(line string) { tick(); if len(out) < 60000 { out += line } }
func class(x interface{}) string { s := fmt.Sprint(x); if len(s) > 5 && s[:5] == "user:" { return s }; return "runtime" }
func begin() { out = ""; steps = 0 }
`

// stmt is a statement or a declaration: a line, or several with statements below each.
type stmt struct {
	text  string
	parts []part
	end   string // instead of "}"
	gone  bool
}

type part struct {
	head string
	body []*stmt
}

func line(format string, args ...any) *stmt { return &stmt{text: fmt.Sprintf(format, args...)} }

func block(head string, body []*stmt) *stmt { return &stmt{parts: []part{{head, body}}} }

// variable is one that statements can see.
type variable struct {
	name  string
	typ   *typ
	fixed bool // not to be assigned to: a loop is counted by it, or it is a constant
}

// program is one generated program.
type program struct {
	r       *rand.Rand
	id      int
	names   int
	types   []*typ
	funcs   []*variable
	scopes  [][]*variable
	loops   []string
	noCalls bool // in expressions
	top     []*stmt
	from    map[*stmt]*stmt // of a copy: what its statements were
}

// generate makes a program. It prints what it computes all along.
func generate(seed uint64, id int) *program {
	p := &program{r: rand.New(rand.NewPCG(seed, uint64(id))), id: id}
	p.scopes = [][]*variable{nil}
	for range p.r.IntN(5) {
		p.declareType()
	}
	p.noCalls = true // variables are set before the program runs, which catches panics
	for range p.r.IntN(4) {
		t := p.anyOf(2)
		v := &variable{name: p.fresh("g"), typ: t}
		p.top = append(p.top, line("var %s %s = %s", v.name, t.name, p.expr(t, 2)))
		if p.r.IntN(3) == 0 && t.basic() {
			v = &variable{name: p.fresh("c"), typ: t, fixed: true}
			p.top = append(p.top, line("const %s %s = %s", v.name, t.name, p.literal(t)))
		}
		p.scopes[0] = append(p.scopes[0], v)
	}
	p.noCalls = false
	globals := p.scopes[0]
	for range p.r.IntN(4) {
		p.declareFunc()
	}
	p.declareMethods()
	p.scopes = [][]*variable{globals}
	body := p.body(12, 4)
	p.top = append(p.top, block(fmt.Sprintf("func main%d()", id), body))
	if p.r.IntN(2) == 0 { // Go takes declarations in any order
		p.r.Shuffle(len(p.top), func(i, j int) { p.top[i], p.top[j] = p.top[j], p.top[i] })
	}
	p.top = append(p.top, line("func run%[1]d() (s string) { begin(); defer func() { if r := recover(); r != nil { s = out + \"panic \" + class(r) } }(); main%[1]d(); return out }", id))
	return p
}

func (p *program) declareType() {
	if p.r.IntN(4) == 0 {
		p.declareInterface()
		return
	}
	t := &typ{name: p.fresh("T"), named: true}
	defer func() {
		if p.r.IntN(3) != 0 {
			t.shared, t.byPointer = 1+p.r.IntN(len(shared)), p.r.IntN(3) == 0
		}
	}()
	switch p.r.IntN(5) {
	case 0, 1:
		t.kind = structure
		var lines []*stmt
		for i := range 1 + p.r.IntN(4) {
			f := field{name: fmt.Sprintf("F%d", i), typ: p.anyOf(1)}
			if f.typ.kind == pointer {
				f.typ = f.typ.elem
			}
			if f.typ.kind == structure && p.r.IntN(2) == 0 && !p.has(t, f.typ.name) {
				f.name = f.typ.name
				for _, inner := range f.typ.fields {
					if !p.has(t, inner.name) && inner.in == nil && i > 0 {
						t.fields = append(t.fields, field{inner.name, inner.typ, f.typ})
					}
				}
				lines = append(lines, line("%s", f.typ.name))
			} else {
				for p.has(t, f.name) {
					f.name += "x"
				}
				lines = append(lines, line("%s %s", f.name, f.typ.name))
			}
			t.fields = append(t.fields, f)
		}
		p.unambiguous(t)
		p.top = append(p.top, block("type "+t.name+" struct", lines))
	case 2:
		of := p.anyOf(1)
		if of.kind != slice && of.kind != mapping && of.kind != array {
			of = sliceOf(basicType(p.r))
		}
		*t = typ{kind: of.kind, name: t.name, elem: of.elem, key: of.key, n: of.n, named: true}
		p.top = append(p.top, line("type %s %s", t.name, of.name))
	default:
		of := basicType(p.r)
		*t = typ{kind: of.kind, name: t.name, bits: of.bits, signed: of.signed, named: true}
		p.top = append(p.top, line("type %s %s", t.name, of.name))
	}
	p.types = append(p.types, once(t))
}

// unambiguous drops promoted fields that more than one embedded type, or the type itself, has.
func (p *program) unambiguous(t *typ) {
	count := map[string]int{}
	for _, f := range t.fields {
		if f.in == nil {
			count[f.name] += 10
		} else {
			count[f.name] += 6
		}
	}
	var kept []field
	for _, f := range t.fields {
		if f.in == nil || count[f.name] == 6 {
			kept = append(kept, f)
		}
	}
	t.fields = kept
}

func (p *program) has(t *typ, name string) bool {
	for _, f := range t.fields {
		if f.name == name {
			return true
		}
	}
	return false
}

// signature is a function's type and the names of its parameters.
func (p *program) signature() (t *typ, params []*variable, head string) {
	var types []*typ
	var names []string
	rest := false
	for i, n := 0, p.r.IntN(4); i < n; i++ {
		of := p.anyOf(1)
		if i == n-1 && p.r.IntN(3) == 0 {
			rest, of = true, sliceOf(of)
		}
		types = append(types, of)
		v := &variable{name: fmt.Sprintf("p%d", i), typ: of}
		if rest { // which may be empty
			v.typ, v.fixed = funcOf(nil, false, of), true
			names = append(names, v.name+" ..."+of.elem.name)
		} else {
			names = append(names, v.name+" "+of.name)
			params = append(params, v)
		}
	}
	result := p.anyOf(1)
	t = funcOf(types, rest, result)
	return t, params, "(" + strings.Join(names, ", ") + ")"
}

// declareFunc declares a function that has no effect but what it returns, or prints.
func (p *program) declareFunc() {
	t, params, head := p.signature()
	v := &variable{name: p.fresh("f"), typ: t}
	body := p.pure(params, t)
	result := " " + t.elem.name
	if p.r.IntN(4) == 0 {
		result = " (r " + t.elem.name + ")"
		body = append([]*stmt{line("r = %s", p.literalOf(t.elem))}, body...)
		if p.r.IntN(2) == 0 && t.elem.kind == integer {
			body = append([]*stmt{line("defer func() { r ^= %s }()", p.literal(t.elem))}, body...)
		}
	}
	p.top = append(p.top, block("func "+v.name+head+result, body))
	p.funcs = append(p.funcs, v)
}

func (p *program) literalOf(t *typ) string {
	if t.basic() {
		return p.literal(t)
	}
	return p.composite(t, 0)
}

// pure is the body of a function that sees nothing but its parameters and constants.
func (p *program) pure(params []*variable, t *typ) []*stmt {
	saved, loops := p.scopes, p.loops
	defer func() { p.scopes, p.loops = saved, loops }()
	p.scopes, p.loops = [][]*variable{params}, nil
	if t.rest {
		last := len(t.params) - 1
		v := &variable{name: "rest", typ: t.params[last]}
		p.scopes[0] = append(p.scopes[0], v)
		body := []*stmt{line("rest := append(p%d, %s)", last, p.operandOf(t.params[last].elem, 1))}
		return append(append(body, p.statements(3, 2)...), line("return %s", p.expr(t.elem, 3)))
	}
	return append(p.statements(1+p.r.IntN(4), 2), line("return %s", p.expr(t.elem, 3)))
}

// declareMethods gives the program's types methods.
func (p *program) declareMethods() {
	for _, t := range p.types {
		if t.kind == iface {
			continue
		}
		p.declareShared(t)
		if p.r.IntN(5) == 0 {
			text := p.literal(stringType) // nothing that prints: it may print this value
			if t.kind == integer {
				text += " + fmt.Sprint(int(self))"
			}
			p.top = append(p.top, block("func (self "+t.name+") String() string", []*stmt{line("return %s", text)}))
		}
		for range p.r.IntN(3) {
			f, params, head := p.signature()
			m := method{p.fresh("M"), f}
			star := ""
			if p.r.IntN(3) == 0 {
				star = "*"
			}
			self := &variable{name: "self", typ: t, fixed: star != ""}
			if star != "" && t.kind != structure {
				self.typ = pointerTo(t)
			}
			body := p.pure(append(params, self), f)
			p.top = append(p.top, block("func (self "+star+t.name+") "+m.name+head+" "+f.elem.name, body))
			if star == "" {
				t.methods = append(t.methods, m)
			} else {
				t.pointerMethods = append(t.pointerMethods, m)
			}
		}
	}
}

// source is the program's text, and the statement of each line.
func (p *program) source() (string, []*stmt) {
	var b strings.Builder
	var lines []*stmt
	n := 0
	add := func(s *stmt, indent int, text string) {
		if args, ok := strings.CutPrefix(text, "emit("); ok { // what is printed is kept nowhere, and has a number
			n++
			text = fmt.Sprintf("emit(fmt.Sprintln(\"#%d\", %s)", n, args)
		}
		b.WriteString(strings.Repeat("\t", indent) + text + "\n")
		lines = append(lines, s)
	}
	var write func(list []*stmt, indent int)
	write = func(list []*stmt, indent int) {
		for i, s := range list {
			label := strings.HasSuffix(s.text, ":")
			if s.gone || label && (i+1 == len(list) || list[i+1].gone) { // a label goes with its loop
				continue
			}
			if s.parts == nil {
				add(s, indent, s.text)
				continue
			}
			for i, part := range s.parts {
				head := part.head + " {"
				if i > 0 && !strings.HasPrefix(head, "case") && !strings.HasPrefix(head, "default") {
					head = "} " + head
				}
				if strings.HasPrefix(head, "case") || strings.HasPrefix(head, "default") {
					head = part.head
				}
				add(s, indent, head)
				write(part.body, indent+1)
			}
			add(s, indent, cmp.Or(s.end, "}"))
		}
	}
	write(p.top, 0)
	return b.String(), lines
}

// valid drops statements until the program is valid Go. Few are not: a constant may not fit.
func (p *program) valid() bool {
	const head = "package p; var fmt struct{ Sprintln, Sprint func(x ...interface{}) string }\n" + prelude
	before := strings.Count(head, "\n")
	for range 40 {
		text, lines := p.source()
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "p.go", head+text, 0)
		if err != nil {
			panic(fmt.Sprintf("%v\n%s", err, text))
		}
		good := true
		conf := types.Config{Error: func(err error) {
			good = false
			at := err.(types.Error)
			if n := at.Fset.Position(at.Pos).Line - 1 - before; n >= 0 && n < len(lines) {
				lines[n].gone = true
			}
		}}
		_, _ = conf.Check("p", fset, []*ast.File{f}, nil)
		if good {
			return true
		}
	}
	return false
}
