package main

import (
	"fmt"
	"go/types"
	"math/bits"
	"os"
	"slices"
	"strings"
)

// readOptional reads which interfaces compiled code may ask of the values of another one, by their full names.
func readOptional(file string) (map[string][]string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	asked := map[string][]string{}
	for line := range strings.Lines(string(b)) {
		line, _, _ = strings.Cut(line, "#")
		name, more, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ok {
			asked[name] = strings.Fields(more)
		} else if name != "" {
			return nil, fmt.Errorf("%s: %q has no colon: write INTERFACE: and what may be asked of its values", file, name)
		}
	}
	return asked, nil
}

// optionalProxies writes a proxy for each choice of the interfaces that a value of obj's may be asked for, those with most of them first.
func (f *file) optionalProxies(obj *types.TypeName, asked []*types.TypeName) error {
	if len(asked) == 0 {
		return nil
	}
	its := []*types.Interface{obj.Type().Underlying().(*types.Interface)}
	for _, a := range asked {
		it, ok := a.Type().Underlying().(*types.Interface)
		if !ok || !proxyable(it) {
			return fmt.Errorf("%s is no interface that a type of a cell can implement", a.Name())
		}
		its = append(its, it)
	}
	var choices []uint
	for set := uint(1); set < 1<<len(asked); set++ {
		choices = append(choices, set)
	}
	slices.SortStableFunc(choices, func(a, b uint) int { return bits.OnesCount(b) - bits.OnesCount(a) })
	q := func(t *types.TypeName) string { return f.qual(t.Pkg()) + "." + t.Name() }
	fast := f.qual(interpreter)
	fmt.Fprintf(&f.optional, "%s.Optional[r.TypeOf((*%s)(nil)).Elem()] = []%s.OptionalProxy{\n", fast, q(obj), fast)
	for _, set := range choices {
		name := fmt.Sprintf("P_%s_%s_%d", slug(f.path), obj.Name(), set)
		chosen, more := its[:1:1], ""
		for i, a := range asked {
			if set&(1<<i) != 0 {
				chosen = append(chosen, its[i+1])
				more += fmt.Sprintf("r.TypeOf((*%s)(nil)).Elem(), ", q(a))
			}
		}
		fmt.Fprintf(&f.optional, "{Proxy: r.TypeOf((*%s)(nil)).Elem(), More: []r.Type{%s}},\n", name, more)
		f.proxy(name, chosen...)
	}
	f.optional.WriteString("}\n")
	return nil
}
