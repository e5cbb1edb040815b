package differential_test

import (
	"strings"
	"testing"
)

// Types of a cell in interfaces, with themselves in them, and declared below their use.
func TestTypesOfCells(t *testing.T) {
	k := start(t)
	for _, tt := range []struct{ cell, want string }{
		{`import "fmt"; import "errors"`, ""},
		{`type A int; func (a A) M() int { return int(a) }; type B int; func (b B) M() int { return int(b) * 10 }; type C struct{ X int }; func (c *C) M() int { return c.X }; type I interface{ M() int }`, ""},
		{`a, b := A(1), B(1); is := []I{a, &C{3}}; is = append(is, b); is[0] = A(2); is[0].M() + is[1].M() + is[2].M()`, "15"},
		{`byName := map[string]I{"a": a}; byName["b"] = b; arr := [2]I{a}; arr[1] = b; s := struct{ V I }{a}; s.V = b; byName["b"].M() + arr[1].M() + s.V.M()`, "30"},
		{`ch := make(chan I, 1); ch <- a; f := func(i I) int { return i.M() }; f(<-ch) + f(B(2))`, "21"},
		{`n := 0; for _, i := range is { switch x := i.(type) { case A, B: n += x.M(); case *C: n += 100 * x.X } }; n`, "312"},
		{`n = 0; switch is[0].(type) { case B: n = 1; case *C: n = 2; default: n = 4 }; n`, "4"},
		{`var none I; n = 0; switch none.(type) { case A: n = 1; case nil: n = 2 }; _, ok := none.(A); fmt.Sprint(n, ok)`, "2 false"},
		{`_, isC := is[1].(*C); j, isN := is[1].(interface{ N() int }); fmt.Sprint(isC, isN, j == nil, is[0] == I(A(2)), is[0] == is[2])`, "true false true true false"},
		{`const one = A(1); var i I = one; i.M()`, "1"},
		{`type E int; func (e E) Error() string { return fmt.Sprint("E", int(e)) }; func fail() (int, error) { return 1, E(7) }; _, err := fail(); v, isE := err.(E); fmt.Sprint(int(v), isE, err == E(7))`, "7 true true"},
		{`type word string; func (w word) String() string { return "<" + string(w) + ">" }; func two() (word, error) { return "x", E(1) }; fmt.Sprint(two())`, "<x> E1"},
		{`fmt.Sprint([]word{"a"}, map[word]E{"k": 2}, struct{ W word; P *word }{"b", nil}, &struct{ E E }{3}, []I{A(4), nil}, is[1] == nil)`, "[<a>] map[<k>:E2] {<b> <nil>} &{E3} [4 <nil>] false"},
		{`var bare any = i; fmt.Sprint(bare, i)`, "1 1"},
		{`func caught() (s string) { defer func() { if e, ok := recover().(error); ok { s = e.Error() } }(); panic(err) }; caught()`, "E7"},
		{`type N struct{ Next *N; V int }; func (n *N) Sum() int { if n == nil { return 0 }; return n.V + n.Next.Sum() }; func (n N) Plus(o *N) int { return n.V + o.V }; x := &N{&N{nil, 4}, 3}; fmt.Sprint(x.Sum(), x.Plus(x.Next), x.Next.Sum())`, "7 7 4"},
		{`func New() I { return &late{2} }; type late struct{ v int }; func (l *late) M() int { return even(l.v) }; func even(n int) int { if n == 0 { return 5 }; return odd(n - 1) }; func odd(n int) int { return even(n - 1) }; New().M()`, "5"},
		{`var first = second(); func second() int { return third + 1 }; var third = 5; first`, "6"},
		{`type list []int; func (l list) M() int { return len(l) }; I(list{1, 2, 3}[1:]).M()`, "2"},
		{`type tree map[string]tree; func (t tree) Count() int { n := 1; for _, c := range t { n += c.Count() }; return n }; tree{"a": {"b": nil}, "c": {}}.Count()`, "4"},
		{`var grown = tree{}; grown["a"] = nil; grown["b"] = tree{}; _, has := grown["a"]; fmt.Sprint(grown.Count(), has)`, "3 true"},
		{`ce := make(chan error, 3); ce <- nil; var noErr error; ce <- noErr; select { case ce <- nil: default: }; got, open := <-ce; fmt.Sprint(len(ce), got, open)`, "2 <nil> true"},
		{`cu, cf := make(chan uint64, 1), make(chan error, 1); select { case cu <- 1: }; select { case cf <- E(3): }; fmt.Sprint(<-cu, <-cf)`, "1 E3"},
		{`import "container/heap"; type least []uint64; func (h least) Len() int { return len(h) }; func (h least) Less(i, j int) bool { return h[i] < h[j] }; func (h least) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *least) Push(x any) { *h = append(*h, x.(uint64)) }; func (h *least) Pop() any { x := (*h)[len(*h)-1]; *h = (*h)[:len(*h)-1]; return x }
h := &least{5, 2, 8}; heap.Init(h); heap.Push(h, uint64(3)); fmt.Sprint(heap.Pop(h), heap.Pop(h), h.Len())`, "2 3 2"},
		{`type Account struct { ID uint64; owner word; next *Account; in struct{ w word; Of word } }; acc := Account{ID: 1, owner: "bob"}; fmt.Sprintf("%v %+v", &acc, acc)`, "&{1 bob <nil> { }} {ID:1 owner:bob next:<nil> in:{w: Of:}}"},
		{`import "encoding/json"; js, err2 := json.Marshal([]Account{acc}); fmt.Sprint(string(js), err2)`, `[{"ID":1}]<nil>`},
	} {
		if a := k.run(t, tt.cell); a.Error != "" || a.Value != tt.want && tt.want != "" {
			t.Errorf("%s\ngives %q, compiled Go %q, error %q", tt.cell, a.Value, tt.want, a.Error)
		}
	}
	if err := k.end(); err != nil {
		t.Error(err)
	}
}

// Where an interface without methods would mix up types, the cell is refused, whichever of the two that mix comes first. A cell that was
// refused has put nothing anywhere, and what was compiled of it does not run with the next.
func TestMixedUpTypesAreRefused(t *testing.T) {
	const apart = "cannot tell them apart there: use an interface with a method"
	for _, cells := range [][]struct{ cell, value, says string }{
		{{`n := 0; type I interface{ M() }`, "", ""}, {`n = 7; if n > 3 { var i I; n = 8; switch i.(type) { case string: } }`, "", "impossible typeswitch case"}, {`var z int; n + z`, "0", ""},
			{`k := 3; n = "a"`, "", "constant"}, {`k`, "", "undefined identifier: k"}, {`n := "b" + nope`, "", "undefined identifier: nope"}, {`n + 1`, "1", ""},
			{`import "strings"; strings.Upper("a")`, "", "Upper"}, {`strings.ToUpper("a")`, "A", ""}},
		{{`type T uint64; type U uint64; var x any = T(1)`, "", ""}, {`n := 0; switch x.(type) { case uint64: n = 1 }`, "", apart}, {`x.(uint64)`, "", apart}, {`x.(U)`, "", apart}, {`y := x.(T); uint64(y)`, "1", ""}, {`s := x.(string)`, "", "interface conversion"}},
		{{`func f(x any) int { if _, ok := x.(uint64); ok { return 1 }; return 0 }`, "", ""}, {`type T uint64; f(T(1))`, "", apart}, {`f(uint64(1))`, "1", ""}, {`f("a")`, "0", ""}},
		{{`import "fmt"; type T int; var t T; fmt.Sprint(t)`, "0", ""}, {`var x any = 5; y := x.(int); y`, "5", ""}}, // what fmt prints is not kept
		{{`type T uint64`, "", ""}, {`any(T(1)) == any(uint64(1))`, "", apart}, {`m := map[any]int{}; m[T(1)]++; m[uint64(1)]++`, "", apart}, {`m2 := map[any]int{}; m2[T(1)]++; m2[T(2)]++; len(m2)`, "2", ""}},
		{{`type T struct{ X int }; func (T) String() string { return "T" }; import "fmt"; var x any = T{1}`, "", ""}, {`_, ok := x.(fmt.Stringer)`, "", "has lost its methods"}},
		{{`type T int; func (T) M() {}; type I interface{ M() }; m := map[I]int{}`, "", "does not find such a key again"}},
		{{`type E int; func (E) Error() string { return "" }; var e error = E(1)`, "", ""}, {`m := map[error]int{}`, "", "does not find such a key again"}},
	} {
		k := start(t)
		for _, c := range cells {
			a := k.run(t, c.cell)
			if (a.Error == "") != (c.says == "") || !strings.Contains(a.Error, c.says) || c.value != "" && a.Value != c.value {
				t.Errorf("%s\ngives %q, error %q, want %q, %q", c.cell, a.Value, a.Error, c.value, c.says)
			}
		}
		if err := k.end(); err != nil {
			t.Error(err)
		}
	}
}
