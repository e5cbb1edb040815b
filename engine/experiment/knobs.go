package experiment

import (
	"fmt"
	"strconv"
	"strings"

	"drtmx/engine/knob"
	"drtmx/engine/testbed"
	"drtmx/engine/timestamp"
)

const (
	defaultPreset   = "drtm+h"
	defaultWorkload = "smallbank"

	// coroutineRoom is how many coroutines per worker a system has buffers for at least, so that
	// `coroutines` can be raised live.
	coroutineRoom = 16

	maxDuration  = 10_000_000_000 // 10 s of virtual time, the longest span that a person may ask for
	MaxAutomatic = 1_000_000_000  // 1 s, the longest that a run takes by itself
)

// presetRow is the knob that sets a whole design.
func presetRow() knob.Row {
	return knob.Row{Knob: knob.Knob{Name: "preset", Kind: knob.Choice, Default: defaultPreset, Choices: PresetNames(), Label: "Preset", Section: "4.4.3", Group: knob.Cluster, Live: true,
		Doc: "A published design as a row of Table 4-3. It only sets knobs, those of the phases, optimisations and the cache; each can be set otherwise afterwards."},
		Design: true, Sets: func(_ Knobs, preset any) Knobs { return presetKnobs(preset.(string)) }}
}

func seedRow() knob.Row {
	return knob.Row{Knob: knob.Knob{Name: "seed", Kind: knob.Int, Default: 1, Min: 0, Label: "Seed", Group: knob.Cluster,
		Doc: "Seeds every random stream, and what the tables hold at the start. Same spec and seed: same result, byte for byte."}}
}

// clientKnobs are those of what keeps the workers busy.
func clientKnobs() []knob.Row {
	return []knob.Row{
		{Knob: knob.Knob{Name: "coroutines", Kind: knob.Int, Default: 8, Min: 1, Max: 64, Label: "Coroutines per thread", Section: "2.2.3", Group: knob.Communication, Live: true,
			Doc: "Transactions that a worker keeps going at once; while one waits for the network another runs."}, Inactive: func(v Knobs) string {
			if !v.Bool("opt.co") {
				return "opt.co is off: one coroutine per thread"
			}
			return ""
		}, Together: knob.Always},
		{Knob: knob.Knob{Name: "clients.arrival", Kind: knob.Text, Default: "closed", Label: "Arrivals", Unit: "closed | open:RATE", Section: "4.3", Group: knob.Communication,
			Doc: "closed: each coroutine starts its next request at once. open:RATE: requests arrive at random, RATE per second in the whole cluster, and wait for a free coroutine; latency counts the wait."}, Normal: normalArrival},
		{Knob: knob.Knob{Name: "opt.co", Kind: knob.Bool, Default: true, Label: "Coroutines", Section: "2.2.3", Group: knob.Optimisations, Live: true,
			Doc: "Runs several transactions per worker, each in its coroutine, so that one computes while others wait. Off: one at a time, whatever coroutines says."}},
	}
}

// normalArrival accepts "closed" and "open:RATE" with RATE in requests per second.
func normalArrival(s string) (string, string) {
	if s == "closed" {
		return s, ""
	}
	if rate, ok := strings.CutPrefix(s, "open:"); ok {
		n, _ := knob.ToInt(rate, knob.CountUnits, "")
		if r, ok := n.(int); ok && r >= 1 && r <= 1e9 {
			return "open:" + strconv.Itoa(r), ""
		}
	}
	return "", "must be closed, or open:RATE with 1 to 1,000,000,000 requests per second, such as open:2M"
}

// OpenRate is the rate of clients.arrival, 0 when closed.
func OpenRate(v Knobs) int {
	rate, ok := strings.CutPrefix(v.Text("clients.arrival"), "open:")
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(rate)
	if err != nil {
		panic("engine: resolved clients.arrival " + rate)
	}
	return n
}

func faultKnobs() []knob.Row {
	return []knob.Row{
		{Knob: knob.Knob{Name: "fault.drop", Kind: knob.Float, Default: 0.0, Min: 0.0, Max: 0.2, Label: "Datagram loss", Unit: "share", Section: "2.2.2", Group: knob.Faults, Live: true,
			Doc: "Share of UD datagrams that the network loses; RPCs are sent again and take effect once. RC queue pairs are not affected; over TCP a lost message arrives late. With one-sided logging, a thread's log ring of 8 KB fills quickly when a reclaim message is lost; transactions wait until it is resent."}},
		{Knob: knob.Knob{Name: "fault.nic_slowdown", Kind: knob.Float, Default: 1.0, Min: 1.0, Max: 100.0, Label: "Slow RNIC", Unit: "x", Section: "2.2.1", Group: knob.Faults, Live: true,
			Doc: "Factor by which the pipelines of one machine's RNICs are slower than the others'. 1: no slowdown."}},
		{Knob: knob.Knob{Name: "fault.nic_slowdown_node", Kind: knob.Int, Default: 0, Min: 0, Max: testbed.MaxMachines - 1, Label: "Machine with the slow RNIC", Section: "2.2.1", Group: knob.Faults, Live: true,
			Doc: "The machine that fault.nic_slowdown slows down, counted from 0."}, Inactive: noSlowNIC},
		{Knob: knob.Knob{Name: "fault.crash", Kind: knob.Int, Default: NoMachine, Min: NoMachine, Max: testbed.MaxMachines - 1, Label: "Crash a machine", Section: "2.3.2", Group: knob.Faults, Live: true,
			Doc: "Crashes this machine, counted from 0, at this instant: DRAM and caches are lost, NVM keeps its persistent domain, requests to it end with an error and those of its own clients with it. A server of an ordered store needs a log to come back with its keys (xstore.log). Shows the most recently crashed machine that is still down; -1: none."}, Inactive: noCrash, Order: true},
		{Knob: knob.Knob{Name: "fault.restart", Kind: knob.Int, Default: NoMachine, Min: NoMachine, Max: testbed.MaxMachines - 1, Label: "Restart a machine", Section: "2.3.2", Group: knob.Faults, Live: true,
			Doc: "Restarts this machine, which is down: it makes its connections anew, 50 µs for each that a thread has, and its clients begin again. A server that logs rebuilds its keys from the SSD first, and is down until then. A command, not a state: always shows -1."}, Inactive: noCrash, Order: true},
	}
}

func measureKnobs() []knob.Row {
	span := func(name, label, doc string, def, least, most int) knob.Row {
		return knob.Row{Knob: knob.Knob{Name: name, Kind: knob.Duration, Default: def, Min: least, Max: most, Unit: "ns", Label: label, Doc: doc, Group: knob.Measurement}}
	}
	return []knob.Row{
		span("warmup_ns", "Warm-up", "Virtual time before a run measures. 0: automatic, at least five times the p99 latency and 1 ms, at most 1 s.", 0, 0, maxDuration),
		span("duration_ns", "Measured interval", "Virtual time that a run measures. 0: automatic, at least 20 mean latencies and 10,000 commits, longer until the 95 % interval is narrow, at most 1 s.", 0, 0, maxDuration),
		drainBudget(span("drain_ns", "Drain's budget", "Virtual time that the drain at the end may take until nothing is under way. When it is spent the run ends with its numbers, its checks stay incomplete, and it says what is still under way. A live change of the lock's primitive waits as long at most; then the system fails and says the same. 0: automatic, five times as long as the longest request of the measured interval took and as those under way have taken on average, at least 20 ms and at most 1 s; 1 s over TCP and with faults.", 0, 0, maxDuration)),
		span("window_ns", "Window", "Length of the windows that the live page and its cards are made of, cut from virtual time 0. The interval of a run comes from spans of 10 µs. An automatic span ends with a window, or with a millisecond where windows are longer.", 400_000, 1_000, MaxAutomatic),
		{Knob: knob.Knob{Name: "timeline", Kind: knob.Bool, Default: false, Label: "Timeline", Group: knob.Measurement,
			Doc: "The result has the throughput of each window from time 0 to the end of the measured interval, at most of the last 20,000, and what the parts of the system show of themselves in it. For runs in which something grows or gets stale, so that they are not steady. Costs no virtual time."}},
		{Knob: knob.Knob{Name: "warm", Kind: knob.Bool, Default: true, Label: "Warm caches", Section: "4.3.1", Group: knob.Measurement,
			Doc: "Fills the location caches before time 0 by the workload's own distribution. Off: they start empty."}},
		{Knob: knob.Knob{Name: "check", Kind: knob.Choice, Default: "full", Choices: []string{"full", "sampled", "off"}, Label: "Checks", Group: knob.Measurement,
			Doc: "Records what each transaction read and wrote and looks for violations of strict serialisability: of all keys, of a sample of keys, or not at all. Costs no virtual time. A run drains at its end to check the replicas and the tables too, unless it is off."}},
	}
}

// drainBudget has no use where nothing is drained.
func drainBudget(e knob.Row) knob.Row {
	e.Inactive = func(v Knobs) string {
		if v.Text("check") == "off" {
			return "check is off, and such a run is not drained at its end; a live change of the lock's primitive is waited for"
		}
		return ""
	}
	return e
}

func noSlowNIC(v Knobs) string {
	if v.Float("fault.nic_slowdown") == 1 {
		return "fault.nic_slowdown is 1: no RNIC is slow"
	}
	return ""
}

// NoMachine is the value of fault.crash while all machines are up, and of
// fault.restart always: a restart is done with when it has begun.
const NoMachine = -1

// noCrash says why machines cannot crash.
func noCrash(v Knobs) string {
	w := Workloads.Of(v)
	switch {
	case w.Transactions && timestamp.Versioned(v):
		return lostStamps(v) + "; set " + timestamp.Without + " and use micro-read, micro-write or ycsb-a with xstore.log=true"
	case w.Transactions:
		return "workload " + w.Name + " runs transactions, and they have no recovery yet: use micro-read, micro-write or ycsb-a with xstore.log=true"
	case !w.RequestsOf(v).Retried:
		return "the clients of workload " + w.Name + " do not go on behind an error: use micro-read, micro-write or ycsb-a with xstore.log=true"
	case w.Ordered && Ordered.Of(v).Forgets == nil:
		return "servers of store " + v.Text("store.ordered") + " have no logs to recover from: use store.ordered=xstore with xstore.log=true"
	case w.Ordered && Ordered.Of(v).Forgets(v) != "":
		return Ordered.Of(v).Forgets(v)
	case testbed.HasNVM(v) && !v.Bool("nvm.durability"):
		return "what a crash would leave of the NVM is not recorded: reset with nvm.durability=true"
	}
	return ""
}

// lostStamps says what of a scheme of timestamps a crash takes with it.
func lostStamps(v Knobs) string {
	scheme := Schemes.Of(v)
	set := timestamp.Knob + "=" + scheme.Name
	if scheme.Traits(v).Oracle {
		return set + " has an oracle, and neither it nor a number that a machine takes with it is recovered (section 5.2.5)"
	}
	return set + " keeps read timestamps and old versions at primaries alone, and neither is recovered (section 5.2.5)"
}

func validFaults(v Knobs) error {
	all, _ := testbed.Machines(v)
	// Also while no RNIC is slow: or it would be a later change of fault.nic_slowdown that is refused.
	if err := ValidMachine("fault.nic_slowdown_node", v.Int("fault.nic_slowdown_node"), all); err != nil {
		return err
	}
	if err := ValidMachine(timestamp.Skewed, v.Int(timestamp.Skewed), all); err != nil {
		return err
	}
	if n := v.Int("fault.restart"); n != NoMachine {
		return knob.Invalid("fault.restart", n, "set it while the machine is down", "no machine that is down can be restarted before the system runs")
	}
	n := v.Int("fault.crash")
	if n == NoMachine {
		return nil
	}
	if why := noCrash(v); why != "" {
		return knob.Invalid("fault.crash", n, "leave it at -1", "%s", why)
	}
	return ValidMachine("fault.crash", n, all)
}

func ValidMachine(name string, n, all int) error {
	if n >= all {
		return knob.Invalid(name, n, fmt.Sprintf("use 0 to %d", all-1), "there are %d machines", all)
	}
	return nil
}
