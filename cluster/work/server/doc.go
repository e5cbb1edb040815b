// Package server runs a NATS server with JetStream in this process: for labs that have none, and for tests. It is a server as
// any other, on which package work keeps its queue and results; other clients may use it too.
//
// On an address that others can reach it wants credentials: a client that may connect may have points computed and may store
// results. A credentials file is made when it is not there yet. It holds a user's JWT and key, as NATS's own
// tools make them; the keys that signed it are not kept, so another user takes another file and another start. What is
// needed to check it stands beside the streams.
//
// Left out: clusters, leaf nodes, monitoring. A lab that needs these has a server of its own, and drtmx speaks to it.
package server
