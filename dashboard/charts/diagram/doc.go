// Package diagram draws what is no chart: the timeline of one transaction, and the inside of a
// machine. A drawing is an SVG that needs nothing else, for a notebook, a file or the page.
//
// On the page it has no ground of its own and takes the colour of the text around it, and what a
// pointer can ask for is in data-tip attributes, which the page shows. Elsewhere it has a white
// ground, and the same words are titles, which every browser shows.
package diagram
