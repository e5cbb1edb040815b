package xstore

import (
	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// planted are faults that a checker must find. Tests only.
type planted struct {
	noIncarnation bool // clients do not compare incarnations
	noRightLink   bool // what a speculative lookup does not find in the leaf counts as missing
	keepTable     bool // a refreshed sub-model keeps its old table
	oldModel      bool // a refreshed table keeps its old sub-model
	missAnswered  bool // "not found" is answered after a mismatch
	oneSubModel   bool // of the sub-models of a split leaf, one is retrained
	anyReal       bool // a GET takes the first record of a hash for its key's
	forgottenLog  bool // recovery leaves the log of the last worker out
	oldVersion    bool // recovery takes the first change of a key, not the last
	oldEpoch      bool // recovery goes on with the epoch of before: incarnations restart
}

// Fault is one that tests plant.
type Fault struct {
	Name  string
	plant func(*planted)
}

// Faults are those that checkers must find.
var Faults = []Fault{
	{"no-incarnation-check", func(p *planted) { p.noIncarnation = true }},
	{"right-link-not-followed", func(p *planted) { p.noRightLink = true }},
	{"not-found-after-mismatch", func(p *planted) { p.missAnswered = true }},
	{"table-not-refreshed", func(p *planted) { p.keepTable = true }},
	{"old-model-with-new-table", func(p *planted) { p.oldModel = true }},
	{"one-sub-model-retrained", func(p *planted) { p.oneSubModel = true }},
}

// CrashFaults are those that show behind a recovery alone.
var CrashFaults = []Fault{
	{"log-forgotten", func(p *planted) { p.forgottenLog = true }},
	{"oldest-version-recovered", func(p *planted) { p.oldVersion = true }},
	{"incarnations-restarted", func(p *planted) { p.oldEpoch = true }},
}

// Kind is the store with the fault, under a name of its own, for tests that plug it into the list of parts.
func (f Fault) Kind() store.KVKind {
	k := Kind
	k.Name += "-" + f.Name
	k.Open = func(cl *r2.Cluster, s store.KVSpec, v knob.Values) (store.KV, error) {
		o := optionsOf(v, &s)
		f.plant(&o.planted)
		return Open(cl, s, o)
	}
	k.Indexes = nil
	return k
}
