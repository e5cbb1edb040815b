// Package choose takes the number of sub-models and the top model of a learned cache (thesis §3.4.1 leaves both to the user) for the
// keys that a store begins with.
//
// A candidate is a top model and a number of sub-models below it. Choose looks up some keys with each: it trains the sub-models
// that these meet, counts the leaves that a lookup READs, and the lookups that no sub-model can predict, which the server answers by
// RPC. Prices say what each step takes of the server's RNICs, of its cores and of the clients' cores.
//
// Left out: retraining, the fetching of sub-models into a cache, caches that are too small, hot keys, and waiting. So a choice is one
// for an unchanging store, of which all keys are looked up equally often.
package choose
