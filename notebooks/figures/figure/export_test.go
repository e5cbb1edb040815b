package figure

// What tests outside of the package look at.
var (
	Relative   = (*Figure).relative
	ClaimTable = (*Figure).claimTable
	LeaveOpen  = (*Claim).undecided
)
