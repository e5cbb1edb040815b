package occ

// versionedFaults change the rules of records with versions, by variant.
var versionedFaults = [numVariants]func(r *rules){}
