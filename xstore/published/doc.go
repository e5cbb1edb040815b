// Package published has what a server of XStore publishes in registered memory for its clients, and what they keep of it (thesis §3.4.1):
// versions of its model with sub-models and translation tables, and the learned cache.
//
// Only this package knows the bytes: New fills them for the initial keys, a Writer stores what a trainer has made, a client READs
// them (ReadSub, ReadEntries, Read) or finds them in a server's reply (PutNewer, GetNewer), and an audit compares them with the tree
// (Changed, Misses). Sub-model and table are written and READ one after the other, so every line of a table has the generation of its
// sub-model, and what does not fit is of no use.
//
// When to READ, train or drop is the store's to decide.
package published
