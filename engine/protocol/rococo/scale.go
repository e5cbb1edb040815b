package rococo

import "drtmx/engine/txn"

// The costs that a txn.Scale may change, in cycles.
const (
	CostRequest = "host.request"
	CostNode    = "host.node"
	CostBegin   = "coordinator.begin"
	CostPiece   = "coordinator.piece"
	CostRead    = "coordinator.read"
)

// costs is what programs take on their cores, in cycles.
type costs struct {
	request int // of a server: a message, beside its pieces
	node    int // a piece that starts, or a transaction of the graph that is looked at
	begin   int // of a coordinator: begin and end of an attempt
	piece   int // a piece that it asks for
	read    int // a record that it reads
}

// assumed are the costs where nothing says otherwise, for cores of 2.2 GHz. A server takes 5 us for a message and 0.5 us for a
// transaction of its graph: simple RPC servers over kernel TCP answer 100 to 200 thousand requests a second and core, and a
// node is a few cache misses. No source has the numbers of this protocol's servers, so the band of a figure scales them.
// Coordinators take what engine/protocol/occ was measured to take for the like (see engine/coordinator).
var assumed = costs{
	request: 11_000, node: 1_100,
	begin: txn.OnBroadwell(1000), piece: txn.OnBroadwell(240), read: txn.OnBroadwell(240),
}

// ScaledCosts are all of them, in the order in which a transaction comes to them.
func ScaledCosts() []txn.Cost {
	return []txn.Cost{
		{Name: CostBegin, What: "begin and end of an attempt"},
		{Name: CostPiece, What: "pieces, on the coordinator"},
		{Name: CostRead, What: "reads, on the coordinator"},
		{Name: CostRequest, What: "requests, on the server"},
		{Name: CostNode, What: "the dependency graph, on the server"},
		{Name: txn.CostBackoff, What: "back-off after an abort", Wait: true},
	}
}

func scaled(s txn.Scale, x costs) costs {
	x.request, x.node = s.Of(CostRequest, x.request), s.Of(CostNode, x.node)
	x.begin, x.piece, x.read = s.Of(CostBegin, x.begin), s.Of(CostPiece, x.piece), s.Of(CostRead, x.read)
	return x
}

// times multiplies what servers take by so many thousandths.
func (x costs) times(thousandths int) costs {
	x.request, x.node = x.request*thousandths/1_000, x.node*thousandths/1_000
	return x
}
