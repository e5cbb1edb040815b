package oracle

import (
	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/membership"
	"drtmx/engine/testbed"
	"drtmx/engine/timestamp"
)

const (
	gtsName = "gts"
	vtsName = "vts"
)

// GTS is the scheme of a single counter in the list of parts.
var GTS = timestamp.Kind{
	Name: gtsName, Doc: "global timestamps: an oracle gives a number to every transaction, and a snapshot reads the largest below which all are installed (section 5.1.2)",
	Traits: func(v knob.Values) timestamp.Traits { return gtsTraits(v.Bool(stableKnob)) },
	Rows:   sharedRows,
	Rules:  []func(v knob.Values) error{validFetchThread}, Restamps: []string{stableKnob},
	Claim: history.Serializable,
	Open:  func(e timestamp.Env) (timestamp.Scheme, error) { return openGTS(e) },
}

// VTS is the scheme of a vector in the list of parts. Its dependencies are versions that a transaction has read or overwritten. Of
// versions that others put over what it read they know nothing, so a snapshot may have those without it. With ts.readers they do.
var VTS = timestamp.Kind{
	Name: vtsName, Doc: "vector timestamps: each worker counts for itself, and an oracle keeps a vector of what is stable, which a snapshot carries along (section 5.1.2)",
	Traits: func(v knob.Values) timestamp.Traits { return vtsTraits(slotsOf(v), v.Bool(readersKnob)) },
	Rows:   func(testbed.LoadOf) []knob.Row { return []knob.Row{compressionRow(), readersRow()} },
	Rules:  []func(v knob.Values) error{validFetchThread, validFreshness, validReaders}, Elsewhere: []func(v knob.Values) error{readersElsewhere},
	Restamps: []string{stableKnob, compressionKnob, readersKnob},
	Claim:    history.Serializable, ClaimOf: vtsClaim,
	Open: func(e timestamp.Env) (timestamp.Scheme, error) { return openVTS(e) },
}

// vtsClaim: only where writers depend on readers is a snapshot closed under all that has to come before.
func vtsClaim(o *timestamp.Options) history.Claim {
	if o.Values.Bool(readersKnob) {
		return history.Serializable
	}
	return history.SnapshotIsolation
}

// slotsOf is how many slots a vector has.
func slotsOf(v knob.Values) int {
	if v.Bool(compressionKnob) {
		return len(testbed.Members(v).Of(membership.Client))
	}
	_, threads, _ := testbed.ThreadCounts(v)
	return threads
}

// sharedRows are the knobs of schemes with an oracle.
func sharedRows(testbed.LoadOf) []knob.Row {
	row := func(k knob.Knob) knob.Row {
		k.Group, k.Section, k.Live = group, "5.5", true
		return knob.Row{Knob: k, Inactive: func(v knob.Values) string { return noOracle(v) }}
	}
	period := row(knob.Knob{Name: fetchKnob, Kind: knob.Duration, Default: 10_000, Min: 1_000, Max: 10_000_000, Unit: "ns", Label: "Time between two fetches",
		Doc: "How often the fetch thread asks the oracle. Snapshots get older by up to this."})
	period.Inactive = func(v knob.Values) string {
		if why := noOracle(v); why != "" || v.Bool(fetchThreadKnob) {
			return why
		}
		return "there is no fetch thread: set ts.fetch_thread"
	}
	stable := row(knob.Knob{Name: stableKnob, Kind: knob.Bool, Default: true, Label: "Stable timestamps", Section: "5.1.3",
		Doc: "The oracle tracks what snapshots may read. Off, GTS: they read the counter itself and wait for writers (Percolator). VTS: a transaction aborts if the vector lacks what it depends on (NAM-DB)."})
	stable.Section = "5.1.3"
	return []knob.Row{
		row(knob.Knob{Name: batchingKnob, Kind: knob.Bool, Default: false, Label: "Batching of requests to the oracle",
			Doc: "While a worker has a message to the oracle under way, requests of its other coroutines wait and share the next message."}),
		row(knob.Knob{Name: fetchThreadKnob, Kind: knob.Bool, Default: false, Label: "Dedicated fetch thread",
			Doc: "The last thread of each machine runs no transactions and fetches the stable timestamp for all snapshots of the machine, which read it from memory."}),
		period, stable,
	}
}

func compressionRow() knob.Row {
	return vtsRow(knob.Knob{Name: compressionKnob, Kind: knob.Bool, Default: false, Label: "Compressed vector timestamps", Section: "5.5",
		Doc: "All workers of a machine share one slot of the vector, and its counter: messages are shorter, and each number takes an atomic operation."},
		"only ts.scheme=vts has a vector")
}

func readersRow() knob.Row {
	return vtsRow(knob.Knob{Name: readersKnob, Kind: knob.Bool, Default: false, Label: "Readers as dependencies", Section: "5.1.2",
		Doc: "A transaction also depends on those that have read what it overwrites, so that snapshots are serialisable: Figure 5-4 has none of these dependencies. Records remember their readers, and a transaction that only reads has a number too, which it installs."},
		"only under ts.scheme=vts do transactions have dependencies")
}

// vtsRow is a live knob of VTS alone.
func vtsRow(k knob.Knob, elsewhere string) knob.Row {
	k.Group, k.Live = group, true
	return knob.Row{Knob: k, Inactive: func(v knob.Values) string {
		if v.Text(timestamp.Knob) != vtsName {
			return elsewhere
		}
		return ""
	}}
}

const group = knob.Timestamps

// The knobs of schemes with an oracle, and of the vector's alone.
const (
	batchingKnob    = "ts.batching"
	fetchThreadKnob = "ts.fetch_thread"
	fetchKnob       = "ts.fetch_ns"
	stableKnob      = "ts.stable"
	compressionKnob = "ts.compression"
	readersKnob     = "ts.readers"
)

// noOracle says why the knobs have no effect.
func noOracle(v knob.Values) string {
	if scheme := v.Text(timestamp.Knob); scheme != gtsName && scheme != vtsName {
		return timestamp.Knob + "=" + scheme + " asks no oracle"
	}
	return ""
}

// validFetchThread wants a thread to be left for transactions.
func validFetchThread(v knob.Values) error {
	if !v.Bool(fetchThreadKnob) {
		return nil
	}
	for _, m := range testbed.Members(v).Of(membership.Client) {
		if n := testbed.ThreadsOf(v, m); n < 2 {
			return knob.Invalid(fetchThreadKnob, true, "set threads=2 or more", "machine %d has %d thread, and transactions need one", m, n)
		}
	}
	return nil
}

// validReaders wants the oracle to hear of dependencies. Readers are known when versions are in place.
func validReaders(v knob.Values) error {
	if v.Bool(readersKnob) && !v.Bool(stableKnob) {
		return knob.Invalid(readersKnob, true, "set ts.stable=true, or ts.readers=false", "with ts.stable=false an attempt has to know all that it depends on before it has its number")
	}
	return nil
}

// readersElsewhere refuses what another scheme does not do.
func readersElsewhere(v knob.Values) error {
	if v.Bool(readersKnob) {
		return knob.Invalid(readersKnob, true, "set ts.readers=false, or "+timestamp.Knob+"="+vtsName, "under "+timestamp.Knob+"=%s no transaction has dependencies", v.Text(timestamp.Knob))
	}
	return nil
}

// validFreshness refuses strict snapshots.
func validFreshness(v knob.Values) error {
	if o := timestamp.OptionsOf(v); o.SomeAre(timestamp.Strict) {
		return knob.Invalid(timestamp.FreshnessKnob, v.Text(timestamp.FreshnessKnob), "set "+timestamp.FreshnessKnob+"="+timestamp.BySession.String()+", or another "+timestamp.Knob, "no machine knows all numbers of a vector that were drawn, so there is no strict snapshot")
	}
	return nil
}
