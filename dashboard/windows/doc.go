// Package windows keeps what the page needs of the windows of every system. A Keeper fetches each window once, however many pages
// look; a Moment is what is kept of it, a tenth of its size. The moments of a span of time or of one version of the knobs are what
// lines, bars and cards are drawn from.
package windows
