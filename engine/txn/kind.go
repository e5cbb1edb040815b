package txn

import (
	"errors"
	"fmt"
	"slices"

	"drtmx/engine/knob"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/testbed"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn/audit"
)

// Kind is a concurrency control as the list of parts has it: what it reads of the knobs, and what it says of itself.
type Kind struct {
	Name  string // value of the knob cc
	Doc   string // a clause
	Claim audit.Claim
	// ClaimOf is its claim under these values, where it depends on them; nil: Claim.
	ClaimOf func(v knob.Values) audit.Claim

	// Rows are its own knobs; nil: it has none. Of those that are shared it uses the ones that need no more than it Has, see
	// knob.Row.Needs. What is neither is said to have no effect under it. Workloads and profiles that need what it lacks are refused.
	Rows func(load testbed.LoadOf) []knob.Row
	Has  []Feature
	// NeedsSets says that its sessions are Declaring ones: only workloads whose transactions declare their records run under it.
	NeedsSets bool
	// Rules are what may not be set together under it.
	Rules []func(v knob.Values, load *testbed.Load) error
	// Follower keeps true what follows from its knobs; it works whatever protocol runs. nil: nothing follows.
	Follower func(load testbed.LoadOf) knob.Follower

	// Config is what resolved values say to it.
	Config func(v knob.Values, load *testbed.Load, seen Seen) Config
	// Layout is what rows have in front of the value, without what versions add. nil: record.LockSeq.
	Layout func(c Config) record.Layout
	// Choices are what a configuration comes to, phase by phase, where the primitive of the phase is a knob. nil: it is none.
	Choices func(c Config) []Choice
	// LooksUp says why no machine looks records of others up, so that a location cache has no use; "": one does. nil: it remembers
	// no locations.
	LooksUp func(v knob.Values, load *testbed.Load) string
	// LongestWait is how many ns an attempt waits in a deadlock until that is taken for one: a drain outlasts it. nil, or 0: no attempt
	// waits so.
	LongestWait func(v knob.Values) int
	// Costs are the costs in its code that a Scale may change. nil: none.
	Costs func() []Cost

	// Logs are the schemes of package replication that may keep copies of records in step, the one that it has unless told first. Others
	// that write copies when one of them does will do as well. nil: it keeps one copy of each record.
	Logs []string

	// Snapshots says that it hosts snapshots: under the Schemes of timestamps that are named, nil: under any.
	Snapshots bool
	Schemes   []string

	// Presets are published designs that it can take the place of, in the order of the page. PresetKnobs is all that
	// one of them sets, Governed what it says in v, where others of its knobs may be set otherwise.
	Presets     []string
	PresetKnobs func(preset string) knob.Values
	Governed    func(v knob.Values, load *testbed.Load) knob.Values
}

// Complete fills in what may be nil, and says what is missing.
func (k *Kind) Complete() error {
	switch {
	case k.Name == "":
		return errors.New("a protocol without a Name: cc is set to it")
	case k.Config == nil:
		return fmt.Errorf("protocol %s has no Config, which makes its configuration of knobs", k.Name)
	case k.Claim == "" && k.ClaimOf == nil:
		return fmt.Errorf("protocol %s has no Claim, the isolation level that the checks hold it to: history.StrictSerializable, say", k.Name)
	}
	if k.Rows == nil {
		k.Rows = func(testbed.LoadOf) []knob.Row { return nil }
	}
	if k.Layout == nil {
		k.Layout = func(Config) record.Layout { return record.LockSeq }
	}
	if k.Choices == nil {
		k.Choices = func(Config) []Choice { return nil }
	}
	if k.LooksUp == nil {
		k.LooksUp = func(knob.Values, *testbed.Load) string { return "it remembers no locations" }
	}
	if k.Costs == nil {
		k.Costs = func() []Cost { return nil }
	}
	return nil
}

// Hosts says whether snapshots can be read under a scheme.
func (k *Kind) Hosts(scheme string) bool {
	return k.Snapshots && (k.Schemes == nil || slices.Contains(k.Schemes, scheme))
}

// Seen is what only a run can tell of its load; the zero value knows nothing yet.
type Seen struct {
	Overloaded bool // the CPUs of the servers limit throughput
	Counted    bool // LocalLocks is valid
	LocalLocks int  // of a hundred locks, those of records on the machine that locks them
}

// Choice is the primitive of one phase.
type Choice struct {
	Phase     string // as in the knob's name
	Knob      string
	Primitive string
	Because   string // why, where the knob is auto; "": it was given
}

// Cost is one that a Scale may change.
type Cost struct {
	Name string
	What string // for people
	Wait bool   // time that no CPU spends
	Held bool   // time that locks are held: it overlaps with the others, and can only be made longer
}

// Knobs are those that every protocol may use. looksUp is Kind.LooksUp of the protocol that runs, log is what keeps its copies in step.
func Knobs(load testbed.LoadOf, looksUp func(v knob.Values) string, log func(v knob.Values) replication.Kind) (replicas knob.Row, store []knob.Row) {
	replicas = knob.Row{Knob: knob.Knob{Name: "replicas", Kind: knob.Int, Default: DefaultReplicas, Min: 1, Max: maxReplicas, Label: "Replicas", Section: "4.3", Group: knob.Cluster,
		Doc: "Copies of every record, the primary counted; each commit logs to replicas - 1 backups."}, Needs: HasLog}
	reads := func(v knob.Values) string {
		if l := load(v); !l.Transactions {
			return "workload " + l.Name + " has no lookups"
		}
		return looksUp(v)
	}
	store = []knob.Row{
		{Knob: knob.Knob{Name: "cache.enabled", Kind: knob.Bool, Default: true, Label: "Location cache", Section: "4.3.1", Group: knob.Store, Live: true,
			Doc: "Remembers where records are, so that one READ fetches a record instead of two or more."}, Needs: HasLocations, Inactive: reads},
		{Knob: knob.Knob{Name: "cache.bytes", Kind: knob.Bytes, Default: 300_000_000, Min: 1 << 16, Max: 1 << 36, Unit: "bytes", Label: "Location cache size", Section: "4.3.1", Group: knob.Store, Live: true,
			Doc: "Per machine; shrinks with workload.scale. 300 MB in the thesis."}, Needs: HasLocations, Inactive: func(v knob.Values) string {
			if why := reads(v); why != "" {
				return why
			}
			if !v.Bool("cache.enabled") {
				return "cache.enabled is off"
			}
			return ""
		}},
		{Knob: knob.Knob{Name: "txn.speculative", Kind: knob.Bool, Default: true, Label: "Speculative execution", Section: "4.4.1", Group: knob.Phases, Live: true,
			Doc: "Fetches records that do not depend on each other in parallel: a read does not wait until its value is used."}, Needs: HasAnnounced},
		paddingRow(),
		replication.ReclaimRow(log),
		{Knob: knob.Knob{Name: "txn.backoff_min_ns", Kind: knob.Duration, Default: defaultBackoffMinNS, Min: 1, Max: mostBackoffNS, Unit: "ns", Label: "Back-off, first", Group: knob.Phases, Live: true,
			Doc: "After an abort a coroutine sleeps a random time below a bound. The bound after the first attempt is this; it doubles with each further abort. Assumed: the thesis does not state it."}, Needs: HasAborts},
		{Knob: knob.Knob{Name: "txn.backoff_max_ns", Kind: knob.Duration, Default: defaultBackoffMaxNS, Min: 1, Max: mostBackoffNS, Unit: "ns", Label: "Back-off, most", Group: knob.Phases, Live: true,
			Doc: "Upper limit of the back-off's bound. Too low: conflicting transactions live-lock. Too high: contended records stand idle. In a drain the bound goes on to double."}, Needs: HasAborts, Together: knob.Always},
		coordinatorRow(),
	}
	return replicas, store
}

// leastCacheBytes is what scaling leaves of a location cache at least.
const leastCacheBytes = 1 << 10

// SettingsOf is what the knobs of all protocols say.
func SettingsOf(v knob.Values) Settings {
	return Settings{
		Replicas: v.Int("replicas"), CacheEnabled: v.Bool("cache.enabled"),
		Reclaim:      replication.ReclaimingOf(v.Text(replication.KnobReclaim)),
		BackoffMinNS: int64(v.Int("txn.backoff_min_ns")), BackoffMaxNS: int64(v.Int("txn.backoff_max_ns")),
		Timestamps: timestamp.OptionsOf(v),
		CacheBytes: max(uint64(float64(v.Int("cache.bytes"))*v.Float("workload.scale")), leastCacheBytes),
	}
}

// mostBackoffNS is longer than any transaction.
const mostBackoffNS = 10_000_000

// ValidBackoff holds that its bounds rise.
func ValidBackoff(v knob.Values, load *testbed.Load) error {
	if least, most := v.Int("txn.backoff_min_ns"), v.Int("txn.backoff_max_ns"); least > most && load.Transactions {
		return knob.Invalid("txn.backoff_min_ns", knob.Format("txn.backoff_min_ns", least), "set txn.backoff_max_ns="+fmt.Sprint(knob.Format("txn.backoff_max_ns", least)), "above txn.backoff_max_ns, which is %v", knob.Format("txn.backoff_max_ns", most))
	}
	return nil
}

// ValidReplicas holds the rule of how many copies there can be.
func ValidReplicas(v knob.Values, load *testbed.Load) error {
	_, servers := testbed.Machines(v)
	if r := v.Int("replicas"); r > servers && load.Transactions {
		return knob.Invalid("replicas", r, fmt.Sprintf("set replicas=%d, or more nodes", servers), "more than the %d machines that hold data", servers)
	}
	return nil
}
