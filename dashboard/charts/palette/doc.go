// Package palette is the one place of colours, markers and dashes. Page, notebook,
// figure and trace take theirs from it, so a phase or a system looks the same wherever
// it is drawn. Tables are keyed by name and keep the order of a legend.
//
// Any two colours of one table differ for people with each kind of colour blindness
// too, on a light ground and on a dark one; a test computes how much. Lines differ by
// their markers as well, so they can be told apart in print without colour.
//
// Caveats: Perfetto chooses the colours of a Chrome trace itself and cannot be told
// others. Phases share no colour with systems, but milestones do, for they are bars
// within a request and never lines.
package palette
