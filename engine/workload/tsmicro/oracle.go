package tsmicro

import (
	"fmt"

	"drtmx/dst/oracle"
	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// OracleName is the workload's that asks timestamp oracles.
const OracleName = "ts-oracle"

// Op is what a request to the oracle is.
type Op uint8

const (
	Count        Op = iota // alone: a number, without stable timestamps
	Install                // alone: with them
	Point                  // alone: the stable timestamp
	NetworkCount           // over the network: what a read-write transaction asks
	NetworkPoint           // what a snapshot asks
	numOps
)

var opNames = []string{"count", "install", "point", "network", "network-point"}

// OpNames are the operations.
func OpNames() []string { return opNames }

// ParseOp finds an operation by name.
func ParseOp(name string) (Op, error) {
	for i, n := range opNames {
		if n == name {
			return Op(i), nil
		}
	}
	return 0, fmt.Errorf("workload.oracle_op %q is not one of %v", name, opNames)
}

// Alone says that an operation takes no message.
func (o Op) Alone() bool { return o < NetworkCount }

// OracleOptions are what the requests are.
type OracleOptions struct {
	Scheme string // gts or vts
	Op     Op
}

// Asking is the workload.
type Asking struct {
	opt    OracleOptions
	env    workload.Env
	local  []*oracle.Local // by machine
	scheme timestamp.Scheme
	report workload.Verbs
}

// NewOracle checks the options.
func NewOracle(o OracleOptions) (*Asking, error) {
	if o.Op >= numOps || kindOf(o.Scheme) == nil {
		return nil, fmt.Errorf("%s: operation %d of scheme %q: there are %d of gts and vts", OracleName, o.Op, o.Scheme, numOps)
	}
	return &Asking{opt: o}, nil
}

func kindOf(scheme string) *timestamp.Kind {
	switch scheme {
	case oracle.GTS.Name:
		return &oracle.GTS // program: a constant
	case oracle.VTS.Name:
		return &oracle.VTS // program: a constant
	}
	return nil
}

// Name is the value of the knob workload that chooses it.
func (w *Asking) Name() string { return OracleName }

// Types has the only request type.
func (w *Asking) Types() []string { return []string{opNames[w.opt.Op]} }

// DB is nil: no transactions.
func (w *Asking) DB() *txn.DB { return nil }

// Warm has nothing to fill.
func (w *Asking) Warm(workload.Between) error { return nil }

// Set knows no parameter.
func (w *Asking) Set(name string, value any) error {
	return workload.UnknownParameter(OracleName, name)
}

// Check has nothing to check.
func (w *Asking) Check() []workload.Invariant { return nil }

// plain are the switches of an oracle without optimisations.
var plain = timestamp.Options{Values: timestamp.Kinds{oracle.GTS, oracle.VTS}.Defaults()} // program: constants

// Open makes the oracle, or one for each machine.
func (w *Asking) Open(env workload.Env) (err error) {
	w.env, w.report = env, workload.NewVerbs(env)
	if w.opt.Op.Alone() {
		for m := range env.Cluster.Machines() {
			l, err := oracle.OpenLocal(env.Cluster, m, w.opt.Scheme)
			if err != nil {
				return err
			}
			w.local = append(w.local, l)
		}
		return nil
	}
	w.scheme, err = kindOf(w.opt.Scheme).Open(timestamp.Env{Cluster: env.Cluster, Members: env.Machines(), Options: func() *timestamp.Options { return &plain }})
	return err
}

// asker is one coroutine's client.
type asker struct {
	w       *Asking
	c       *r2.Co
	x       timestamp.Txn
	p       timestamp.Point
	session timestamp.Session
}

// Runner makes a coroutine's client.
func (w *Asking) Runner(c *r2.Co) workload.Runner { return &asker{w: w, c: c} }

// Next is one operation. Alone, a thread looks for messages behind each, as it would between two handlers.
func (r *asker) Next() error {
	w, c := r.w, r.c
	begin := w.report.Begin(c, r2.Mode{Outstanding: true, Doorbell: true})
	var err error
	switch w.opt.Op {
	case Count:
		w.local[c.Machine()].Count(c)
	case Install:
		w.local[c.Machine()].Install(c)
	case Point:
		w.local[c.Machine()].Point(c)
	case NetworkCount:
		w.scheme.Begin(c, &r.x)
		if err = w.scheme.Draw(c, &r.x); err == nil {
			w.scheme.Done(c, &r.x, &r.session)
		}
	case NetworkPoint:
		err = w.scheme.Point(c, &r.session, timestamp.Stale, &r.p)
	}
	if err != nil {
		w.report.Failed(c, begin)
		return err
	}
	w.report.Done(c, begin)
	if w.opt.Op.Alone() {
		c.Yield()
	}
	return nil
}
