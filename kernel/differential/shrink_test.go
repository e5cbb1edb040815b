package differential_test

import (
	"fmt"
	"regexp"
	"testing"
)

// shrink drops statements of a program as long as fails is true of what is left: of the candidates that it is given, which do.
func (p *program) shrink(fails func(candidates []*program) []bool, atOnce int) {
	for step := len(p.all()) / 2; step > 0; {
		var candidates []*program
		dropped := false
		try := func() bool {
			for i, failed := range fails(candidates) {
				if failed {
					kept := p.kept(candidates[i])
					for _, s := range p.all() {
						s.gone = !kept[s]
					}
					return true
				}
			}
			candidates = nil
			return false
		}
		for at := 0; ; {
			list := p.all()
			end := at >= len(list)
			if !end {
				c := p.without(list[at:min(at+step, len(list))], len(candidates))
				if c.valid() && len(c.all()) < len(list) && c.declares("run") && c.declares("main") {
					candidates = append(candidates, c)
				}
				at += step
			}
			if len(candidates) == atOnce || end && len(candidates) > 0 {
				if try() {
					dropped = true
					candidates = nil
					if at -= step * atOnce; at < 0 {
						at = 0
					}
				}
			}
			if end {
				break
			}
		}
		if !dropped || step > 1 {
			step /= 2
		}
	}
}

// all are the statements that the program has, those below others behind them.
func (p *program) all() (list []*stmt) {
	var add func([]*stmt)
	add = func(stmts []*stmt) {
		for _, s := range stmts {
			if !s.gone {
				list = append(list, s)
				for _, part := range s.parts {
					add(part.body)
				}
			}
		}
	}
	add(p.top)
	return list
}

// without is a copy of the program without some statements, with names of its own.
func (p *program) without(drop []*stmt, id int) *program {
	dropped := map[*stmt]bool{}
	for _, s := range drop {
		dropped[s] = true
	}
	c := &program{r: p.r, id: 1000000 + id, from: map[*stmt]*stmt{}}
	names := regexp.MustCompile(fmt.Sprintf(`\b([A-Za-z]+)%d(_\d+)?\b`, p.id))
	rename := func(text string) string { return names.ReplaceAllString(text, fmt.Sprintf("${1}%d${2}", c.id)) }
	var clone func([]*stmt) []*stmt
	clone = func(stmts []*stmt) (list []*stmt) {
		for _, s := range stmts {
			if s.gone || dropped[s] {
				continue
			}
			n := &stmt{text: rename(s.text), end: s.end}
			for _, pt := range s.parts {
				n.parts = append(n.parts, part{rename(pt.head), clone(pt.body)})
			}
			c.from[n] = s
			list = append(list, n)
		}
		return list
	}
	c.top = clone(p.top)
	return c
}

// kept are the statements of the program that a copy still has.
func (p *program) kept(c *program) map[*stmt]bool {
	kept := map[*stmt]bool{}
	for _, s := range c.all() {
		kept[c.from[s]] = true
	}
	return kept
}

// declares is true if the program declares the function that runs it.
func (p *program) declares(name string) bool {
	text, _ := p.source()
	return regexp.MustCompile(fmt.Sprintf(`(?m)^func %s%d\(`, name, p.id)).MatchString(text)
}

// smallest shrinks a program that the kernel refuses, or runs otherwise than Go.
func smallest(t *testing.T, p *program, refused string) string {
	k := withPrelude(t)
	defer func() { _ = k.end() }()
	atOnce := 1
	if refused == "" {
		atOnce = 25
	}
	p.shrink(func(candidates []*program) []bool {
		failed := make([]bool, len(candidates))
		var want []string
		if refused == "" && len(candidates) > 0 {
			want = compiled(t, candidates)
		}
		for i, c := range candidates {
			got := k.program(t, c)
			if got.Error == kernelEnded {
				_ = k.end()
				k = withPrelude(t)
			}
			if refused != "" {
				failed[i] = kindOf(got.Error) == kindOf(refused)
			} else {
				failed[i] = got.Error == "" && got.Value != want[i]
			}
			if failed[i] {
				break
			}
		}
		return failed
	}, atOnce)
	text, _ := p.source()
	if refused == "" {
		return fmt.Sprintf("%s\nGo:\n%s\nthe kernel:\n%s", text, compiled(t, []*program{p})[0], k.program(t, p).Value)
	}
	return text
}

var placeAndNames = regexp.MustCompile(`^line \d+: |[0-9]+`)

// kindOf is a message without what differs from program to program.
func kindOf(message string) string {
	s := placeAndNames.ReplaceAllString(message, "")
	return s[:min(len(s), 24)]
}
