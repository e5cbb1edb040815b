// Package output writes the files that flags of a command name. A file is there as it was or as the command made it, and what cannot
// be written is refused before a long run. "-" is standard output.
package output
