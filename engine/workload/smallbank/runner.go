package smallbank

import (
	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// Amounts in cents.
const (
	deposit = 130
	payment = 500
	savings = 2_020
	check   = 500
	penalty = 100
)

// runner is one coroutine's client. The inputs of the running transaction are
// its fields, so that a body needs no closure.
type runner struct {
	bank   *Bank
	client *txn.Client
	bodies [6]func(tx *txn.Tx) error
	home   int // the client's machine if customers are on it
	a, b   uint64
	amount int64
	gain   int64 // what the bank gets if the transaction commits
}

// Runner makes a coroutine's client.
func (b *Bank) Runner(c *r2.Co) workload.Runner {
	r := &runner{bank: b, client: b.db.Client(c), home: b.homeOf(c.Machine())}
	r.bodies = [6]func(tx *txn.Tx) error{
		amalgamate: r.amalgamate, balance: r.balance, depositChecking: r.depositChecking,
		sendPayment: r.sendPayment, transactSavings: r.transactSavings, writeCheck: r.writeCheck,
	}
	return r
}

// Next runs one transaction.
func (r *runner) Next() error {
	b, rand := r.bank, r.client.Co().Rand()
	typ := b.Pick(rand)
	if body := b.Custom(typ); body != nil {
		return workload.Done(r.client.Run(uint8(typ), false, body))
	}
	r.draw(typ, rand)
	err := r.client.Run(uint8(typ), b.ReadOnly(typ), r.bodies[typ])
	if err == nil {
		*b.deposited.Of(r.client.Co().Machine()) += r.gain
	}
	return workload.Done(err)
}

// draw picks the inputs.
func (r *runner) draw(typ int, rand *r2.Rand) {
	home := r.bank.home(r.home, rand)
	switch typ {
	case amalgamate, sendPayment:
		r.a, r.b = r.bank.two(rand, home)
	case transactSavings:
		r.a = r.bank.one(rand, home)
		r.amount = savings
		if rand.Uint64n(2) == 0 {
			r.amount = -savings
		}
	default:
		r.a = r.bank.one(rand, home)
	}
}

// queue declares the records of a transaction, and announces them.
func (r *runner) queue(tx *txn.Tx, refs ...txn.Ref) error {
	if err := tx.Declare(refs...); err != nil {
		return err
	}
	return tx.Queue(refs...)
}

func (r *runner) amalgamate(tx *txn.Tx) error {
	r.gain = 0
	err := r.queue(tx, txn.Ref{Table: Savings, Key: r.a, Write: true},
		txn.Ref{Table: Checking, Key: r.a, Write: true}, txn.Ref{Table: Checking, Key: r.b, Write: true})
	if err != nil {
		return err
	}
	s, err := tx.GetInt(Savings, r.a)
	if err != nil {
		return err
	}
	c, err := tx.GetInt(Checking, r.a)
	if err != nil {
		return err
	}
	if err := tx.PutInt(Savings, r.a, 0); err != nil {
		return err
	}
	if err := tx.PutInt(Checking, r.a, 0); err != nil {
		return err
	}
	return tx.AddInt(Checking, r.b, s+c)
}

func (r *runner) balance(tx *txn.Tx) error {
	r.gain = 0
	if err := r.queue(tx, txn.Ref{Table: Savings, Key: r.a}, txn.Ref{Table: Checking, Key: r.a}); err != nil {
		return err
	}
	if _, err := tx.GetInt(Savings, r.a); err != nil {
		return err
	}
	_, err := tx.GetInt(Checking, r.a)
	return err
}

func (r *runner) depositChecking(tx *txn.Tx) error {
	r.gain = deposit
	if err := tx.Declare(txn.Ref{Table: Checking, Key: r.a, Write: true}); err != nil {
		return err
	}
	return tx.AddInt(Checking, r.a, deposit)
}

func (r *runner) sendPayment(tx *txn.Tx) error {
	r.gain = 0
	if err := r.queue(tx, txn.Ref{Table: Checking, Key: r.a, Write: true}, txn.Ref{Table: Checking, Key: r.b, Write: true}); err != nil {
		return err
	}
	c, err := tx.GetInt(Checking, r.a)
	if err != nil {
		return err
	}
	if c < payment {
		return txn.ErrRollback
	}
	if err := tx.PutInt(Checking, r.a, c-payment); err != nil {
		return err
	}
	return tx.AddInt(Checking, r.b, payment)
}

func (r *runner) transactSavings(tx *txn.Tx) error {
	r.gain = r.amount
	account := txn.Ref{Table: Savings, Key: r.a, Write: true}
	if err := tx.Declare(account); err != nil {
		return err
	}
	if err := tx.Prefetch(account); err != nil {
		return err
	}
	s, err := tx.GetInt(Savings, r.a)
	if err != nil {
		return err
	}
	if s+r.amount < 0 {
		return txn.ErrRollback
	}
	return tx.PutInt(Savings, r.a, s+r.amount)
}

func (r *runner) writeCheck(tx *txn.Tx) error {
	if err := r.queue(tx, txn.Ref{Table: Savings, Key: r.a}, txn.Ref{Table: Checking, Key: r.a, Write: true}); err != nil {
		return err
	}
	s, err := tx.GetInt(Savings, r.a)
	if err != nil {
		return err
	}
	c, err := tx.GetInt(Checking, r.a)
	if err != nil {
		return err
	}
	amount := int64(check)
	if s+c < check {
		amount += penalty
	}
	r.gain = -amount
	return tx.PutInt(Checking, r.a, c-amount)
}
