// Package shell writes commands as one types them into a POSIX shell. It has only what commands that pages and files show need:
// quoting of one word. Other shells are left out: every command that drtmx shows is for a shell like sh.
package shell

import "strings"

// Word quotes a word where that is needed.
func Word(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune("=._-+:%,/", r) && !isAlphanumeric(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func isAlphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}
