// Package dashboard is the page of a live cluster: a place where a researcher
// turns a knob and sees what it does. It is an http.Handler; package cluster
// serves it behind its guards and has the JSON it talks to.
//
// The page itself is plain HTML, CSS and ES modules in web/, without a build
// step. Numbers are judged on the server, once for every reader: the charts
// are go-echarts options (or SVG where echarts is not built in), the cards
// compare the windows before and after a knob change, the steps of "Try this"
// are YAML files in steps/.
//
// Left out: accounts, several agents in one page, editing of specs.
package dashboard
