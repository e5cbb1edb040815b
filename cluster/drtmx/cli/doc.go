// Package cli has what the commands of drtmx share: errors of usage, the flags that choose a spec, tables, a place in the run store or a
// lab, and how results are printed and judged.
package cli
