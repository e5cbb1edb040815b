// Package history records what transactions read and wrote and checks it.
package history
