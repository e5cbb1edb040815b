// Package tpce is TPC-E (revision 1.14): a brokerage house, with 33 tables and ten
// transaction types, spread over machines by customer and by security; and
// customer-position alone, which figure 4-6 runs (§4.3.5).
//
// # What is modelled
//
// All 33 tables, with the standard's row sizes and ratios of cardinalities: per
// machine 1,000 customers with 5,000 accounts (the DrTM family's partition), 10
// brokers, 685 securities of 500 companies, five years of daily prices. Only the
// trades of the start are fewer, Options.Trades of each account. Rows are pure
// functions of their keys until they are first touched.
//
// Tables of customers and brokers are divided by customer: his accounts, their
// holdings and trades and their brokers are on his machine. Those of the market
// are divided by security, a company with its securities. Nine small tables that
// never change, from charges to zip codes, are on every machine.
//
// The ten types have the standard's frames, as far as they read and write, and its
// mix but for tenths of a per cent. Clients serve customers of their own machine; securities, brokers and
// trades that are looked up are drawn from all machines. So only trade-orders and
// what customers look up of themselves stay near home, and they too fetch prices:
//
//	customer-position  customer, accounts and what they hold at home; then the last price of each security, from everywhere
//	trade-order        at home but for security, company, last price and two indexes
//	trade-result       at home but for the security
//	trade-status       at home but for the securities of the last 50 trades
//	security-detail    all on the machine of a security, but for competitors
//	market-watch       50 to 150 securities' last prices, descriptions and prices of a day
//	broker-volume      20 to 40 brokers of all machines and the orders that wait with them
//	market-feed        20 securities of all machines get new prices
//	trade-lookup       20 trades of all, of an account or of a security, or the holdings that a trade changed
//	trade-update       likewise, and changes them
//
// Reads that need no earlier read's value are announced together (Tx.Prefetch),
// and come together under speculative execution (§4.4.1). Others wait: prices for
// what is held, holdings for the trade, the company for its security, cash
// transactions for their trades.
//
// # Hot rows
//
// The last prices: 20 are written by each market-feed, and customer-position,
// market-watch and trade-order read dozens of all, 685 per machine. Which ones is
// uniform, as in the standard: an account draws from its list of up to 18, and the
// lists have all securities equally often. There is no zipfian distribution.
//
// # The market
//
// The standard's emulator of the market is no part of the system, and its messages
// are free. It keeps the orders that were sent to it, by machine, and reports the
// one that has waited longest when the mix says trade-result; if there is none the
// client places an order in its place. A limit order waits in trade-request until
// a market-feed has a price for it, and is sent then. About as many results as
// orders is what the mix says and what comes out. Where machines have no clients of their own, the clients of each other machine report
// what they have sent. Else an order that a market-feed of another machine sends is known to the machine of its account 100 us later.
//
// # Records that come into being
//
// Trades, holdings and what belongs to them have rows from the start, of which one
// column says whether the record exists: the tables do not grow (see txn.Tx.Insert). A trade's number is a
// row of its machine; the trade-order owns it, and the trade-result owns the
// rows that come with that: they are written by txn's Insert. A security of an
// account has a summary row in each slot of its list; 0 is none.
//
// # Indexes
//
// Ordered tables, in whatever store.ordered says, on the machine of what they are about: trades by account and by
// security, holdings by account and security, orders that wait by broker and by
// security, customers by tax identifier. Entries are not validated, the records
// are. So the ten types are strictly serialisable in what they read and write, and
// phantoms are excluded where the standard asks for it (clause 7.4.1), in
// trade-result: the holdings of a security change with its summary, which it
// writes. Elsewhere a scan may miss a trade that is committed while it runs, and
// market-feed an order: that goes with the next feed.
//
// # Consistency
//
// Check verifies the standard's three conditions and eight that follow from its
// transactions, as tpce.1 to tpce.11, and that the indexes are what the records
// say; see check.go.
//
// # Caveats
//
//   - A machine has rows for so many new trades, Options.Orders (workload.orders); the run ends with
//     an error when they are used up.
//   - A trade's rows, histories of holdings and the daily market are not in
//     location caches: what is read of them from afar is drawn from millions.
//   - Figure 4-6's prose calls customer-position the most frequent type. By the
//     standard's mix it is the fourth; read-only types are 77 %, 79 with
//     trade-update.
//   - Table 4-2 has no handler times of TPC-E: handlers are charged what they touch.
//   - Memory grows with the rows that are looked at, some 0.2 MB per transaction of
//     the mix at the begin: many lookups, each in a page of buckets of its own.
//
// # Deviations
//
//   - The mix is in whole per cent, as the DrTM family has it: trade-order has 10 for
//     the standard's 10.1, broker-volume 5 for 4.9.
//   - The trades, accounts and times that trade-lookup and trade-update look at are drawn
//     uniformly. The standard prefers some of them, by bits that are set as in NURand,
//     and so reads them again more often.
//   - Two columns of the broker that trade-result changes, number of trades and
//     commissions, are a table of their own, as the standard allows: a transaction that reads a
//     broker's name does not conflict with his trades.
//   - Every customer has five accounts; in the standard one to ten, five on
//     average. Customers are drawn uniformly, not by tier.
//   - Market-feed is one transaction of 20 securities, in the standard one each. It
//     sends 8 orders at most, for the log entry has 4 KB; others go with the next.
//   - Broker-volume looks at the 6 oldest orders of each broker: a transaction has
//     1,024 records at most.
//   - Trade-lookup's fourth frame finds the histories of holdings by the trade, not
//     later ones by the holding.
//   - Of trades and holdings the numbers of the trades say which are the newest: those of
//     when they were ordered. The standard goes by dates, which change when a limit order is
//     sent and when it is completed.
//   - Customer-position names the statuses that its trades have, not each that their
//     histories have, and security-detail leaves out the industries of competitors: rows
//     that each machine has.
//   - Trade-order finds its security by symbol always, not 40 % by the company's
//     name. Market-watch draws a range of companies as the standard, and finds
//     those of an industry, as the accounts of a customer, by number without an
//     index.
//   - Data-maintenance and trade-cleanup are left out, and the 100,000 bytes of a
//     news item.
//   - Trade-update counts in the first bytes of the texts that it changes.
//   - Texts are random letters of full length. Numbers are binary.
package tpce
