// Package handbook is the manual of drtmx: a Markdown page a topic, which `drtmx help TOPIC` prints and the view Help of the page shows.
//
// The pages are in pages/, embedded, each with a title, a summary, its place in the order and the knobs that it explains in front. What
// a page repeats of the code (the knobs of its topic, the floors, the counts of predictions) stands between two comments or in a table and
// is written by a test: UPDATE=1 go test . ./cluster/handbook ./notebooks/figures -run 'Generated|Floors|Counts' writes it, and without
// UPDATE the test fails where it differs. So the pages can be read in the repository too. The list of a result's fields is compared with
// the type. cluster/drtmx has the test that reads every command line, kernel that of the cells.
//
// Markdown is parsed by goldmark, for the page and for the terminal alike. The terminal's renderer is here (terminal.go): glamour, which
// does the same, adds 45 ms to the start of every command and 12 MB to the program.
//
// Left out: formats other than HTML and text, and translations.
package handbook
