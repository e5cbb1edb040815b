package cluster

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"drtmx/cluster/table"
)

// unreadable is what Go prints of a value that nobody gave a form: an address, a map, or a struct.
var unreadable = regexp.MustCompile(`0x[0-9a-f]{3,}|map\[|(^|[\s\[&])\{`)

// TestValuesAreReadable: every type that a call of a notebook can return, and every field of it, is shown without addresses, maps and
// braces: by its own String or HTML, or by table.Show.
func TestValuesAreReadable(t *testing.T) {
	types := reachable(reflect.TypeFor[*Cluster](), reflect.TypeFor[*SweepResult](), reflect.TypeFor[*Lab](), reflect.TypeFor[*Versus](), reflect.TypeFor[*Plot](), reflect.TypeFor[*KnobList]())
	if len(types) < 60 {
		t.Errorf("only %d types are reached", len(types))
	}
	for _, typ := range types {
		v := reflect.New(typ).Elem()
		fill(v, 4)
		if text, ok := shownAs(v.Interface()); ok && unreadable.MatchString(text) {
			t.Errorf("%v is shown as %.300q", typ, text)
		}
	}
}

// Real values, which have all that there is.
func TestRealValuesAreReadable(t *testing.T) {
	c := Up(tiny())
	defer c.Close()
	r := c.Run(100 * time.Microsecond)
	s := Sweep(c.Spec(), Axis{"coroutines", []int{1, 2}}, Axis{"phase.commit", []string{"one-sided", "two-sided"}})
	grid, err := s.Grid("throughput")
	if err != nil {
		t.Fatal(err)
	}
	for says, v := range map[string]any{"balance": r.Raw.ByType, "0 to 20us: ": r.Windows, "P50": r.LatencyUS, "Panels": grid, "coroutines": s.Rows(),
		"the busiest is CPU": r.Raw.Limit, "cpu": r.Raw.Utilization, "one-sided": s.Raw.Points[0], "40us: ": r.Windows[1], "phase": r.Raw.Spec, "node": r.Node(0).Raw, "Knob": s.Raw.Axes[0]} {
		text, ok := shownAs(v)
		if !ok || unreadable.MatchString(text) || !strings.Contains(text, says) {
			t.Errorf("%T is shown as\n%s\nwhich does not say %q, or is not readable", v, text, says)
		}
	}
	for says, v := range map[string]any{" commits, ": r.Raw.ByType, "the busiest is": r.Raw.Limit} {
		if text := fmt.Sprint(v); strings.Contains(text, "0x") || !strings.Contains(text, says) {
			t.Errorf("%T is printed as %s, which does not say %q, or is not readable", v, text, says)
		}
	}
}

func TestUnreadableIsCaught(t *testing.T) {
	for _, bad := range []any{&struct{ P *int }{new(int)}, map[string]struct{ N int }{"a": {1}}, []struct{ N int }{{1}}} {
		if text := fmt.Sprint(bad); !unreadable.MatchString(text) {
			t.Errorf("%s counts as readable", text)
		}
	}
}

// shownAs is what a notebook shows of a value. It is false of a sample that its own String cannot be made of.
func shownAs(v any) (text string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	if text, _, ok := table.Show(v); ok {
		return text, true
	}
	if _, draws := v.(interface{ HTML() string }); draws {
		if _, says := v.(fmt.Stringer); !says {
			return "", true
		}
	}
	return fmt.Sprint(v), true
}

// reachable are the types of this module that values of some types lead to, by exported fields and by results of exported methods.
func reachable(roots ...reflect.Type) (out []reflect.Type) {
	seen := map[reflect.Type]bool{}
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		named := t
		for named.Name() == "" && (named.Kind() == reflect.Pointer || named.Kind() == reflect.Slice || named.Kind() == reflect.Map || named.Kind() == reflect.Array) {
			named = named.Elem()
		}
		if !strings.HasPrefix(named.PkgPath(), "drtmx/") {
			return
		}
		if t.Kind() != reflect.Interface && t.Kind() != reflect.Func {
			out = append(out, t)
		}
		for i := range t.NumMethod() {
			for m, k := t.Method(i).Type, 0; k < m.NumOut(); k++ {
				visit(m.Out(k))
			}
		}
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
			visit(t.Elem())
		case reflect.Struct:
			for i := range t.NumField() {
				if f := t.Field(i); f.IsExported() {
					visit(f.Type)
				}
			}
		}
	}
	for _, t := range roots {
		visit(t)
	}
	return out
}

// fill puts something into all of a value that can be set.
func fill(v reflect.Value, depth int) {
	if depth == 0 || !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), depth-1)
		fill(v.Index(1), depth-1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth-1)
		fill(value, depth-1)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth-1)
		}
	case reflect.String:
		v.SetString("words")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(3)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1.5)
	}
}
