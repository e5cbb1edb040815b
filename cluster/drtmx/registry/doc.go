// Package registry has the commands that list what can be set: knobs, specs and hardware profiles.
package registry
