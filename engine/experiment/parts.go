package experiment

import (
	"slices"

	"drtmx/dst"
	"drtmx/dst/oracle"
	"drtmx/engine/kv"
	"drtmx/engine/kv/ordered"
	"drtmx/engine/protocol/nowait"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/protocol/rococo"
	"drtmx/engine/protocol/twopl"
	"drtmx/engine/replication"
	"drtmx/engine/replication/redo"
	"drtmx/engine/replication/undo"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/churn"
	"drtmx/engine/workload/cycle"
	"drtmx/engine/workload/kvbench"
	"drtmx/engine/workload/kvscript"
	"drtmx/engine/workload/micro"
	"drtmx/engine/workload/octopus"
	"drtmx/engine/workload/registers"
	"drtmx/engine/workload/script"
	"drtmx/engine/workload/smallbank"
	"drtmx/engine/workload/tpcc"
	"drtmx/engine/workload/tpce"
	"drtmx/engine/workload/tsmicro"
	"drtmx/engine/workload/ycsb"
	"drtmx/xstore"
	"drtmx/xstore/rivals/drtmtree"
	"drtmx/xstore/rivals/masstree"
	"drtmx/xstore/rivals/memcached"
	"drtmx/xstore/rivals/rolex"
)

// The parts that systems are made of. A protocol, a store or a workload is known by its line here and nowhere else in this
// room: it brings its knobs and rules, its documentation, what it needs of memory, and how it is built.

var Protocols = txn.Kinds{ // program: a list of parts
	occ.Kind,
	nowait.Kind,
	occ.ReadCommitted,
	twopl.Kind,
	rococo.Kind,
}

// Schemes are those of timestamps.
var Schemes = timestamp.Kinds{ // program: a list of parts
	dst.DST,
	oracle.GTS,
	oracle.VTS,
	dst.TrueTime,
}

// Logs keep the copies of records in step.
var Logs = replication.Kinds{ // program: a list of parts
	redo.Kind,
	undo.Kind,
	replication.None,
}

var Stores = store.Kinds{ // program: a list of parts
	kv.Kind,
}

// Ordered are the ordered key-value stores.
var Ordered = store.Ordered{ // program: a list of parts
	ordered.Kind,
	xstore.Kind,
	drtmtree.Kind,
	masstree.Kind,
	memcached.Kind,
	rolex.Kind,
}

var Workloads = workload.Parts(slices.Concat( // program: a list of parts
	smallbank.Kinds,
	cycle.Kinds,
	registers.Kinds,
	script.Kinds,
	churn.Kinds,
	ycsb.Kinds,
	tpcc.Kinds,
	tpce.Kinds,
	micro.Kinds,
	octopus.Kinds,
	kvbench.Kinds,
	kvscript.Kinds,
	tsmicro.Kinds,
))
