package differential_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// kind is what the operators of a type are.
type kind int

const (
	integer kind = iota // signed, if signed is set
	float
	complexNumber
	text
	boolean
	array
	slice
	mapping
	structure
	pointer
	function
	iface
)

// typ is a type of a generated program.
type typ struct {
	kind   kind
	name   string // as written in the program
	bits   int
	signed bool
	elem   *typ // of an array, slice, map or pointer; a function's result
	key    *typ // of a map
	n      int  // of an array
	fields []field
	params []*typ
	// shared is how many of the shared methods a type has, or an interface asks for; byPointer: the receivers are pointers.
	shared    int
	byPointer bool
	rest      bool // a function's last parameter is variadic
	named     bool
	// methods of a named type: value receivers, and pointer receivers.
	methods, pointerMethods []method
}

type field struct {
	name string
	typ  *typ
	in   *typ // embedded through it
}

type method struct {
	name string
	f    *typ
}

func integerType(name string, bits int, signed bool) *typ {
	return &typ{kind: integer, name: name, bits: bits, signed: signed}
}

// basics are the types that have operators.
var basics = []*typ{
	integerType("int", 64, true), integerType("int8", 8, true), integerType("int16", 16, true), integerType("int32", 32, true),
	integerType("int64", 64, true), integerType("uint", 64, false), integerType("uint8", 8, false), integerType("uint16", 16, false),
	integerType("uint32", 32, false), integerType("uint64", 64, false), integerType("uintptr", 64, false),
	{kind: float, name: "float32", bits: 32}, {kind: float, name: "float64", bits: 64},
	{kind: complexNumber, name: "complex64", bits: 64}, {kind: complexNumber, name: "complex128", bits: 128},
	{kind: text, name: "string"}, {kind: boolean, name: "bool"},
}

var (
	intType    = basics[0]
	stringType = basics[15]
	boolType   = basics[16]
)

func (t *typ) number() bool { return t.kind == integer || t.kind == float || t.kind == complexNumber }

// basic is a type with literals.
func (t *typ) basic() bool { return t.number() || t.kind == text || t.kind == boolean }

// comparable types can be keys, and have == and !=.
func (t *typ) comparable() bool {
	switch t.kind {
	case slice, mapping, function, iface, pointer:
		return false
	case array:
		return t.elem.comparable()
	case structure:
		for _, f := range t.fields {
			if !f.typ.comparable() {
				return false
			}
		}
	}
	return true
}

// printable values print the same in two processes.
func (t *typ) printable() bool {
	switch t.kind {
	case pointer, function, iface:
		return false
	case array, slice, mapping:
		return t.elem.printable()
	case structure:
		for _, f := range t.fields {
			if !f.typ.printable() {
				return false
			}
		}
	}
	return true
}

// known has one of each type, so that types can be compared.
var known = map[string]*typ{}

func once(t *typ) *typ {
	if known[t.name] == nil {
		known[t.name] = t
	}
	return known[t.name]
}

func sliceOf(e *typ) *typ { return once(&typ{kind: slice, name: "[]" + e.name, elem: e}) }
func arrayOf(n int, e *typ) *typ {
	return once(&typ{kind: array, name: fmt.Sprintf("[%d]%s", n, e.name), elem: e, n: n})
}
func mapOf(k, e *typ) *typ {
	return once(&typ{kind: mapping, name: "map[" + k.name + "]" + e.name, key: k, elem: e})
}
func pointerTo(e *typ) *typ { return once(&typ{kind: pointer, name: "*" + e.name, elem: e}) }

func funcOf(params []*typ, rest bool, result *typ) *typ {
	var names []string
	for i, p := range params {
		if rest && i == len(params)-1 {
			names = append(names, "..."+p.elem.name)
		} else {
			names = append(names, p.name)
		}
	}
	return once(&typ{kind: function, name: "func(" + strings.Join(names, ", ") + ") " + result.name, params: params, rest: rest, elem: result})
}

// whole types have zero values whose parts can all be used.
func (t *typ) whole() bool {
	switch t.kind {
	case slice, mapping, pointer, function, iface:
		return false
	case array:
		return t.elem.whole()
	case structure:
		for _, f := range t.fields {
			if !f.typ.whole() {
				return false
			}
		}
	}
	return true
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func basicType(r *rand.Rand) *typ {
	if r.IntN(4) == 0 {
		return basics[9] // uint64: the type of every key
	}
	return pick(r, basics)
}

// anyOf is a type that may have parts. Types of the program are among them.
func (p *program) anyOf(depth int) *typ {
	r := p.r
	if len(p.types) > 0 && r.IntN(3) == 0 {
		return pick(r, p.types)
	}
	if depth <= 0 {
		return basicType(r)
	}
	switch r.IntN(12) {
	case 0:
		return arrayOf(1+r.IntN(4), p.anyOf(depth-1))
	case 1, 2:
		return sliceOf(p.anyOf(depth - 1))
	case 3:
		if e := p.anyOf(depth - 1); e.whole() {
			return mapOf(p.keyType(), e)
		}
	case 4:
		if depth > 1 {
			return pointerTo(p.anyOf(depth - 1))
		}
	}
	return basicType(r)
}

func (p *program) keyType() *typ {
	for {
		// NaN is a key that is never found, and floats print as keys in an order of their own.
		if t := p.anyOf(0); t.comparable() && (t.kind == integer || t.kind == text || t.kind == boolean) {
			return t
		}
	}
}
