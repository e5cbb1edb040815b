// Package smallbank is the SmallBank benchmark of thesis §4.3: bank customers
// with a savings and a checking account each, six short transactions.
//
// # What is modelled
//
// Customers are numbered through the servers in blocks, 100,000 per server
// thread. Their accounts are drawn from all of them, without locality, so
// nearly all transactions are distributed. 4 % of the customers are hot and 90
// % of the transactions pick theirs among them; hot customers are spread evenly
// over the numbers. With theta above 0 the hot set gives way to a zipfian
// distribution. A balance is 8 bytes, in cents.
//
//	amalgamate        moves all money of A, savings and checking, to B's checking
//	balance           reads both balances; read-only
//	deposit-checking  adds 1.30 to checking
//	send-payment      moves 5.00 from A's checking to B's, gives up if A has less
//	transact-savings  adds or takes 20.20, gives up if savings would be negative
//	write-check       takes 5.00 from checking, 6.00 if both accounts together have less
//
// Amounts are those of the public H-Store implementation. Handler costs and
// payloads of messages are those of thesis Table 4-2.
//
// # Caveats
//
// The share of transactions that give up rises from nothing to a fifth, over some
// 200 virtual milliseconds of the default cluster. The bank does not get poorer:
// amalgamate gathers the money of the hot customers with a few of them, until two
// thirds of their checking accounts have less than a payment and three quarters of
// their savings less than what transact-savings takes. Three of five payments and
// one of three transact-savings are given up then. These are rollbacks, counted
// apart from commits and aborts; a batch run of some milliseconds sees few of them.
//
// # Deviations
//
//   - balance validates its two reads. The thesis calls it a single-key
//     transaction that needs no validation (§4.3.5), which would take both
//     balances in one record.
//   - The released code's hot set is inverted; this one is not.
package smallbank
