// Command planted plants known bugs into the code, one at a time, and says which of them the named tests catch.
//
//	go run ./engine/planted                  plants all of them; prints the score and exits with 1 if one is not caught
//	go run ./engine/planted -share COMMIT    plants the share of them that the text chooses, as make test does
//	go run ./engine/planted -only occ-gap-not-raised -v
//	go run ./engine/planted -list
//	go run ./engine/planted -build ./engine/explore -dir DIR    to look for a test that catches a new bug
//
// # Lists
//
// The bugs are in testdata, a file for each part of the code:
//
//	== occ-gap-not-raised
//	says: Validation raises the timestamps of records, not those of gaps.
//	test: ./engine/explore TestScripts/skewed-insert
//	shows: G2
//	file: engine/protocol/occ/versioned_serve.go
//	old:
//		if !p.mv.RaisesReads() {
//	new:
//		if !p.mv.RaisesReads() || PLANTED {
//
// The word PLANTED stands for a condition: this bug was chosen. So code is as it was unless a bug is chosen, and
// shipped code has no branch for any. A bug has one edit or several, each of a file, of lines that the file has exactly once, however
// they are indented, and of lines in their place. The test must fail, and its output must have the text of shows, if there is one.
// Where there are several tests, each with its shows, every one of them must catch the bug.
//
// # One build
//
// All edits together make one overlay (go help build, -overlay), and the tests of each package that is named are built with
// it once. A process has at most one bug: the environment variable DRTMX_PLANTED names it. Tests run
// as with go test -short. Each also runs without a bug, and must pass, or what it says of the bug is worth nothing.
//
// # What is left out
//
// A bug that does not end: a test has a minute. Bugs that only appear together.
package main
