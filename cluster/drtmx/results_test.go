package main

import (
	"reflect"
	"strings"
	"testing"

	"drtmx/engine/result"
)

// The help of results names every field that a result as JSON can have, and no other.
func TestHelpOfResults(t *testing.T) {
	named := map[string]bool{}
	for _, f := range resultFields {
		for _, name := range strings.Split(f.names, ", ") {
			named[name] = true
		}
	}
	r := reflect.TypeFor[result.Result]()
	for i := range r.NumField() {
		name, _, _ := strings.Cut(r.Field(i).Tag.Get("json"), ",")
		if name != "-" && !named[name] {
			t.Errorf("the help of results does not name %s", name)
		}
		delete(named, name)
	}
	for name := range named { // order-free: one error each
		t.Errorf("the help of results names %s, which no result has", name)
	}
	var out, errs strings.Builder
	if code := run([]string{"help", "results"}, &out, &errs); code != success || !strings.Contains(out.String(), "found nothing to do") {
		t.Errorf("status %d, %s%s", code, out.String(), errs.String())
	}
}
