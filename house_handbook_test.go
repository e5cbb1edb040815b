package drtmx_test

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// floorsPage is the page of the handbook that lists the floors.
const floorsPage = "cluster/handbook/pages/developers.md"

// The floors in the handbook are those of the table above, with what each room says of itself. UPDATE=1 writes them.
func TestFloorsInHandbook(t *testing.T) {
	const begin, end = "<!-- generated: floors -->\n", "<!-- end -->"
	b, err := os.ReadFile(floorsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	have, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for the floors, between %q and %q", floorsPage, begin, end)
	}
	want := "\n" + floorList(tree(t)) + "\n"
	if have == want {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("the floors in %s differ from those here; UPDATE=1 go test . -run TestFloorsInHandbook writes them", floorsPage)
	}
	if err := os.WriteFile(floorsPage, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// floorList has a line for each room, from the ground up.
func floorList(files []*file) string {
	says := map[string]string{}
	for _, f := range files {
		if !f.isTest() && f.ast.Doc != nil {
			says[f.pkg] = firstSentence(f.ast.Doc.Text())
		}
	}
	var b strings.Builder
	for i, row := range rows {
		for _, room := range roomsOf(row, slices.Sorted(maps.Keys(says))) {
			fmt.Fprintf(&b, "- %d `%s`: %s\n", i, room, strings.TrimSuffix(says[room], "."))
		}
	}
	return b.String()
}

// roomsOf are a floor's rooms, with each folder where all folders of one are rooms.
func roomsOf(row, packages []string) (rooms []string) {
	for _, room := range row {
		folder, each := strings.CutSuffix(room, "/*")
		if !each {
			rooms = append(rooms, room)
			continue
		}
		for _, pkg := range packages {
			if path.Dir(pkg) == folder {
				rooms = append(rooms, pkg)
			}
		}
	}
	return rooms
}

// firstSentence is what a package says of itself, without its name.
func firstSentence(doc string) string {
	text, _, _ := strings.Cut(doc, "\n\n")
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i > 0 {
		text = text[:i]
	}
	words := strings.SplitN(text, " ", 4)
	if len(words) == 4 && (words[0] == "Package" || words[0] == "Command") {
		text = strings.Join(words[2:], " ")
		text = strings.TrimPrefix(text, "is ")
	}
	return strings.NewReplacer("<", `\<`, "*", `\*`).Replace(text)
}

// readmeBytes is one screen of start.
const readmeBytes = 8 << 10

// The README is short, and says nothing of how the text came about.
func TestREADME(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > readmeBytes {
		t.Errorf("README.md has %d bytes, at most %d are allowed: what is more belongs into cluster/handbook", len(b), readmeBytes)
	}
	for _, word := range regexp.MustCompile(`(?i)\b(withheld|baseline|stale|missed|[0-9a-f]*[0-9][0-9a-f]*[a-f][0-9a-f]{4,})\b`).FindAllString(string(b), -1) {
		t.Errorf("README.md says %q", word)
	}
	sources, err := os.ReadFile("cluster/handbook/pages/sources.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"Fast Distributed Transaction Processing using RDMA and NVM", "Hybrid is Better!", "Remote Persistent Memory", "Remote Learned Cache", "Decentralized Scalar Timestamp",
		"using RDMA and HTM", "Localized Validation", "RCBench:", "Making Large Transfers Fast"} {
		if !strings.Contains(string(b), title) || !strings.Contains(string(sources), title) {
			t.Errorf("README.md and the page of the sources do not both have %q", title)
		}
	}
	var missing []string
	for _, name := range []string{"LICENSE", "CITATION.cff", "dashboard/screenshot.png", "notebooks/01-first-look.ipynb"} {
		if _, err := os.Stat(filepath.FromSlash(name)); err != nil {
			missing = append(missing, name)
		}
	}
	if slices.Sort(missing); len(missing) > 0 {
		t.Errorf("README.md names what is not there: %v", missing)
	}
}
