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
// A bit more than a fifth of the transactions give up: 68 % of the payments and 37 % of transact-savings.
// It is so from the start, for the accounts begin with what is on them in the long run (balances.go):
// amalgamate gathers the money with few customers, whatever there was at first. These are rollbacks,
// counted apart from commits and aborts. With other weights of the mix the long run is another one, and
// the share moves there, over as many transactions as it takes to draw each hot customer some fifty
// times.
//
// # Deviations
//
//   - balance validates its two reads. The thesis calls it a single-key
//     transaction that needs no validation (§4.3.5), which would take both
//     balances in one record.
//   - The released code's hot set is inverted; this one is not.
package smallbank
