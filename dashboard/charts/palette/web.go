package palette

import (
	"encoding/json"
	"fmt"
	"strings"
)

// CSS has the page's colours as variables: --phase-lock, --sys-a, and the sign of
// each system, --sign-a; on a dark ground those that suit it.
func CSS() string {
	var light, dark strings.Builder
	set := func(name, colour string) {
		fmt.Fprintf(&light, " --%s: %s;", name, colour)
		if d, ok := OnDark[colour]; ok {
			fmt.Fprintf(&dark, " --%s: %s;", name, d)
		}
	}
	for _, kind := range []struct {
		prefix string
		of     *Table
	}{{"phase-", Phases}, {"sys-", Systems}, {"design-", Designs}, {"milestone-", Milestones}} {
		for _, name := range kind.of.Names() {
			l, _ := kind.of.Of(name)
			set(kind.prefix+strings.NewReplacer("_", "-", "+", "").Replace(name), l.Colour)
		}
	}
	for _, name := range Systems.Names() {
		l, _ := Systems.Of(name)
		fmt.Fprintf(&light, " --sign-%s: %q;", name, l.Marker.Sign())
	}
	set("hot", Hot)
	set("thesis", Thesis)
	set("dark-ink", DarkInk)
	set("light-ink", LightInk)
	return fmt.Sprintf(":root {%s }\n@media screen and (prefers-color-scheme: dark) { :root {%s } }\n", light.String(), dark.String())
}

// JS has those that scripts need: what takes a colour's place on a dark ground,
// the scale of utilisation, and the inks.
func JS() string {
	var out strings.Builder
	for _, x := range []struct {
		name  string
		value any
	}{{"onDark", OnDark}, {"utilisation", Utilisation}, {"darkInk", DarkInk}, {"lightInk", LightInk}} {
		b, err := json.Marshal(x.value)
		if err != nil {
			panic(err) // of strings and numbers: ours
		}
		fmt.Fprintf(&out, "export const %s = %s;\n", x.name, b)
	}
	return out.String()
}
