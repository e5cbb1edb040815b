package cluster

import (
	"os"
	"runtime"
)

// SessionHTML is the session so far as one HTML file, which needs no network: lines, cards, knobs and
// the code version.
func (c *Client) SessionHTML() ([]byte, error) {
	defer runtime.KeepAlive(c)
	return c.d.SessionPage(c.context(), c.sys)
}

// SessionHTML writes the session so far to a file as one HTML page, which needs no network: lines,
// cards, knobs and the code version.
func (c *Cluster) SessionHTML(file string) *Written {
	b, err := c.c.SessionHTML()
	must(err)
	must(os.WriteFile(file, b, 0o644))
	return &Written{File: file, Bytes: len(b)}
}
