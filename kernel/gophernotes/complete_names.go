//go:build drtmxkernel

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"drtmx/cluster"
	"drtmx/engine/metrics/panel"
	"drtmx/engine/result"
)

// namesIn are the metrics or columns that a string may be, by the call that it is an argument of. Those of a value that the notebook
// has are its own; those of a result that no cell has computed yet are what every result has.
func (s *session) namesIn(before string, p cursor) []string {
	if len(p.open) == 0 || before[p.open[len(p.open)-1]] != '(' {
		return nil
	}
	call := operand(before[:p.open[len(p.open)-1]])
	method := lastWord.FindString(call)
	of := strings.TrimSuffix(strings.TrimSuffix(call, method), ".")
	switch method {
	case "Num", "Text", "Value":
		return s.columnsAround(before, p)
	case "Overlay":
		return s.overlaid(of)
	}
	switch t := s.typeOf(of); t {
	case reflect.TypeFor[*cluster.Result](), reflect.TypeFor[*cluster.Comparison](), reflect.TypeFor[*cluster.SweepResult]():
		if slices.Contains([]string{"Metric", "Table", "Chart", "HeatMap", "Grid"}, method) {
			return s.metricsOf(of)
		}
	case reflect.TypeFor[*cluster.Table](), reflect.TypeFor[*cluster.Plot]():
		return s.columnsOf(of, method)
	}
	return nil
}

// metricsOf are the numbers of a result, a comparison or a sweep.
func (s *session) metricsOf(of string) (names []string) {
	switch x := s.present(of).(type) {
	case *cluster.Result:
		names = x.Raw.Metrics()
	case *cluster.Comparison:
		for _, d := range x.Raw.Metrics {
			names = append(names, d.Metric)
		}
	case *cluster.SweepResult:
		for _, p := range x.Raw.Points {
			if len(p.Runs) > 0 {
				names = p.Runs[0].Metrics()
				break
			}
		}
	}
	if len(names) == 0 {
		return everyMetric()
	}
	return names
}

// everyMetric are the numbers that a result can have whatever its workload, those that it always has ahead.
func everyMetric() []string {
	names := new(result.Result).Metrics()
	all := numbersOf(reflect.TypeFor[result.Result](), "")
	for _, s := range panel.Sections() {
		for _, f := range s.Fields {
			all = append(all, s.Part+"."+f.Name)
		}
	}
	for _, name := range all {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// numbersOf are the numbers in the JSON of a struct by their paths; the keys of a map are not known from its type.
func numbersOf(t reflect.Type, prefix string) (paths []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		typ := f.Type
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		switch kind := typ.Kind(); {
		case name == "" || name == "-":
		case kind == reflect.Struct:
			paths = append(paths, numbersOf(typ, prefix+name+".")...)
		case kind >= reflect.Int && kind <= reflect.Float64:
			paths = append(paths, prefix+name)
		}
	}
	return paths
}

// overlaid are the columns that results and sweeps have in one picture.
func (s *session) overlaid(of string) []string {
	if n := s.compile(of); n == nil || n.path != "drtmx/cluster" {
		return nil
	}
	return append([]string{"ms"}, everyMetric()...)
}

// namesColumns are the calls of tables and plots that take names of columns.
var namesColumns = []string{"Select", "Line", "Scatter", "Bar", "Hist", "Sort", "Numbers", "Strings", "By", "Err", "Right", "Col"}

// columnsInQuery are the columns that SQL in a string may name, if it is that of a table's Query.
func (s *session) columnsInQuery(before string, p cursor) []string {
	if len(p.open) == 0 {
		return nil
	}
	of, isQuery := strings.CutSuffix(operand(before[:p.open[len(p.open)-1]]), ".Query")
	if !isQuery || s.typeOf(of) != reflect.TypeFor[*cluster.Table]() {
		return nil
	}
	return s.columnsOf(of, "Select")
}

// columnsOf are the columns of a table, or of that which a plot draws, that a call of it may name.
func (s *session) columnsOf(of, method string) []string {
	x, err := parser.ParseExpr(of)
	if err != nil || !slices.Contains(namesColumns, method) {
		return nil
	}
	return s.columns(x)
}

// columnsAround are those of the table whose rows a function of a row is given: t.Where(func(r cluster.Row) bool { return r.Num("
func (s *session) columnsAround(before string, p cursor) []string {
	for _, open := range slices.Backward(p.open) {
		call := operand(before[:open])
		for _, of := range []string{".Where", ".Col"} {
			if t, ok := strings.CutSuffix(call, of); ok {
				return s.columnsOf(t, "Col")
			}
		}
	}
	return nil
}

// columns are those of a table that an expression gives. The expression is not run: what a call of a table does to its columns is known.
func (s *session) columns(x ast.Expr) []string {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		t, _ := s.value(x).(*cluster.Table)
		if t == nil {
			return nil
		}
		return t.Columns()
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	switch f.Sel.Name {
	case "Select":
		return constants(call.Args)
	case "Col":
		return append(s.columns(f.X), constants(call.Args[:min(1, len(call.Args))])...)
	case "Table", "Rows":
		return s.tableColumns(f, constants(call.Args))
	case "Query":
		return nil
	}
	return s.columns(f.X) // it filters, sorts or draws
}

// tableColumns are those of the table of a result or a sweep.
func (s *session) tableColumns(f *ast.SelectorExpr, metrics []string) (names []string) {
	_ = recovered(func() error { // a metric that the sweep does not have
		switch x := s.value(f.X).(type) {
		case *cluster.Result:
			names = x.Table().Columns()
		case *cluster.SweepResult:
			if f.Sel.Name == "Rows" {
				names = x.Rows().Columns()
			} else {
				names = x.Table(metrics...).Columns()
			}
		}
		return nil
	})
	return names
}

// constants are the strings among some expressions.
func constants(list []ast.Expr) (texts []string) {
	for _, x := range list {
		if x, ok := x.(*ast.BasicLit); ok && x.Kind == token.STRING {
			if text, err := strconv.Unquote(x.Value); err == nil {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// present is the value of an expression that needs no code to be run, else nil.
func (s *session) present(expression string) any {
	x, err := parser.ParseExpr(expression)
	if err != nil {
		return nil
	}
	return s.value(x)
}

// value is that of variables, their fields and elements; nil of anything else, and of a pointer to nothing.
func (s *session) value(x ast.Expr) (value any) {
	_ = recovered(func() error { // there is none
		if v := s.read(x); v.IsValid() && !(v.Kind() == reflect.Pointer && v.IsNil()) {
			value = v.Interface()
		}
		return nil
	})
	return value
}

func (s *session) read(x ast.Expr) reflect.Value {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return s.read(x.X)
	case *ast.Ident:
		return s.kernel.ir.ValueOf(x.Name).ReflectValue()
	case *ast.SelectorExpr:
		return reflect.Indirect(s.read(x.X)).FieldByName(x.Sel.Name)
	case *ast.IndexExpr:
		if at, ok := x.Index.(*ast.BasicLit); ok && at.Kind == token.INT {
			if i, err := strconv.Atoi(at.Value); err == nil {
				return reflect.Indirect(s.read(x.X)).Index(i)
			}
		}
	}
	return reflect.Value{}
}
