package tpce

// Numbers. Everything is numbered from 0 through the machines, so that a
// machine's part of a table is a block of keys. Symbols are the numbers of
// securities; in rows they take the standard's 15 bytes.

// machineOf is the machine of an account.
func (b *Bench) machineOf(account uint64) uint64 { return account / b.accounts }

// customerOf is the customer who has an account.
func customerOf(account uint64) uint64 { return account / accountsOf }

// brokerOf is the broker of an account: those of a machine have equal shares of
// its accounts.
func (b *Bench) brokerOf(account uint64) uint64 {
	return b.machineOf(account)*b.brokers + account%b.accounts*b.brokers/b.accounts
}

// accountsOfBroker is how many accounts he has.
func (b *Bench) accountsOfBroker(broker uint64) uint64 {
	n := broker % b.brokers
	first := func(n uint64) uint64 { return (n*b.accounts + b.brokers - 1) / b.brokers }
	return first(n+1) - first(n)
}

// shared is the key of a row that each machine has a copy of.
func shared(machine, rows, i uint64) uint64 { return machine*rows + i%rows }

// companyOf is the company of a security, on the same machine.
func (b *Bench) companyOf(security uint64) uint64 {
	return security/b.securities*b.companies + security%b.securities*b.companies/b.securities
}

// securitiesOf are the securities of a company: from first, n of them.
func (b *Bench) securitiesOf(company uint64) (first, n uint64) {
	at := func(c uint64) uint64 { return (c*b.securities + b.companies - 1) / b.companies }
	c := company % b.companies
	return company/b.companies*b.securities + at(c), at(c+1) - at(c)
}

// listLength is how many securities an account trades in: 2 to 18, 10 on average.
func (b *Bench) listLength(account uint64) uint64 {
	x := b.bits(HoldingSummary, ^account)
	return 2 + x.Below(listed-1)
}

// securityOf is the security in a slot of an account's list. All slots of all
// accounts together have each security about equally often, neighbouring slots
// have different ones.
func (b *Bench) securityOf(account, slot uint64) uint64 {
	return b.lists.At((account*listed + slot) % (b.securities * b.servers))
}

// slotOf finds the slot; ok is false if the account does not trade in it.
func (b *Bench) slotOf(account, security uint64) (slot uint64, ok bool) {
	for slot = range b.listLength(account) {
		if b.securityOf(account, slot) == security {
			return slot, true
		}
	}
	return 0, false
}

// eachHolder calls f with the slots that have a security: what securityOf says,
// the other way round.
func (b *Bench) eachHolder(security uint64, f func(account, slot uint64)) {
	all := b.securities * b.servers
	for i := b.lists.Of(security); i < b.accounts*b.servers*listed; i += all {
		if account, slot := i/listed, i%listed; slot < b.listLength(account) {
			f(account, slot)
		}
	}
}

// tradeOf is the number of a trade that was there from the start, the k-th of its
// account. New trades of a machine follow behind those of all its accounts.
func (b *Bench) tradeOf(account, k uint64) uint64 {
	return b.machineOf(account)*b.trades + account%b.accounts*b.initial + k
}

// initialTrade is the other way round; ok is false for new trades.
func (b *Bench) initialTrade(trade uint64) (account, k uint64, ok bool) {
	local := trade % b.trades
	return trade/b.trades*b.accounts + local/b.initial, local % b.initial, local < b.accounts*b.initial
}

// age sorts trades by when they were made: those of the start in rounds of one of
// each account, the new ones of a machine in their order.
func (b *Bench) age(trade uint64) uint64 {
	all := b.accounts * b.servers
	if account, k, ok := b.initialTrade(trade); ok {
		return k*all + account
	}
	return all*b.initial + (trade%b.trades-b.accounts*b.initial)*b.servers + trade/b.trades
}
