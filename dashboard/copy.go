package dashboard

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"drtmx/cluster/shell"
	"drtmx/dashboard/lineage"
	"drtmx/engine/experiment"
)

// copyAs answers with the ways out of the page: the running system as a
// command, a notebook cell and a spec file.
func (p *page) copyAs(w http.ResponseWriter, r *http.Request) {
	spec, err := p.source.Spec(r.Context(), sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	spec = spec.Working()
	command, err := commandOf(spec)
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, map[string]string{"command": command, "notebook": cellOf(spec), "yaml": spec.YAML()})
}

// commandOf is a batch run of the same system: what differs from the shipped
// spec of that name, or else from the default one, is set; but what has no effect is not, for the command refuses that.
func commandOf(s experiment.Spec) (string, error) {
	s = s.Working()
	words := []string{"drtmx", "run"}
	name := ""
	if slices.Contains(experiment.SpecNames(), s.Name) {
		name = s.Name
		words = append(words, name)
	}
	base, err := experiment.LoadSpec(name)
	if err != nil {
		return "", err
	}
	if s.Preset != "" && s.Preset != base.Preset {
		words = append(words, "--preset", s.Preset)
		if base, err = base.With(experiment.Knobs{"preset": s.Preset}); err != nil {
			return "", err
		}
	}
	if s.Workload != "" && s.Workload != base.Workload {
		words = append(words, "--set", "workload="+s.Workload)
		if base, err = base.With(experiment.Knobs{"workload": s.Workload}); err != nil {
			return "", err
		}
	}
	want, err := experiment.Resolve(s)
	if err != nil {
		return "", err
	}
	set := experiment.Knobs{}
	lineage.AddMissing(set, base, want)
	if n := want[lineage.Crash]; lineage.NamesMachine(n) {
		set[lineage.Crash] = n
	}
	for _, n := range experiment.SortedNames(set) {
		words = append(words, "--set", shell.Word(n+"="+experiment.Format(n, set[n])))
	}
	return strings.Join(words, " "), nil
}

// cellOf is a notebook cell that starts the same system and runs it.
func cellOf(s experiment.Spec) string { return upOf(s) + "c.Run(2 * time.Millisecond)\n" }

// upOf is the part of a cell that starts a system.
func upOf(s experiment.Spec) string {
	var fields, set []string
	for _, f := range [][2]string{{"Name", s.Name}, {"Preset", s.Preset}, {"Workload", s.Workload}} {
		if f[1] != "" {
			fields = append(fields, fmt.Sprintf("%s: %q", f[0], f[1]))
		}
	}
	for _, n := range experiment.SortedNames(s.Set) {
		set = append(set, fmt.Sprintf("%q: %#v", n, s.Set[n]))
	}
	if len(set) > 0 {
		fields = append(fields, "Set: cluster.Knobs{"+strings.Join(set, ", ")+"}")
	}
	return "import (\n\t\"time\"\n\n\t\"drtmx/cluster\"\n)\n\nc := cluster.Up(cluster.Spec{" + strings.Join(fields, ", ") + "})\n"
}
