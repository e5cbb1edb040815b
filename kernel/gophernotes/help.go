//go:build drtmxkernel

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	interp "github.com/cosmos72/gomacro/fast"

	"drtmx/cluster/handbook"
)

const helpHead = `In the first lines of a cell:
  %help       this text
  %cd FOLDER  makes another folder the current one
  $ls -l      runs a command

Tab completes names, members, and in quotes knobs, their values, metrics and columns. Shift-Tab explains what stands at the cursor.
`

const helpFoot = `
The handbook: "drtmx help notebook" prints this page, "drtmx help" lists the others, and the page of a cluster (c.Dashboard()) has
them under Help.
`

// help is what %help prints: what is not Go, what is imported, what can be, and the handbook's page of the notebook.
func help(ir *interp.Interp) string {
	var b strings.Builder
	b.WriteString(helpHead)
	imported := "nothing; begin with: import \"drtmx/cluster\""
	if names := importedNames(ir); len(names) > 0 {
		imported = strings.Join(names, ", ")
	}
	fmt.Fprintf(&b, "\nImported: %s\nTo import besides the standard library: %s\n", imported, strings.Join(ownPackages(), ", "))
	if page, ok := handbook.Get("notebook"); ok {
		b.WriteString("\n" + plainPage(page.Text))
	}
	b.WriteString(helpFoot)
	return b.String()
}

// importedNames are the packages that cells have imported, with their paths.
func importedNames(ir *interp.Interp) (names []string) {
	for c := ir.Comp; c != nil; c = c.Outer {
		for name, bind := range c.Binds {
			if imp, ok := bind.Value.(*interp.Import); ok && imp.Path != "display" { // which is the kernel's own
				names = append(names, fmt.Sprintf("%s (%q)", name, imp.Path))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

var (
	pageLink = regexp.MustCompile(`\[([^\]]*)\]\((\w+)\.md\)`)
	emphasis = regexp.MustCompile(`\*(\w[^*]*)\*`)
)

// callWidth is how wide the calls of a table are; what a longer one does stands below it.
const callWidth = 56

// plainPage is a page of the handbook as text: its tables are aligned, and its links say what prints the page.
func plainPage(markdown string) string {
	var b strings.Builder
	code := false
	for line := range strings.Lines(pageLink.ReplaceAllString(markdown, "$1 (drtmx help $2)")) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			code = !code
		case code:
			b.WriteString("  " + line + "\n")
		case strings.HasPrefix(line, "|--"), strings.HasPrefix(line, "| call |"):
		case strings.HasPrefix(line, "|"):
			call, does, _ := strings.Cut(strings.ReplaceAll(strings.Trim(line, "| "), "`", ""), " | ")
			if utf8.RuneCountInString(call) > callWidth {
				call += "\n" + strings.Repeat(" ", callWidth+2)
			}
			fmt.Fprintf(&b, "  %-*s  %s\n", callWidth, call, does)
		default:
			line = emphasis.ReplaceAllString(strings.TrimLeft(line, "# "), "$1")
			b.WriteString(strings.ReplaceAll(line, "`", "") + "\n")
		}
	}
	return b.String()
}
