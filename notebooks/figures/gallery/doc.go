// Package gallery writes computed figures into a folder of web pages: an index by chapter, and a page for each figure with its
// picture, claims, published numbers, predictions, specs, and the command and the notebook cell that make it.
//
// The folder is complete at any time. A figure that is not computed yet has a page too, which says so and how it will be made, so
// that every link leads somewhere; the index counts what is missing. Each file is replaced as a whole. A later run for the same
// folder writes its pages again, from the run store, and those that are still to come stay as they are until then.
//
// Pages need no network and no script: styles and pictures are in them, and their content policy forbids every request. Each
// figure's picture and numbers are beside its page as files, to download.
//
// A gallery is of one scale and one setting of knobs; gallery.json in its folder says which, and what there is. What is left out:
// interactive charts, which `drtmx figure ID --html FILE` writes, and several writers at a time, of which the last one wins.
package gallery
