// Package charts draws what the other rooms measured: one builder per kind of
// chart, for the page, the notebook and the command alike. A Chart carries an
// interactive form (go-echarts, drawn by echarts in the browser) and a static
// one (SVG).
//
// It also holds what a notebook needs of its surroundings: rich output
// (Display, Update, Clear), progress bars (Progress) and the stop button
// (Context). The notebook kernel fills these in through SetFrontend, BeginCell,
// EndCell and Interrupt; outside a notebook they do next to nothing, so callers
// need not know where they run.
//
// The chart library itself comes from npm into the folder assets and is
// embedded; see HasLibrary. Nothing here ever refers to a foreign server.
//
// Caveats, the likeliest first: a notebook that was not run by its reader is
// "not trusted", its scripts are off and the static forms are shown; static
// forms do not follow the page's colours; a chart displayed before the library
// arrived is redrawn, not updated.
package charts
