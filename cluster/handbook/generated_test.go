package handbook

import (
	"fmt"
	"slices"
	"strings"

	"drtmx/engine/experiment"
)

// What a page repeats of the code stands between these comments, with its name in the first.
const (
	generatedBegin = "<!-- generated: "
	generatedEnd   = "<!-- end -->"
)

// generated is what belongs into a page under a name; ok if there is such a thing.
func generated(p Page, name string) (text string, ok bool) {
	if name == "knobs" {
		return knobList(p.Name), true
	}
	return "", false
}

// family is a set of knobs that differ in one word of their names and mean the same of different things.
type family struct{ prefix, suffix, of string }

var families = []family{
	{"workload.mix.", "", "TYPE"}, {"opt.", ".or", "PHASE"}, {"opt.", ".db", "PHASE"}, {"opt.", ".pa", "PHASE"},
}

// familyOf is the family of a knob, and the word in which it differs.
func familyOf(name string) (f family, word string, ok bool) {
	for _, f := range families {
		if rest, ok := strings.CutPrefix(name, f.prefix); ok {
			if word, ok := strings.CutSuffix(rest, f.suffix); ok && word != "" {
				return f, word, true
			}
		}
	}
	return family{}, "", false
}

// knobList are the knobs that a page explains, in the order of the registry. Those of a family share an item.
func knobList(page string) string {
	ks, err := experiment.Describe(experiment.Spec{})
	if err != nil {
		panic(err) // the spec of all defaults
	}
	var b strings.Builder
	said := map[family]bool{}
	for _, k := range ks {
		if TopicOf(k.Name) != page {
			continue
		}
		name, text := k.Name, k.Label+". "+k.Doc
		facts := []string{k.Range(), "default " + experiment.Format(k.Name, k.Default)}
		if f, _, ok := familyOf(k.Name); ok {
			if said[f] {
				continue
			}
			said[f] = true
			name, text = f.prefix+f.of+f.suffix, firstSentence(k.Doc)+fmt.Sprintf(" %s is one of: %s.", f.of, strings.Join(members(f), ", "))
			facts = facts[:1]
		}
		facts = slices.DeleteFunc(facts, func(s string) bool { return s == "" || s == "default " })
		if k.Live {
			facts = append(facts, "live")
		} else {
			facts = append(facts, "reset")
		}
		fmt.Fprintf(&b, "- `%s` (%s): %s\n", name, strings.Join(facts, "; "), escaped(text))
	}
	return b.String()
}

// members are the words of a family.
func members(f family) (out []string) {
	for _, k := range experiment.Registry() {
		if of, word, ok := familyOf(k.Name); ok && of == f {
			out = append(out, word)
		}
	}
	return out
}

func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i > 0 {
		return s[:i+1]
	}
	return s
}

// escaped keeps the signs of Markdown in a plain text.
var escaped = strings.NewReplacer("*", `\*`, "<", `\<`, "|", `\|`).Replace

// withGenerated is the text of a page with its generated parts as they are today.
func withGenerated(p Page) (string, error) {
	var b strings.Builder
	rest := p.Text
	for {
		before, after, found := strings.Cut(rest, generatedBegin)
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, after, _ := strings.Cut(after, " -->\n")
		old, after, ended := strings.Cut(after, generatedEnd)
		if !ended {
			return "", fmt.Errorf("%s: what is generated as %s has no end: write %s", p.Name, name, generatedEnd)
		}
		if text, ok := generated(p, name); ok { // others are written by other packages
			old = "\n" + text + "\n"
		}
		fmt.Fprintf(&b, "%s%s -->\n%s%s", generatedBegin, name, old, generatedEnd)
		rest = after
	}
}
