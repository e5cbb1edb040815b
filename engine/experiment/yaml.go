package experiment

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"drtmx/engine/knob"

	"gopkg.in/yaml.v3"
)

// maxSpec bounds a spec's text. The longest useful one, every knob set, is a twentieth of it.
const maxSpec = 64 << 10

//go:embed specs/*.yaml
var shipped embed.FS

// shippedSpecs lists the shipped specs, the default first.
var shippedSpecs = []string{"phases", "models", "nvm", "registers", "rivals", "snapshots"}

// SpecNames lists the shipped specs, the default first.
func SpecNames() []string { return append([]string(nil), shippedSpecs...) }

// NamesFile says that LoadSpec reads a file of that name.
func NamesFile(nameOrFile string) bool {
	info, err := os.Stat(nameOrFile)
	return err == nil && !info.IsDir() && !slices.Contains(shippedSpecs, nameOrFile)
}

// LoadSpec finds a shipped spec by name or reads a YAML file. "" is the default spec. The name of a workload or a preset stands for the
// shipped spec of its kind of requests, with that workload or preset.
func LoadSpec(nameOrFile string) (Spec, error) {
	if nameOrFile == "" {
		nameOrFile = shippedSpecs[0]
	}
	for _, name := range shippedSpecs {
		if name == nameOrFile {
			text, err := shipped.ReadFile("specs/" + name + ".yaml")
			if err != nil {
				panic("engine: shipped spec " + name + " is not embedded")
			}
			return ParseSpec(text)
		}
	}
	f, err := knob.OpenRegular(nameOrFile)
	if i, statErr := os.Stat(nameOrFile); statErr == nil && i.IsDir() {
		err = fs.ErrNotExist // a folder that happens to have the name of what was meant
	}
	if err != nil {
		rule, next := "cannot be read: "+err.Error(), "`drtmx specs` lists the shipped ones"
		if errors.Is(err, fs.ErrNotExist) {
			if spec, ok, err := specOfPart(nameOrFile); ok {
				return spec, err
			}
			names := slices.Concat(shippedSpecs, knob.Find("workload").Choices, PresetNames())
			rule = "no shipped spec, no workload, no preset and no file" + cmp.Or(knob.DidYouMean(nameOrFile, names), knob.TakenBy(nameOrFile))
		}
		return Spec{}, &SpecError{Field: "spec", Value: knob.Clip(nameOrFile), Rule: rule, Next: next}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSpec+1))
	if err != nil {
		return Spec{}, &SpecError{Field: "spec", Value: knob.Clip(nameOrFile), Rule: "cannot be read: " + knob.Clip(err.Error()), Next: "name a YAML file"}
	}
	return ParseSpec(text)
}

// specOfPart is the spec that the name of a workload or a preset stands for; false: it is neither's.
func specOfPart(name string) (s Spec, ok bool, err error) {
	base, set := shippedSpecs[0], Knobs{}
	w := Workloads.Named(name)
	switch {
	case w != nil:
		set["workload"] = name
		if w.Ordered {
			base = "models"
		}
	case slices.Contains(PresetNames(), name):
		set["preset"] = name
	default:
		return Spec{}, false, nil
	}
	if s, err = LoadSpec(base); err == nil {
		s, err = s.With(set)
		s.Name = name
	}
	return s, true, err
}

// ParseSpec reads a spec from YAML. It is strict: keys that mean nothing, keys that come twice,
// aliases and nested settings are errors.
func ParseSpec(text []byte) (Spec, error) {
	if len(text) > maxSpec {
		return Spec{}, &SpecError{Field: "spec", Rule: fmt.Sprintf("longer than %d KiB", maxSpec>>10), Next: "a spec has five keys: name, preset, workload, set, systems"}
	}
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&doc); err != nil {
		if err == io.EOF {
			return Spec{}.normalize()
		}
		return Spec{}, badYAML(err)
	}
	switch err := dec.Decode(&more); err {
	case io.EOF:
	case nil:
		return Spec{}, &SpecError{Field: "spec", Rule: "more than one YAML document", Next: "keep one"}
	default:
		return Spec{}, badYAML(err)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return Spec{}.normalize()
	}
	root := doc.Content[0]
	if root.Tag == "!!null" {
		return Spec{}.normalize()
	}
	s, err := parseSpec(root, "spec", specKeys)
	if err != nil {
		return Spec{}, err
	}
	return s.normalize()
}

// The keys of a spec, and of a system that it lists.
var (
	systemKeys = []string{"name", "preset", "workload", "set"}
	specKeys   = append(systemKeys[:len(systemKeys):len(systemKeys)], "systems")
)

// parseSpec reads a spec from a mapping with these keys, or a system of one.
func parseSpec(n *yaml.Node, what string, keys []string) (Spec, error) {
	var s Spec
	err := eachKey(n, what, func(key string, val *yaml.Node) (err error) {
		switch {
		case !slices.Contains(keys, key) && key == "systems":
			return &SpecError{Field: "systems", Rule: fmt.Sprintf("line %d lists systems within a system", val.Line), Next: "a system has " + strings.Join(keys, ", ")}
		case !slices.Contains(keys, key) && knob.Find(key) != nil:
			return &SpecError{Field: knob.Clip(key), Rule: "is a knob and belongs under set", Next: "write it as `set: {" + key + ": ...}`"}
		case !slices.Contains(keys, key):
			return &SpecError{Field: knob.Clip(key), Rule: "unknown key" + knob.DidYouMean(key, keys), Next: "a " + strings.TrimSuffix(what, "s") + " has " + strings.Join(keys, ", ")}
		case key == "systems":
			s.Systems, err = parseSystems(val)
			return err
		case key != "set":
			text, err := scalar(key, val)
			if err == nil {
				*map[string]*string{"name": &s.Name, "preset": &s.Preset, "workload": &s.Workload}[key] = fmt.Sprint(text)
			}
			return err
		case val.Tag == "!!null":
			return nil
		}
		s.Set = Knobs{}
		return eachKey(val, "set", func(knob string, val *yaml.Node) error {
			v, err := scalar(knob, val)
			s.Set[knob] = v
			return err
		})
	})
	return s, err
}

func badYAML(err error) error {
	return &SpecError{Field: "spec", Rule: "is not YAML: " + knob.Clip(strings.TrimPrefix(err.Error(), "yaml: ")), Next: "see `drtmx specs` for examples"}
}

// eachKey walks a mapping in order.
func eachKey(n *yaml.Node, what string, f func(key string, val *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode || n.Anchor != "" {
		return &SpecError{Field: what, Rule: fmt.Sprintf("line %d must be a mapping of keys to values, without anchors", n.Line), Next: "see `drtmx specs` for examples"}
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.Anchor != "" {
			return &SpecError{Field: what, Rule: fmt.Sprintf("line %d has a key that is not a plain word", key.Line), Next: "write knob: value"}
		}
		if seen[key.Value] {
			return &SpecError{Field: knob.Clip(key.Value), Rule: fmt.Sprintf("comes twice, again on line %d", key.Line), Next: "keep one"}
		}
		seen[key.Value] = true
		if err := f(key.Value, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// scalar reads a single value: bool, or text that the knob's own parser reads.
func scalar(key string, n *yaml.Node) (any, error) {
	if n.Kind != yaml.ScalarNode || n.Anchor != "" || n.Tag == "!!null" {
		return nil, &SpecError{Field: knob.Clip(key), Rule: fmt.Sprintf("line %d must be a single value", n.Line), Next: "write `" + knob.Clip(key) + ": value`"}
	}
	if n.Tag == "!!bool" {
		var b bool
		if err := n.Decode(&b); err != nil {
			return nil, badYAML(err)
		}
		return b, nil
	}
	return n.Value, nil
}

// YAML is the spec as a file. ParseSpec reads back an equal spec.
func (s Spec) YAML() string {
	var b strings.Builder
	s.write(&b, "", "")
	if len(s.Systems) > 0 {
		b.WriteString("systems:\n")
	}
	for _, x := range s.Systems {
		x.write(&b, "  - ", "    ")
	}
	return b.String()
}

// write writes the spec's keys behind an indentation, that of the first one apart.
func (s Spec) write(b *strings.Builder, first, indent string) {
	line := func(more, key string, v any) {
		text, err := yaml.Marshal(v)
		if err != nil {
			panic(fmt.Sprintf("engine: knob %s = %v is no YAML: %v", key, v, err))
		}
		fmt.Fprintf(b, "%s%s%s: %s", first, more, key, text)
		first = indent
	}
	for _, f := range []struct{ key, v string }{{"name", s.Name}, {"preset", s.Preset}, {"workload", s.Workload}} {
		if f.v != "" {
			line("", f.key, f.v)
		}
	}
	if len(s.Set) == 0 {
		return
	}
	fmt.Fprintf(b, "%sset:\n", first)
	first = indent
	for _, name := range SortedNames(s.Set) {
		line("  ", name, knob.Readable(name, s.Set[name]))
	}
}

// String is the spec's YAML.
func (s Spec) String() string { return s.YAML() }
