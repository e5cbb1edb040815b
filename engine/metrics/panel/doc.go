// Package panel is what a part of the system shows of itself beside its gauges: on the page, a panel of charts, numbers and a sentence;
// in a result, a section. A part makes both known while the program starts, as it does with its gauges, and page and results know of
// them no more than what is said here.
//
// What is drawn follows from gauges alone, and from how old what snapshots read was. Left out: other distributions, and charts whose
// rows are machines.
package panel
