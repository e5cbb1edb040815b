// Package page writes what is known of a figure beside its picture, as HTML without a style of its own: claims with their
// verdicts, published numbers, predictions on record, how the figure is made, and the specs and runs behind it. The page of the
// dashboard and that of a gallery show the same parts, each in its own style; the class names in parts.html are what they share.
package page
