package ordered

import (
	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// Kind is that of this package's tables. Their values have 8 bytes: they are indexes, and no key-value store.
var Kind = store.KVKind{
	Name:    "btree",
	Doc:     "B+trees that their server's CPU works on, reached by RPC, for the indexes of transactions",
	Indexes: func(cl *r2.Cluster, _ knob.Values) (store.Indexes, error) { return NewService(cl), nil },
	Dated:   true,
}
