// Package dashboard is the page of a live cluster: a place where a researcher
// turns a knob and sees what it does. It is an http.Handler; package cluster
// serves it behind its guards and has the JSON it talks to.
//
// The page itself is plain HTML, CSS and ES modules in web/, without a build
// step and without anything from elsewhere. What it shows is judged here, once
// for every reader: the charts are go-echarts options (or SVG where echarts is
// not built in). Rooms of their own have what lies below: windows keeps the
// windows of every system, card compares those before and after a knob change,
// or of a system and its ghost, lineage knows what every knob was under every
// version, for undo and for what changed, and steps is "Try this". Here are the
// answers to what the browser asks for (page.go has the list), a file for each panel.
//
// What a pointer and the keys do on charts over virtual time is in web/probe.js: a crosshair through all of them, spans to zoom
// into, lines that are hidden. It draws over the charts, for the library's own would stay where it is while the lines move on.
//
// Systems of one spec race on one chart under their names. What they can all change live of their workload is a strip
// above it, whose changes go to all of them or to none. A system with a learned cache has a strip of its own, with the number
// of sub-models and what clients cache; the panel XCache says what that brings and how far training has come.
//
// The figures of the thesis (#figures) are computed by the agent, which keeps them
// and hands out their points while runs end; the page only asks, so it may be closed
// meanwhile. A figure draws itself, with the published numbers that are on its axes
// and variants with other knobs over it; a point leads back to the system behind it,
// as a live one (open live) or as a notebook cell that repeats its run.
//
// The runs that are kept (#runs) are those of the run store, from any program: a list, one of them, two side by side, and
// the way from one to a live system. The page only reads the store.
//
// Help (#handbook) has the pages of the handbook (cluster/handbook), with a search over all of them; the help of a knob leads to its page.
//
// Look deeper has one transaction of a percentile, which is looked for in the background
// while the system runs, and the inside of a node; package charts/diagram draws both. A
// session is saved as one HTML file (SessionPage), with everything in it.
//
// Left out: accounts, several agents in one page, editing of specs beyond knobs.
//
// Caveats, the likeliest first: the ghost of an older change, or without a twin on
// standby, replays the session of its parent, which takes as long again; percentiles
// need samples (1000 for p99), which short windows of small clusters do not
// have; a figure at work takes every core, and the live systems crawl meanwhile;
// the time at paper scale is that of one point times their number; intervals are
// for one comparison at a time, and of twenty equal ones about one is off; figures
// are gone with the agent, though not their runs; the history is that of the last 20,000 windows.
package dashboard
