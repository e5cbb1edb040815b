// Package web is all of HTTP: the API, the feed of frames, who may do what, and the client of the same API.
//
// The API is a table (table.go): a row has method, path, what is asked for, what is answered, and which method of the agent
// serves it. Server and client read the same rows. Only the feed of frames and the history are no rows: they are streams.
// The page is served beside the API; the package that has it registers it (SetPage).
//
// It is safe by default and thereby strict: the Host header must be known, requests from other sites are refused, bodies are
// JSON and small, an address that others can reach needs a token, slow readers are dropped, connections are bounded.
package web
