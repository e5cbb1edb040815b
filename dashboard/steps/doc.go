// Package steps has what the page offers under "Try this": for each shipped spec a YAML file with questions, the click that answers
// each, and what the thesis says.
package steps
