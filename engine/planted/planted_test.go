package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is that of the module, seen from here.
const root = "../.."

func lists(t *testing.T) []Bug {
	t.Helper()
	all, err := readLists("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The text that a bug replaces is in its file once, no two bugs replace the same, and the test that must catch it exists.
func TestListsFitTheCode(t *testing.T) {
	all := lists(t)
	if len(all) == 0 {
		t.Fatal("no bugs")
	}
	if _, err := plant(root, trialsOf(all)); err != nil {
		t.Error(err)
	}
	for _, b := range trialsOf(all) {
		name, _, _ := strings.Cut(b.Test.Name, "/")
		declared := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(t \*testing\.T\)`)
		files, _ := filepath.Glob(filepath.Join(root, b.Pkg, "*_test.go"))
		found := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || declared.Match(text)
		}
		if !found {
			t.Errorf("%s: %s has no test %s", b.Bug.Name, b.Pkg, name)
		}
	}
}

// The shares have all trials, each once, and every text chooses one.
func TestShares(t *testing.T) {
	all := trialsOf(lists(t))
	_, n := shareOf("", len(all))
	var names []string
	for k := range n {
		for _, x := range shareAt(all, k, n) {
			names = append(names, x.Bug.Name+x.Test.String())
		}
	}
	if len(names) != len(all) {
		t.Fatalf("%d shares have %d trials of %d", n, len(names), len(all))
	}
	for i, x := range all {
		if names[i] != x.Bug.Name+x.Test.String() {
			t.Errorf("trial %d of the shares is %s, want %s of %s", i, names[i], x.Test, x.Bug.Name)
		}
	}
	chosen := map[int]bool{}
	for _, text := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
		k, _ := shareOf(text, 4*shareSize)
		chosen[k] = true
	}
	if len(chosen) != 4 {
		t.Errorf("26 texts choose %d of 4 shares", len(chosen))
	}
}

// A list that says too little, or the wrong thing, is refused.
func TestListsAreChecked(t *testing.T) {
	const good = "== a-bug\nsays: It is wrong.\ntest: ./p TestP\nshows: some\ntest: ./q TestQ\nfile: p/p.go\nold:\n\tx\nnew:\n\tif PLANTED {\n\t}\n"
	bugs, err := parseList(good + "\n" + strings.Replace(good, "a-bug", "b", 1))
	if err != nil || len(bugs) != 2 {
		t.Fatalf("%d bugs, %v", len(bugs), err)
	}
	if two := bugs[0].Tests; !slices.Equal(two, []Test{{"./p", "TestP", "some"}, {"./q", "TestQ", ""}}) {
		t.Errorf("tests %q", two)
	}
	if e := bugs[0].Edits[0]; e.Old != "x\n" || e.New != "if PLANTED {\n}\n" {
		t.Errorf("edit %q", e)
	}
	for _, x := range []struct{ old, new, want string }{
		{"== a-bug\n", "", "before the first bug"},
		{"a-bug", "A bug", "lower-case"},
		{"PLANTED", "true", "depends on the choice"},
		{"says: It is wrong.\n", "", "no sentence"},
		{"test: ./p TestP\n", "", "no test is above it"},
		{"TestQ", "", "no sentence"},
		{"test:", "tests:", `field "tests"`},
		{"\tx\n", "x\n", "is no field"},
		{"old:\n\tx\n", "", "old and new have text"},
		{"file: p/p.go\n", "", "a file is above it"},
	} {
		if _, err := parseList(strings.Replace(good, x.old, x.new, 1)); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q in place of %q: %v, want %q", x.new, x.old, err, x.want)
		}
	}
}

// An edit whose text is not there once, or is another one's too, is refused.
func TestEditsAreChecked(t *testing.T) {
	const source = "package p\n\nvar a = 1\n\nvar b = 2\nvar b = 2\n"
	for _, x := range []struct {
		olds []string
		want string
	}{
		{[]string{"var c = 3\n"}, "0 times"}, {[]string{"var b = 2\n"}, "2 times"}, {[]string{"var a"}, "0 times"},
		{[]string{"var a = 1\n", "\t\tvar a = 1\n"}, "another edit has"}, {[]string{"package p\n"}, "above the package clause"},
	} {
		var list []placed
		for _, old := range x.olds {
			if !strings.HasSuffix(old, "\n") {
				old += "\n"
			}
			list = append(list, placed{bug: "b", edit: Edit{"p.go", old, "var x = PLANTED\n"}})
		}
		if text, err := edited(source, list); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q: %v, want %q:\n%s", x.olds, err, x.want, text)
		}
	}
	text, err := edited(source, []placed{{bug: "b", edit: Edit{"p.go", "var a = 1\n", "var a = PLANTED\n"}}})
	if want := "package p; import planted \"drtmx/engine/planted/on\"\n\nvar a = planted.Is(\"b\")\n\nvar b = 2\nvar b = 2\n"; err != nil || text != want {
		t.Errorf("%q, %v, want %q", text, err, want)
	}
	// A file whose edits do not ask which bug was chosen imports nothing for it.
	text, err = edited(source, []placed{{bug: "b", edit: Edit{"p.go", "var a = 1\n", "var a, c = 1, 2\n"}}})
	if want := "package p\n\nvar a, c = 1, 2\n\nvar b = 2\nvar b = 2\n"; err != nil || text != want {
		t.Errorf("%q, %v, want %q", text, err, want)
	}
}

// scoreOf plants bugs in a module of its own.
func scoreOf(t *testing.T, list string) (caught int, said string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":           "module drtmx\n",
		"sum/sum.go":       "package sum\n\nfunc Of(a, b int) int {\n\treturn a + b\n}\n",
		"sum/sum_test.go":  "package sum\n\nimport \"testing\"\n\nfunc TestOf(t *testing.T) {\n\tif n := Of(2, 2); n != 4 {\n\t\tt.Errorf(\"got %d\", n)\n\t}\n}\n",
		"sum/weak_test.go": "package sum\n\nimport \"testing\"\n\nfunc TestWeak(t *testing.T) { Of(2, 2) }\n\nfunc TestBroken(t *testing.T) { t.Error(\"always\") }\n",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bugs, err := parseList(list)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := &plantation{root: dir, dir: t.TempDir(), out: &out}
	if caught, err = p.score(trialsOf(bugs)); err != nil {
		t.Fatal(err)
	}
	return caught, out.String()
}

// A bug counts as caught by a test that fails for it, for the reason that is given, and only for it.
func TestScore(t *testing.T) {
	const edit = "\nsays: It adds one too many.\nfile: sum/sum.go\nold:\n\t\treturn a + b\nnew:\n\t\tif PLANTED {\n\t\t\treturn a + b + 1\n\t\t}\n\t\treturn a + b\ntest: ./sum "
	for _, x := range []struct {
		test   string
		caught int
		want   string
	}{
		{"TestOf\nshows: got 5", 1, ""},
		{"TestOf\nshows: got 6", 0, "does not say"},
		{"TestWeak", 0, "TestWeak passes"},
		{"TestBroken", 0, "fails without it"},
		{"TestNone", 0, "there is no test"},
		{"TestOf\ntest: ./sum TestWeak", 1, "TestWeak passes"},
	} {
		caught, said := scoreOf(t, "== one-more"+edit+x.test+"\n")
		if caught != x.caught || !strings.Contains(said, x.want) {
			t.Errorf("%s: %d caught, want %d, and %q:\n%s", x.test, caught, x.caught, x.want, said)
		}
	}
}
