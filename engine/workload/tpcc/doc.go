// Package tpcc is TPC-C (revision 5.11): a company that takes orders, with nine
// tables, spread over machines by warehouse; and TPC-C/no of thesis §4.3, which
// runs new-order alone.
//
// # What is modelled
//
// All nine tables with the standard's cardinalities and row sizes. Stock is two, as
// clause 1.4 allows: what transactions change, and the rest. Options.Districts may
// change the number of districts, and with it how often transactions meet. Rows are pure functions
// of their keys until they are first touched. Customers and items are drawn by
// NURand. A machine's worker threads serve the terminals of its warehouses, a thread
// those whose number modulo the threads is its own; the district is drawn for each
// transaction. Handlers cost what Table 4-2 says and messages have its payloads.
//
// TPC-C/no (NewOrderOnly): each line of an order comes from a random other
// warehouse, so every transaction is distributed. As in the released code, order
// lines have no dist-info and the constant part of stock is not read, which is
// left out: a log entry then has about the 1,006 bytes of Table 4-2. The 16
// coroutines of a thread share the district rows of one warehouse, and orders
// of one district exclude each other: many attempts abort. occ.IgnoreAborts is how
// the released code can be told to run it.
//
// # What finds records
//
// As in the released code, B+trees find the records of all tables but warehouse, district and stock, on backups too, each
// operation in a region of hardware transactional memory; HashTables has hash tables find all. The thesis names a hash table for what READs look up,
// DrTM-KV of §4.3.1, and in TPC-C/no that is stock alone; §6.1 has unordered accesses alone by hash table. It is silent on how a machine
// finds its own records. In TPC-C a payment may be of a customer of another machine, who is in a tree: the location comes by RPC, as DrTM+H
// reaches ordered data (§6.1.1), and the location cache remembers it. The released code's formats of such messages are not known.
//
// # Records that come into being
//
// Orders, order lines, new-orders and payments are inserted, and delivery deletes new-orders: see
// package occ. The transaction that takes a number from its district inserts the records of that
// number without looking them up before; the server's CPU finds out that they are not there. A transaction that reads a
// record that is not there, as delivery does with the new-order before the oldest, has the gap validated.
//
// On a machine, the keys of all districts' first orders come first, then those of
// the second ones, and their buckets are together likewise (store.Spec.Sequential). Rows are taken as they
// are needed, those of delivered new-orders again. What is inserted at about the same time shares
// pages and, in the LLC, lines.
//
// The orders of the population have 15 line rows each; a column says which of them are lines.
//
// # Indexes
//
// Four ordered tables with a part per district, in whatever store.ordered says: customers by last and first
// name, the orders of a customer, the queue of orders not delivered, and the orders
// with the count of their lines, which TPC-C/no does without. The first never changes. Index entries are not validated; the records are, and in
// these transactions they suffice:
//
//   - delivery takes an order whose new-order record exists and whose
//     predecessor's does not, or does not any more. Orders come in and go out in the order of their
//     numbers, so it is the oldest. A district without any is one whose last order
//     is delivered.
//   - order-status reads the customer before it asks the index for the last order.
//     What follows a newer order and could be seen by the reader, as its delivery,
//     writes the customer, and validation fails.
//   - stock-level scans the range of the last 20 orders (clause 2.8.2.2), which end
//     where the district says, and the district is validated: all of them have
//     entries, and how many lines an order has never changes.
//
// The history has no index and is never read.
//
// # Consistency
//
// Check verifies the twelve conditions of clause 3.3.2 for what may have changed,
// as tpcc.1 to tpcc.12, and that the indexes are what the records say. CheckOnline
// verifies the first while transactions run; the sums of the others have terms in
// rows that come and go. Condition 11 holds in the standard's form (orders less
// new orders are 2,100) for the population only: with deliveries the difference
// is 2,100 and the deliveries that the customers count.
//
// # Caveats
//
//   - A district has rows for so many new orders, Options.Orders; the run ends
//     with an error when they are used up.
//   - District and warehouse have what transactions change in front, and only
//     that is logged and written back.
//   - The READ of a stock record has 32 bytes. Table 4-2 has 68 for an execution
//     request; the replies of RPCs are padded to that.
//   - A delivery is a transaction per district, an order each, which follow each other on
//     their terminal (clause 2.7.2 allows it) and count one by one: with the
//     standard's weights 29 % of what commits is of type delivery.
//   - The number of a payment's history row comes from a counter that machines
//     share for free where clients have no warehouses of their own.
//
// # Deviations
//
//   - No keying and thinking times, no terminals' input and output: closed loops.
//   - Each machine has the item table; it is never written and it is not validated.
//   - Numbers are binary, of the standard's row sizes in sum.
//   - A scaled population scales NURand's constant A with it, so that the skew
//     stays; the standard does not know scaled populations.
//   - NURand draws both of its numbers from 0, not the second from the first of the
//     numbers that it yields.
//   - The text of rows is random letters of full length; that of a payment's history is
//     left blank, not the names of warehouse and district.
//   - A new-order that is rolled back announces its last line as the others: with
//     speculative execution the stock of an item is fetched that the standard does not find.
//   - Options.Districts other than ten are not the standard's. Of more than ten some
//     share a dist-info of the stock, which has ten.
package tpcc
