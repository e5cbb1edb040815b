package differential_test

import (
	"strings"
	"testing"
)

// Programs that the interpreter was wrong for, or did not compile.
func TestPrograms(t *testing.T) {
	k := start(t)
	for _, cell := range []string{`import "fmt"`, `import "drtmx/engine/history"`} {
		if a := k.run(t, cell); a.Error != "" {
			t.Fatal(a.Error)
		}
	}
	for _, tt := range []struct{ cell, want string }{
		{`func keys() string { s := ""; accounts := 400; for node := 0; node < 2; node++ { first := uint64(1000*(node+1)); for t := 0; t < 2; t++ { for a := 0; a < 2; a++ { key := first + uint64(10*t+a); s += fmt.Sprint(key, " ") } } }; _ = accounts; return s }; keys()`,
			"1000 1001 1010 1011 2000 2001 2010 2011 "},
		{`x := []uint64{6}; x[0] ^= 3; x[0]`, "5"},
		{`y := uint64(3); x = []uint64{6}; x[0] ^= y; x[0]`, "5"},
		{`ten := uint64(10); ten / 18446744073709551615`, "0"},
		{`ten = 10; ten /= 18446744073709551615; ten`, "0"},
		{`ten = 10; ten * 18446744073709551615`, "18446744073709551606"},
		{`m := map[string]int{}; m["a"] += 0; m["b"] ^= 5; m["c"] <<= 2; fmt.Sprint(m)`, "map[a:0 b:5 c:0]"},
		{`b := []uint8{6, 7}; b[uint64(1)] <<= uint8(2); b[uint8(0)] >>= 1; fmt.Sprint(b, b[uint64(1):])`, "[3 28] [28]"},
		{`c := complex128(1); q := &c; *q *= 2i; fmt.Sprint(c)`, "(0+2i)"},
		{`const off = false; s := ""; switch { case off: s = "off"; case !off: s = "on" }; s`, "on"},
		{`type flag bool; f := flag(true); s = ""; switch { case bool(f) && false, bool(!f): s = "no"; case bool(f): s = "yes" }; s`, "yes"},
		{`s = ""; switch { case true: s = "first"; case !off: s = "second" }; s`, "first"},
		{`inf := 1e300; inf *= 1e300; fmt.Sprint(inf * 0, inf / 0)`, "NaN +Inf"},
		{`ch := make(chan int, 1); close(ch); got := true; select { case _, got = <-ch: }; got`, "false"},
		{`func take(ch chan int) string { select { case v, ok := <-ch: return fmt.Sprint(v, ok) }; return "" }; open := make(chan int, 1); open <- 4; take(ch) + ", " + take(open)`, "0 false, 4 true"},
		{`func id(x int) int { return x }; id(m["b"])`, "5"},
		{`fmt.Sprint(-float64(0), -1*float32(0), -complex64(1), complex128(3+4i)/(0.25+0.1i))`, "0 0 (-1+0i) (15.862068965517242+9.655172413793103i)"},
		{`func fresh() string { b := []byte("abc"); b[0]++; return string(b) }; fresh() + fresh()`, "bbcbbc"},
		{`type word string; w := word("abcd"); w + w[2:]`, "abcdcd"},
		{`on := flag(true); on == (on && on)`, "true"},
		{`type count int; func (c *count) Inc() { *c++ }; type pair struct{ A count; B [2]count }; func counts() string { var c count; c.Inc(); f := c.Inc; f(); var p pair; p.A.Inc(); p.B[1].Inc(); (*count).Inc(&p.A); return fmt.Sprint(c, p) }; counts()`, "2 {2 [0 1]}"},
		{`s = ""; switch "ab" { case "abc"[1:]: s = "no"; case "bc": s = "twice"; case "abc"[:2]: s = "yes" }; s`, "yes"},
		{`type kind int; func (k kind) String() string { return "k" + fmt.Sprint(int(k)) }; kinds := []kind{1}; fmt.Sprintf("%v %s %d %4v", kind(2), kinds[0], kind(3), kinds[0])`, "k2 k1 3   k1"},
		{`type failed struct{ Code int }; func (e *failed) Error() string { return fmt.Sprint("code ", e.Code) }; func fail() error { return &failed{7} }; fmt.Sprint(fail(), &failed{8})`, "code 7 code 8"},
		{`type wave complex64; fmt.Sprint(wave(float64(3)/4), int16(wave(255)))`, "(0.75+0i) 255"},
		{`type list []int; func (l list) Sum() int { n := 0; for _, x := range l { n += x }; return n }; l := &list{1, 2}; l.Sum()`, "3"},
		{`func even(n int) bool { if n == 0 { return true }; return odd(n - 1) }; func odd(n int) bool { if n == 0 { return false }; return even(n - 1) }; even(10)`, "true"},
		{`var start = later() + 1; func later() int { return pong(3) }; func ping(n int) int { if n == 0 { return 40 }; return pong(n - 1) }; func pong(n int) int { return ping(n) + 1 }; start`, "45"},
		{`var depth = dig(); func dig() int { depth := 3; return depth + 1 }; fmt.Sprint(depth)`, "4"},
		{`func shovel() int { width := 5; return width }; var width = shovel(); width`, "5"},
		{`type purse struct{ n int }; func (p *purse) Twice() int { return 2 * p.one() }; func (p *purse) one() int { return p.n + offset }; var offset = 3; (&purse{4}).Twice()`, "14"},
		{`type named interface{ Name() string }; func show(x named) string { return x.Name() }; var shown = func() string { return show(city{"Bern"}) }; type city struct{ name string }; func (c city) Name() string { return c.name }; shown()`, "Bern"},
		{`var claim history.Claim = "mine"; string(claim) + string(history.Claim("'s"))`, "mine's"},
	} {
		if a := k.run(t, tt.cell); a.Error != "" || a.Value != tt.want {
			t.Errorf("%s\ngives %q, compiled Go %q, error %q", tt.cell, a.Value, tt.want, a.Error)
		}
	}
	if err := k.end(); err != nil {
		t.Error(err)
	}
}

// Each iteration of a loop has variables of its own, and what its body does to them does not lead it astray.
func TestLoopVariables(t *testing.T) {
	k := start(t)
	if a := k.run(t, `import "fmt"`); a.Error != "" {
		t.Fatal(a.Error)
	}
	for _, tt := range []struct{ cell, want string }{
		{`s := 0; for i := range 10 { s += i }; s`, "45"},
		{`s = 0; for range uint8(3) { s++ }; s`, "3"},
		{`var fs []func() int; for i := 0; i < 3; i++ { fs = append(fs, func() int { return i }) }; fmt.Sprint(fs[0](), fs[1](), fs[2]())`, "0 1 2"},
		{`fs = nil; for i := 0; i < 6; i++ { if i == 1 { continue }; fs = append(fs, func() int { i += 10; return i }); i++ }; fmt.Sprint(fs[0](), fs[0](), fs[1](), fs[2]())`, "11 21 13 15"},
		{`fs = nil; for i := range 3 { fs = append(fs, func() int { i *= 2; return i }) }; fmt.Sprint(fs[2](), fs[2](), fs[1]())`, "4 8 2"},
		{`fs = nil; for i, v := range []int{5, 6, 7} { fs = append(fs, func() int { i += 10; v++; return i*100 + v }) }; fmt.Sprint(fs[0](), fs[1](), fs[2](), fs[0]())`, "1006 1107 1208 2007"},
		{`fs = nil; for _, r := range "ab" { fs = append(fs, func() int { return int(r) }) }; fmt.Sprint(fs[0](), fs[1]())`, "97 98"},
		{`fs = nil; for k, v := range map[int]int{1: 2, 3: 4} { fs = append(fs, func() int { return k + v }) }; fs[0]() + fs[1]()`, "10"},
		{`fs = nil; ch := make(chan int, 2); ch <- 1; ch <- 2; close(ch); for v := range ch { fs = append(fs, func() int { return v }) }; fmt.Sprint(fs[0](), fs[1]())`, "1 2"},
		{`var ps []*int; for i := 0; i < 3; i++ { ps = append(ps, &i) }; fmt.Sprint(*ps[0], *ps[1], *ps[2])`, "0 1 2"},
		{`type S struct{ N int }; var ss []*S; for _, v := range []S{{1}, {2}} { ss = append(ss, &v) }; fmt.Sprint(ss[0].N, ss[1].N)`, "1 2"},
		{`out := ""; for i := range []int{1, 2, 3} { i += 1; out += fmt.Sprint(i) }; out`, "123"},
	} {
		if a := k.run(t, tt.cell); a.Error != "" || a.Value != tt.want {
			t.Errorf("%s\ngives %q, compiled Go %q, error %q", tt.cell, a.Value, tt.want, a.Error)
		}
	}
	if err := k.end(); err != nil {
		t.Error(err)
	}
}

// A message names the part that is wrong, and one unknown import does not take the others along.
func TestMessages(t *testing.T) {
	k := start(t)
	for _, tt := range []struct{ cell, value, message string }{
		{"import (\n\"strings\"\n\"drtmx/engine/stor\"\n)", "", `import "drtmx/engine/stor": not among the packages of this kernel`},
		{`strings.ToUpper("a")`, "A", ""},
		{`type T struct{ Points []struct{ Result int } }; func f(x int) T { return T{} }; v := T{}`, "", ""},
		{`f(2).Nope`, "", `f(2) has no field or method like that: f(2).Nope; there are Points`},
		{`undefinedName.Raw.Points[0].Result`, "", "undefined identifier: undefinedName"},
		{`v.Point[0].Result`, "", "v has no field or method like that: v.Point, did you mean Points?"},
		{`v.Points[0].Resultt`, "", `has no field or method "Resultt": v.Points[0].Resultt`},
	} {
		a := k.run(t, tt.cell)
		if (a.Error == "") != (tt.message == "") || !strings.Contains(a.Error, tt.message) || tt.value != "" && a.Value != tt.value {
			t.Errorf("%s\ngives %q, error %q, want %q", tt.cell, a.Value, a.Error, tt.message)
		}
	}
	if err := k.end(); err != nil {
		t.Error(err)
	}
}

// A type that is declared again is another type, and a cell that does not compile changes nothing.
func TestDeclaredAgain(t *testing.T) {
	k := start(t)
	for _, tt := range []struct{ cell, value, message string }{
		{`type T struct{ n int }; func (t T) A() int { return t.n }; func (t T) B() int { return t.A() + 1 }; old := T{6}; func useOld(t T) int { return t.B() }`, "", ""},
		{`func (t T) A() int { return 10 * t.n }; useOld(old)`, "61", ""}, // of the same type, so that it is as with a new body of a function
		{`func (t T) A() int { return nope }`, "", "undefined identifier: nope"},
		{`func useOld(t T) int { return nope }; func (t T) B() int { return 0 }`, "", "undefined identifier: nope"},
		{`type T struct{ s string }; func (t T) B() int { return nope }`, "", "undefined identifier: nope"},
		{`func unheard() int { return heard() }; func heard() int { return nope }`, "", "undefined identifier: nope"},
		{`unheard()`, "", "undefined identifier: unheard"},
		{`useOld(old) + T{1}.B()`, "72", ""},
		{`type T struct{ s string; n int }; func (t T) A() int { return len(t.s) }`, "", ""},
		{`T{"abc", 1}.A()`, "3", ""},
		{`T{}.B()`, "", `T{} has no field or method like that: T{}.B; there are n, s`},
		{`useOld(old)`, "61", ""},
		{`useOld(T{})`, "", "T was declared again since: run the cells that use it again"},
		{`old = T{}`, "", "T was declared again since: run the cells that use it again"},
	} {
		a := k.run(t, tt.cell)
		if (a.Error == "") != (tt.message == "") || !strings.Contains(a.Error, tt.message) || tt.value != "" && a.Value != tt.value {
			t.Errorf("%s\ngives %q, error %q, want %q, %q", tt.cell, a.Value, a.Error, tt.value, tt.message)
		}
	}
	if err := k.end(); err != nil {
		t.Error(err)
	}
}

// What the interpreter refuses of Go is named, with what to write instead: the handbook's page of notebooks lists it.
func TestRefused(t *testing.T) {
	k := start(t)
	for _, tt := range []struct{ cell, says string }{
		{`func Map[T any](x []T) []T { return x }`, "the kernel has no generics: write the function or type for each of its types"},
		{`type List[T any] struct{ A T }`, "the kernel has no generics"},
		{`type Number interface{ ~int | ~uint64 }`, "the kernel has no generics"},
		{`min(1, 2)`, "the kernel has no min and max: write if a < b"},
		{`max(1, 2)`, "the kernel has no min and max"},
		{`m := map[int]int{1: 2}; clear(m)`, "the kernel has no clear: make a new map"},
		{`func each(yield func(int) bool) { yield(1) }; for x := range each { _ = x }`, "the kernel has no range over functions: call it"},
		{`type Node interface{ Next() Node }`, "the kernel has no interface whose methods take or return it"},
		{`func f() { i := 0; top: i++; if i < 3 { goto top } }`, "the kernel has no goto: write a loop"},
	} {
		if a := k.run(t, tt.cell); !strings.Contains(a.Error, tt.says) {
			t.Errorf("%s\ngives %q, error %q, want %q", tt.cell, a.Value, a.Error, tt.says)
		}
	}
	if err := k.end(); err != nil {
		t.Error(err)
	}
}
