package main

import (
	"strings"
	"testing"
)

// An edit that does not find the text that it was written for fails the build, and says which.
func TestEditsFindTheirText(t *testing.T) {
	const text = "func a() {\n\tx := 1\n}\nfunc b() {\n\tx := 1\n}\n"
	for _, tt := range []struct {
		edit       edit
		want, fail string
	}{
		{edit{file: "f.go", old: "x := 1", new: "x := 2", times: 2}, strings.ReplaceAll(text, "1", "2"), ""},
		{edit{file: "f.go", old: "x := 1", new: "x := 2", times: 1}, "", `f.go has "x := 1" 2 times, an edit was written for 1`},
		{edit{file: "f.go", old: "y", new: "z", times: 1}, "", `f.go has "y" 0 times`},
		{edit{file: "f.go", from: "func b(", to: "}\n", old: "x := 1", new: "x := 2", times: 1}, "func a() {\n\tx := 1\n}\nfunc b() {\n\tx := 2\n}\n", ""},
		{edit{file: "f.go", from: "func c(", to: "}\n", old: "x", times: 1}, "", `f.go has no "func c("`},
		{edit{file: "f.go", from: "func b(", to: "end", old: "x", times: 1}, "", `f.go has no "end" behind "func b("`},
	} {
		got, err := tt.edit.apply(text)
		if got != tt.want || (err == nil) != (tt.fail == "") || err != nil && !strings.Contains(err.Error(), tt.fail) {
			t.Errorf("%+v: %q, %v; want %q, %q", tt.edit, got, err, tt.want, tt.fail)
		}
	}
	for _, e := range edits {
		if e.why == "" || e.times == 0 {
			t.Errorf("an edit of %s says no program that was wrong, or no number", e.file)
		}
	}
}
