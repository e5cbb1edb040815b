// Package manual has the help of drtmx: of a command, a page of the handbook (drtmx help TOPIC), or what the handbook says of some words.
package manual
