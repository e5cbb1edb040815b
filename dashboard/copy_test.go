package dashboard

import (
	"go/ast"
	"go/parser"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"drtmx/dashboard/lineage/lineagetest"
	"drtmx/engine/experiment"
)

// What is copied leads to the very same system: the command and the YAML as the
// command line reads them, the cell as Go reads it.
func TestCopyRoundTrips(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	spec, err := experiment.LoadSpec("")
	if err != nil {
		t.Fatal(err)
	}
	specs := []experiment.Spec{spec, {Name: "mine", Preset: "fasst", Workload: "cycle", Set: experiment.Knobs{"nodes": 3, "seed": 9, "window_ns": 50_000}},
		{Preset: "farm", Set: experiment.Knobs{"clients.arrival": "open:2000000", "fault.drop": 0.01, "cache.bytes": "100MB"}},
		{Workload: "micro-read", Set: experiment.Knobs{"hardware.nic.qp_contexts": 4000, "hardware.wire.switch": 500, "hardware.nic.tx_read": 4.25, "hardware.wire.mtu": 2048}}}
	for range 100 {
		if next, err := spec.With(lineagetest.RandomChange(r)); err == nil {
			if _, err := experiment.Resolve(next); err == nil {
				spec = next
				specs = append(specs, next)
			}
		}
	}
	for _, s := range specs {
		want, err := experiment.Resolve(s)
		if err != nil {
			t.Fatal(err)
		}
		if s, err = experiment.SpecOf(s.Name, want); err != nil { // as a running system gives it
			t.Fatal(err)
		}
		s = s.Working()
		if want, err = experiment.Resolve(s); err != nil {
			t.Fatal(err)
		}
		if idle := experiment.Idle(s, experiment.SortedNames(s.Set)); len(idle) > 0 {
			t.Fatalf("%s has a knob that the command refuses: %v", s.YAML(), idle)
		}
		command, err := commandOf(s)
		if err != nil {
			t.Fatal(err)
		}
		for from, got := range map[string]experiment.Spec{command: readCommand(t, command), s.YAML(): readYAML(t, s.YAML()), cellOf(s): readCell(t, cellOf(s))} {
			if v, err := experiment.Resolve(got); err != nil || !reflect.DeepEqual(v, want) {
				t.Fatalf("%s\nis another system than %v: %v, %v", from, s, v, err)
			}
		}
	}
}

// readCommand reads a command as the command line does: the shipped spec, then
// all settings at once.
func readCommand(t *testing.T, command string) experiment.Spec {
	t.Helper()
	words := strings.Fields(command)
	if strings.Join(words[:2], " ") != "drtmx run" {
		t.Fatal(command)
	}
	words = words[2:]
	name := ""
	if len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		name, words = words[0], words[1:]
	}
	spec, err := experiment.LoadSpec(name)
	if err != nil {
		t.Fatal(err)
	}
	set := experiment.Knobs{}
	for i := 0; i+1 < len(words); i += 2 {
		switch arg := strings.Trim(words[i+1], "'"); words[i] {
		case "--preset":
			set["preset"] = arg
		case "--set":
			k, v, err := experiment.ParseSetting(arg)
			if err != nil {
				t.Fatal(err)
			}
			set[k] = v
		default:
			t.Fatalf("%s in %s", words[i], command)
		}
	}
	spec, err = spec.With(set)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return spec
}

func readYAML(t *testing.T, text string) experiment.Spec {
	t.Helper()
	s, err := experiment.ParseSpec([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// readCell takes the spec out of the cell's Go code.
func readCell(t *testing.T, cell string) (s experiment.Spec) {
	t.Helper()
	_, literal, _ := strings.Cut(cell, "cluster.Up(")
	literal, _, _ = strings.Cut(literal, ")\n")
	e, err := parser.ParseExpr(literal)
	if err != nil {
		t.Fatalf("%s: %v", cell, err)
	}
	for _, f := range e.(*ast.CompositeLit).Elts {
		kv := f.(*ast.KeyValueExpr)
		switch kv.Key.(*ast.Ident).Name {
		case "Name":
			s.Name = literalOf(t, kv.Value).(string)
		case "Preset":
			s.Preset = literalOf(t, kv.Value).(string)
		case "Workload":
			s.Workload = literalOf(t, kv.Value).(string)
		case "Set":
			s.Set = experiment.Knobs{}
			for _, x := range kv.Value.(*ast.CompositeLit).Elts {
				s.Set[literalOf(t, x.(*ast.KeyValueExpr).Key).(string)] = literalOf(t, x.(*ast.KeyValueExpr).Value)
			}
		}
	}
	return s
}

func literalOf(t *testing.T, e ast.Expr) any {
	t.Helper()
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name == "true"
	case *ast.BasicLit:
		if s, err := strconv.Unquote(x.Value); err == nil {
			return s
		}
		if n, err := strconv.Atoi(x.Value); err == nil {
			return n
		}
		if f, err := strconv.ParseFloat(x.Value, 64); err == nil {
			return f
		}
	}
	t.Fatalf("%#v is no literal", e)
	return nil
}
