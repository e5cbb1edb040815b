package txn

// OnBroadwell are the cycles in which a core of VAL does what takes that many of the host on which coordinators and
// reclaims were measured (engine/protocol/occ, coordinator.go), a Xeon of the generation Sapphire Rapids: 1.4 times as many.
//
// Per clock, by what the vendor published of single threads at one frequency: Sunny Cove does 1.18 times the work of
// Skylake (Hot Chips 2020, of Xeons, SPECint rate at the same cores and clock), Golden Cove 1.19 times that of a
// Sunny Cove (Architecture Day 2021), together 1.40. What Skylake had on Broadwell, some per cent, is left out: it is well
// within a factor of 1.4 up and down, which covers another compiler and language too (figure --band).
func OnBroadwell(cycles int) int { return cycles * 7 / 5 }
