package table

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"drtmx/cluster/tidy"
	"drtmx/engine/experiment"
)

// From is a table of a slice or map of structs: a row for each, and a column for each number, truth value and text in it, by its
// path in the JSON, as latency_us.p50. Of a map the keys are the column "name". Of one struct it is one row. An empty table, to which Col
// adds columns, is From(nil).
func From(values any) *Table {
	t, err := from(values)
	Must(err)
	return t
}

func from(values any) (*Table, error) {
	rows := &tidy.Table{}
	v := reflect.ValueOf(values)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Invalid:
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			rows.Row()
			flatten(rows, "", v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, k := range keys {
			rows.Row()
			rows.Set("name", fmt.Sprint(k))
			flatten(rows, "", v.MapIndex(k))
		}
	case reflect.Struct:
		rows.Row()
		flatten(rows, "", v)
	default:
		return nil, &experiment.SpecError{Field: "values", Rule: fmt.Sprintf("%T is neither a slice nor a map nor a struct", values), Next: "as []result.Window or map[string]result.TypeStat"}
	}
	return Of(rows), nil
}

// flatten puts what is in a value into the last row. What lists hold has no column.
func flatten(rows *tidy.Table, path string, v reflect.Value) {
	under := func(name string) string {
		if path == "" {
			return name
		}
		return path + "." + name
	}
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Struct:
		if _, own := v.Interface().(fmt.Stringer); own && v.NumField() > 0 && !v.Type().Field(0).IsExported() {
			rows.Set(under("value"), fmt.Sprint(v.Interface())) // as of a time
			return
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case !f.IsExported() || name == "-":
			case option == "omitempty" && name != "" && v.Field(i).CanConvert(reflect.TypeFor[float64]()) && v.Field(i).IsZero(): // as a percentile that is not known
				rows.Set(under(name), nil)
			case f.Anonymous && name == "":
				flatten(rows, path, v.Field(i))
			case name == "":
				flatten(rows, under(f.Name), v.Field(i))
			default:
				flatten(rows, under(name), v.Field(i))
			}
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, k := range keys {
			flatten(rows, under(fmt.Sprint(k)), v.MapIndex(k))
		}
	case reflect.Slice, reflect.Array, reflect.Func, reflect.Chan:
	default:
		if path == "" {
			path = "value"
		}
		if v.CanInterface() {
			rows.Set(path, v.Interface())
		}
	}
}
