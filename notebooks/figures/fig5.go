package figures

// What the figures of chapter 5 share. In every cluster one machine more, the oracle, holds no data and runs no clients (§5.5),
// whether the scheme needs it or not.

// cluster5 is a cluster of the chapter, without its oracle.
type cluster5 struct {
	name              string
	profile, preset   string
	machines, threads int
}

// Two without RDMA, whose systems are two-sided in every phase (§5.5, Table 5-1).
var (
	aws5  = cluster5{"AWS", "aws", "fasst", 31, 8}
	vale5 = cluster5{"VALE", "vale", "fasst", 15, 24}
)

// figures5 are those of chapter 5.
var figures5 = []*definition{&table51}
