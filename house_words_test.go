package drtmx_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What people read is plain English: names that a stranger would search for, one word for one meaning, machines and code that are
// things and not persons. Here are words that this code once had, with the better one beside each. A name is that of a function,
// method, type, field, constant or package variable; a comment is one of Go or of the page's scripts; a text is a string literal of Go
// outside tests, or a line of the page. Comments and names of tests are free.

// wordPlace is where a word is looked for.
type wordPlace uint8

const (
	inNames wordPlace = 1 << iota
	inComments
	inTexts
)

// bannedWord is a word, as a regular expression, and what to write for it.
type bannedWord struct {
	word   string
	where  wordPlace
	better string
}

var bannedWords = []bannedWord{
	// A person for a thing.
	{`(?i)\bnobody\b`, inComments, `"no transaction", "no core", "not read", "nil: none": name the thing that does not`},
	{`(?i)\b(somebody|anybody)\b`, inComments, `"another transaction", "a client", "is locked": name the thing`},
	{`(?i)\bwhoever\b`, inComments, `"a transaction that", "the caller", "every core that": name the thing`},
	{`(?i)\b(nobody|somebody|anybody|whoever)\b`, inTexts, `name the thing: "no transaction", "another client", "the caller"`},
	{`(?i)\bof who (has )?sign(s|ed)\b`, inComments | inTexts, `"of the CA that signed"`},
	{`\bwho asks (names|again)\b`, inComments | inTexts, `"the caller names"`},

	// Sentences that must be read twice.
	{`(?i)\bwhat is what\b`, inComments | inTexts, `"help", "legend"`},
	{`\bthose are that\b`, inComments | inTexts, `say it as subject, verb, object`},
	{`\bmeet others' \w+ in their true order\b`, inComments | inTexts, `"run ahead of the event order"`},
	{`^// [A-Z]\w* is (the|a) \w+'s\.$`, inComments, `say what it does or is, or leave the comment out`},
	{`\bthat the media do not have\b`, inComments | inTexts, `"dirty", "not yet written to the media"`},
	{`\b(counted|count) as done\b`, inTexts, `"reported done"`},
	{`^Which share of\b`, inTexts, `"Share of", "CDF of"`},
	{`\blooks nothing up\b`, inTexts, `"has no lookups"`},

	// One small verb for many ideas, and names that no stranger would search for.
	{`^(settle(d|All|Local|Rounds)?|Settler?)$`, inNames, `what it does: "finishReads", "awaitWriters", "freezeTarget", "installNumber"`},
	{`^(take|give)(Row|Stamps|Back)?$`, inNames, `"alloc" and "free" for memory, "pop" and "push" for queues, "acquire" and "release" for locks, "accept" for replies`},
	{`(%[.0-9]*[a-z]|[0-9]) us\b|\(us\)`, inTexts, `"µs", as the page has it; values of knobs are typed without a space`},
	{`^(place|placedAt|toPlace|removePlaced)$`, inNames, `"insertNew", "needsRow", "slot", "cqHead": a record gets a row, a line gets a slot`},
	{`(Here|There)$`, inNames, `"Local" and "Remote", or what has arrived`},
	{`^(metBy|tell|told)$`, inNames, `an oracle says so: "auditConflict", "auditVersion"; bytes are encoded and decoded`},
	{`^(Clashed|Again|Ran|promises?|keepPromises|disown)$`, inNames, `"InsertMetRecord", "ResetSet", "PieceEffect", "sessionGuarantees", "checkOwnWrites", "dropWrites"`},
	{`^(lives|past|life|ending|endings|Unborn|Reborn|Born|bear|birth|bury)$`, inNames, `"deletions", "deletion", "AbsentBefore", "ReinsertedVersion", "FirstStamp", "insertRow", "removeTombstone"`},
	{`^(gone|Front|Still|Grows|Taken)$`, inNames, `"isAbsent", "OutHeaderBytes", "UnorderedReads", "AllowsInserts", "Accessed"`},
	{`^(hurry|patience|goOn|desks?|[nN]obody)$`, inNames, `"flushBegun", "stallLimit", "resume", "batcher", "NoMachine"`},
}

func TestWordsArePlain(t *testing.T) {
	var found []string
	for _, f := range tree(t) {
		found = append(found, wordViolations(f)...)
	}
	for _, name := range pageFiles(t) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, lineViolations(name, string(b))...)
	}
	report(t, found)
}

// pageFiles are the scripts, pages and style sheets that are written by hand.
func pageFiles(t *testing.T) (names []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return skipDir(name, d)
		case slices.Contains([]string{".js", ".html", ".css"}, path.Ext(name)):
			names = append(names, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

var compiledWords = func() (list []*regexp.Regexp) {
	for _, b := range bannedWords {
		list = append(list, regexp.MustCompile(b.word))
	}
	return list
}()

// plain looks for banned words in one piece of text.
func plain(at, text string, where wordPlace) (found []string) {
	for i, b := range bannedWords {
		if b.where&where == 0 {
			continue
		}
		if word := compiledWords[i].FindString(text); word != "" {
			found = append(found, fmt.Sprintf("%s: %q is not plain English here; better: %s", at, word, b.better))
		}
	}
	return found
}

// wordViolations checks a Go file.
func wordViolations(f *file) (found []string) {
	name := func(id *ast.Ident) { found = append(found, plain(f.at(id.Pos()), id.Name, inNames)...) }
	if f.isTest() {
		return nil
	}
	for _, g := range f.ast.Comments {
		for _, c := range g.List {
			if !strings.HasPrefix(c.Text, "//go:") {
				found = append(found, plain(f.at(c.Pos()), c.Text, inComments)...)
			}
		}
	}
	fields := func(list *ast.FieldList) {
		for _, field := range list.List {
			for _, id := range field.Names {
				name(id)
			}
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.FuncDecl:
			name(n.Name)
		case *ast.TypeSpec:
			name(n.Name)
		case *ast.StructType:
			fields(n.Fields)
		case *ast.InterfaceType:
			fields(n.Methods)
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				found = append(found, plain(f.at(n.Pos()), strings.Trim(n.Value, "\"`"), inTexts)...)
			}
		}
		return true
	})
	for _, d := range f.ast.Decls {
		if d, ok := d.(*ast.GenDecl); ok {
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					for _, id := range v.Names {
						name(id)
					}
				}
			}
		}
	}
	return found
}

// lineViolations checks a file of the page, line by line.
func lineViolations(name, text string) (found []string) {
	for i, line := range strings.Split(text, "\n") {
		found = append(found, plain(fmt.Sprintf("%s:%d", name, i+1), strings.TrimSpace(line), inTexts)...)
	}
	return found
}

func TestWordsCatchViolations(t *testing.T) {
	for _, tt := range []struct{ pkg, body, want string }{
		{"engine/kv", "// find waits for the caller.\nfunc find() {}", ""},
		{"engine/kv", "// find waits for whoever has it.\nfunc find() {}", `engine/kv/a.go:2: "whoever"`},
		{"engine/kv", "type x struct{ a int /* of nobody */ }", `"nobody" is not plain English here; better: "no transaction"`},
		{"engine/r2", "type x struct{ a int /* of nobody */ }", `"nobody"`},
		{"engine/r2", `var x = "nobody waits"`, `"nobody"`},
		{"engine/kv", "func f() { g(`Somebody waits`) }", `"Somebody"`},
		{"engine/kv", "// Name is the workload's.\nfunc Name() {}", "say what it does"},
		{"engine/kv", "func settle() { take := 1; _ = take }", `"settle" is not plain English here; better: what it does`},
		{"engine/kv", "type x struct{ past int }", `better: "deletions"`},
		{"engine/kv", "type x interface{ giveBack(place int) }", `"giveBack"`},
		{"engine/kv", "func settlement(place, told int) {}", ""},
		{"engine/kv", "const gone = 1", `"gone"`},
		{"engine/kv", "// Name is the workload's, as the knob has it.\nfunc Name() {}", ""},
	} {
		f, err := parse(token.NewFileSet(), tt.pkg, "a.go", "package p\n"+tt.body+"\n")
		if err != nil {
			t.Fatal(err)
		}
		expect(t, tt.body, wordViolations(f), tt.want)
	}
	f, err := parse(token.NewFileSet(), "engine/kv", "a_test.go", "package p\n// nobody\n")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "a test", wordViolations(f), "")
	expect(t, "the page", lineViolations("dashboard/web/a.html", "<p>\n<p title=\"keys and what is what\">\n"), `dashboard/web/a.html:2: "what is what"`)
}
