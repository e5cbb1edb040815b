package smallbank

import "encoding/binary"

// What is on the accounts at the start is what is on them in the long run, so that a bank that has just
// opened rolls back as many transactions as one that has been open for a year.
//
// The long run is that of the mix and the amounts above, and it is the same for hot and cold customers
// and for any skew: how often a customer is drawn sets how fast time passes for an account and nothing
// else. Per hundred transactions in the bank for each customer, 15 amalgamate an account as A, 15 as B,
// and 15 are transact-savings.
//
// Savings: amalgamate empties them, transact-savings takes them a step of 20.20 up or down and is
// given up at the bottom. That is a chain whose stationary distribution is geometric, with the
// ratio r that solves r + 1/r = 2 + 2*15/15: r = 2 - sqrt(3).
//
// Checking: amalgamate empties an account, and adds to it all that another one has; deposits and
// payments add and take on the way. That is aggregation with injection (Takayasu's model): the
// distribution is stationary although the mean is not, and its tail is P(more than c) = sqrt(j/(15 pi c)),
// where j is what an account gains per hundred transactions in the mean: 13,041 cents of savings and
// deposits less 8,310 of checks, penalties included. The body has no closed form. longRun lists it, as
// simulated without hardware (see TestBalancesStay, which simulates it again).

// longRun are equally frequent balances of checking accounts in the long run, in cents, lowest first:
// those below the tail.
var longRun = [...]int64{
	-4750, -3500, -2970, -2640, -2400, -2240, -2090, -1910, -1800, -1750, -1670, -1600, -1540, -1440, -1370, -1280,
	-1200, -1200, -1200, -1200, -1150, -1070, -1070, -1070, -1040, -990, -940, -940, -880, -830, -800, -720,
	-700, -650, -600, -600, -600, -600, -600, -600, -600, -600, -600, -600, -600, -600, -600, -600,
	-570, -550, -500, -500, -470, -470, -470, -470, -470, -470, -470, -470, -440, -370, -370, -340,
	-340, -340, -310, -240, -210, -210, -150, -100, -100, -80, -20, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 30, 30, 70, 130, 130,
	130, 130, 130, 130, 130, 130, 130, 130, 130, 130, 130, 130, 130, 130, 130, 130,
	160, 160, 220, 260, 260, 260, 260, 260, 280, 300, 370, 390, 400, 430, 490, 500,
	500, 500, 500, 500, 500, 530, 580, 630, 630, 630, 660, 760, 760, 830, 900, 990,
	1020, 1100, 1150, 1260, 1340, 1440, 1540, 1630, 1710, 1810, 1940, 2040, 2150, 2280, 2410, 2530,
	2670, 2820, 2990, 3170, 3350, 3560, 3760, 3970, 4200, 4450, 4700, 4990, 5310, 5660, 6030, 6400,
	6850, 7320, 7860, 8420, 9050, 9720,
}

const (
	// savingsRatio is r, in 2^-32.
	savingsRatio = 1_150_833_019
	// tailRoot is the square root of j/(15 pi), in thousandths of the root of a cent.
	tailRoot = 10_030
	// tailLeast keeps the richest account below 4.3 billion: one in 65,536 would have more.
	tailLeast = 1 << 8
)

// savingsCents draws a savings account.
func savingsCents(draw uint64) (cents int64) {
	for limit := uint64(savingsRatio); draw>>32 < limit; limit = limit * savingsRatio >> 32 {
		cents += savings
	}
	return cents
}

// checkingCents draws a checking account.
func checkingCents(draw uint64) int64 {
	if rank := draw >> 56; rank < uint64(len(longRun)) {
		return longRun[rank]
	}
	above := max(1<<24-draw>>40, tailLeast) // the share of the accounts that have more, in 2^-24
	root := tailRoot << 24 / above
	return int64(root * root / 1_000_000)
}

// initialCents is what is on an account at the start.
func (b *Bank) initialCents(table uint8, key uint64) int64 {
	x := key*0x9e3779b97f4a7c15 + b.opt.Seed*0xbf58476d1ce4e5b9 + uint64(table)*0x94d049bb133111eb
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9 // the finaliser of splitmix64
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	if table == Savings {
		return savingsCents(x)
	}
	return checkingCents(x)
}

// initial writes it into a row.
func (b *Bank) initial(table uint8) func(key uint64, value []byte) {
	return func(key uint64, value []byte) {
		binary.LittleEndian.PutUint64(value, uint64(b.initialCents(table, key)))
	}
}
