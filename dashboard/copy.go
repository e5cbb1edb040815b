package dashboard

import (
	"fmt"
	"net/http"
	"sort"
	"strings"

	"drtmx/engine"
)

// copyAs answers with the ways out of the page: the running system as a
// command, a notebook cell and a spec file.
func (p *page) copyAs(w http.ResponseWriter, r *http.Request) {
	spec, err := p.source.Spec(r.Context(), sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, map[string]string{"command": commandOf(spec), "notebook": cellOf(spec), "yaml": spec.YAML()})
}

func sortedNames(k engine.Knobs) []string {
	names := make([]string, 0, len(k))
	for n := range k {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

func commandOf(s engine.Spec) string {
	var b strings.Builder
	b.WriteString("drtmx run")
	if s.Name != "" {
		b.WriteString(" " + s.Name)
	}
	if s.Preset != "" {
		b.WriteString(" --preset " + s.Preset)
	}
	if s.Workload != "" {
		b.WriteString(" --set workload=" + s.Workload)
	}
	for _, n := range sortedNames(s.Set) {
		fmt.Fprintf(&b, " --set %s=%v", n, s.Set[n])
	}
	return b.String()
}

func cellOf(s engine.Spec) string {
	var set []string
	for _, n := range sortedNames(s.Set) {
		set = append(set, fmt.Sprintf("%q: %#v", n, s.Set[n]))
	}
	return fmt.Sprintf("import (\n\t\"time\"\n\n\t\"drtmx/cluster\"\n)\nc := cluster.Up(cluster.Spec{Preset: %q, Workload: %q, Set: cluster.Knobs{%s}})\nc.Run(2 * time.Millisecond)",
		s.Preset, s.Workload, strings.Join(set, ", "))
}
