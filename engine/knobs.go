package engine

import (
	"strconv"
	"strings"

	"drtmx/engine/txn"
)

const (
	defaultPreset   = "drtm+h"
	defaultWorkload = "smallbank"

	// coroutineRoom is how many coroutines per worker a system has buffers for at least, so that
	// `coroutines` can be raised live.
	coroutineRoom = 16

	maxMachines = 64
	maxDuration = 1_000_000_000 // 1 s of virtual time per span a person may ask for
)

func clusterKnobs() []entry {
	symmetric := func(v Knobs) string {
		if asymmetric(v) {
			return "servers and clients are set"
		}
		return ""
	}
	split := func(v Knobs) string {
		if !asymmetric(v) {
			return "every machine is both server and client; set servers and clients to split them"
		}
		return ""
	}
	return []entry{
		{Knob: Knob{Name: "preset", Kind: KindChoice, Default: defaultPreset, Choices: PresetNames(), Label: "Preset", Section: "4.4.3", Group: groupCluster, Live: true,
			Doc: "A published design as a row of Table 4-3. It only sets knobs, those of the phases, optimisations and the cache; each can be set otherwise afterwards."}},
		{Knob: Knob{Name: "nodes", Kind: KindInt, Default: 4, Min: 2, Max: maxMachines, Label: "Machines", Section: "4.3", Group: groupCluster,
			Doc: "Machines of a symmetric cluster: each holds a partition and runs transactions."}, inactive: symmetric},
		{Knob: Knob{Name: "servers", Kind: KindInt, Default: 0, Min: 0, Max: maxMachines, Label: "Servers", Section: "4.3", Group: groupCluster,
			Doc: "Machines that only hold data, in an asymmetric cluster. 0 with clients = 0: symmetric, see nodes."}},
		{Knob: Knob{Name: "clients", Kind: KindInt, Default: 0, Min: 0, Max: maxMachines, Label: "Clients", Section: "4.3", Group: groupCluster,
			Doc: "Machines that only run transactions, in an asymmetric cluster."}},
		{Knob: Knob{Name: "threads", Kind: KindInt, Default: 4, Min: 1, Max: 64, Label: "Threads per machine", Section: "2.2.4", Group: groupCluster,
			Doc: "Worker threads per machine, each on a core of its own; the thesis runs one per core, 24."}},
		{Knob: Knob{Name: "server.threads", Kind: KindInt, Default: 0, Min: 0, Max: 64, Label: "Threads per server", Section: "2.2.4", Group: groupCluster,
			Doc: "Worker threads of each server of an asymmetric cluster. 0: as threads."}, inactive: split},
		{Knob: Knob{Name: "client.threads", Kind: KindInt, Default: 0, Min: 0, Max: 64, Label: "Threads per client", Section: "2.2.4", Group: groupCluster,
			Doc: "Worker threads of each client of an asymmetric cluster. 0: as threads."}, inactive: split},
		{Knob: Knob{Name: "replicas", Kind: KindInt, Default: 3, Min: 1, Max: 8, Label: "Replicas", Section: "4.3", Group: groupCluster,
			Doc: "Copies of every record, the primary counted; each commit logs to replicas - 1 backups."}, inactive: noTransactions},
		{Knob: Knob{Name: "seed", Kind: KindInt, Default: 1, Min: 0, Label: "Seed", Group: groupCluster,
			Doc: "Seeds every random stream, and what the tables hold at the start. Same spec and seed: same result, byte for byte."}},
	}
}

func asymmetric(v Knobs) bool { return v.int("servers") > 0 || v.int("clients") > 0 }

func hardwareKnobs() []entry {
	return []entry{
		{Knob: Knob{Name: "profile", Kind: KindChoice, Default: "val", Choices: profileNames(), Label: "Hardware profile", Section: "2.1", Group: groupHardware,
			Doc: "The machines, RNICs and network: every number with unit, meaning and source in `drtmx profiles`. hardware.NUMBER changes one."}},
		{Knob: Knob{Name: "emulated_nodes", Kind: KindInt, Default: 0, Min: 0, Max: 1024, Label: "Emulated cluster size", Section: "2.2.4", Group: groupHardware,
			Doc: "Opens as many RC queue pairs as a cluster of this size needs, so that the RNIC's context cache feels it; 80 in the thesis. 0: the real size."}, inactive: noRDMA},
		{Knob: Knob{Name: "nics", Kind: KindInt, Default: 0, Min: 0, Max: 8, Label: "RNICs per machine", Section: "2.1", Group: groupHardware,
			Doc: "How many of a machine's RNICs its threads use. 0: all, each thread the one of its socket."}},
		{Knob: Knob{Name: "nic.context", Kind: KindChoice, Default: "thread", Choices: []string{"thread", "shared"}, Label: "Driver contexts", Section: "2.2.2", Group: groupHardware,
			Doc: "thread: each thread opens the RNIC for itself. shared: all threads of a machine use one context per RNIC, whose queue pairs beyond seven share a doorbell buffer and its lock."}, inactive: noRDMA},
		{Knob: Knob{Name: "ddio", Kind: KindBool, Default: true, Label: "DDIO", Section: "2.3.4", Group: groupHardware, Live: true,
			Doc: "Lets the RNIC write into the socket's last-level cache. Off: its writes go to memory."}, alias: "nvm.ddio"},
		{Knob: Knob{Name: "nvm.enabled", Kind: KindBool, Default: true, Label: "Data in NVM", Section: "2.3.3", Group: groupHardware, Live: true,
			Doc: "The memory that a micro-benchmark reads and writes is persistent memory. Off: DRAM."}, inactive: func(v Knobs) string {
			if !hasNVM(v) {
				return "profile " + v.text("profile") + " has no NVM"
			}
			if w := workloadOf(v); w.transactions {
				return "workload " + w.name + " keeps its data in DRAM"
			}
			return ""
		}},
		{Knob: Knob{Name: "nvm.generation", Kind: KindChoice, Default: "first", Choices: []string{"first", "next"}, Label: "Generation of the NVM", Section: "2.4", Group: groupHardware,
			Doc: "first: Optane as the thesis has it. next: its successor, with 25 % more bandwidth."}, inactive: func(v Knobs) string {
			if !hasNVM(v) {
				return "profile " + v.text("profile") + " has no NVM"
			}
			return ""
		}},
		{Knob: Knob{Name: "nvm.durability", Kind: KindBool, Default: false, Label: "Keep what a crash leaves of the NVM", Section: "2.3.2", Group: groupHardware,
			Doc: "Keeps, of every line of NVM, which bytes are in the persistent domain: fault.crash needs it. Costs no virtual time, but the simulator a third of its speed."}, inactive: func(v Knobs) string {
			if !hasNVM(v) {
				return "profile " + v.text("profile") + " has no NVM"
			}
			return ""
		}},
		{Knob: Knob{Name: "torn_reads", Kind: KindBool, Default: true, Label: "Torn reads", Section: "4.3.2", Group: groupHardware,
			Doc: "Lets a read that overlaps a write see part of it, line by line, as hardware does. Off: accesses are atomic, whatever their size."}},
		{Knob: Knob{Name: "coroutines", Kind: KindInt, Default: 8, Min: 1, Max: 64, Label: "Coroutines per thread", Section: "2.2.3", Group: groupR2, Live: true,
			Doc: "Transactions that a worker keeps going at once; while one waits for the network another runs."}, inactive: func(v Knobs) string {
			if !v.bool("opt.co") {
				return "opt.co is off: one coroutine per thread"
			}
			return ""
		}},
		{Knob: Knob{Name: "clients.arrival", Kind: KindText, Default: "closed", Label: "Arrivals", Unit: "closed | open:RATE", Section: "4.3", Group: groupR2,
			Doc: "closed: each coroutine starts its next request at once. open:RATE: requests arrive at random, RATE per second in the whole cluster, and wait for a free coroutine; latency counts the wait."}, normal: normalArrival},
	}
}

// normalArrival accepts "closed" and "open:RATE" with RATE in requests per second.
func normalArrival(s string) (string, string) {
	if s == "closed" {
		return s, ""
	}
	if rate, ok := strings.CutPrefix(s, "open:"); ok {
		n, _ := toInt(rate, countUnits, "")
		if r, ok := n.(int); ok && r >= 1 && r <= 1e9 {
			return "open:" + strconv.Itoa(r), ""
		}
	}
	return "", "must be closed, or open:RATE with 1 to 1,000,000,000 requests per second, such as open:2M"
}

// openRate is the rate of clients.arrival, 0 when closed.
func openRate(v Knobs) int {
	rate, ok := strings.CutPrefix(v.text("clients.arrival"), "open:")
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(rate)
	if err != nil {
		panic("engine: resolved clients.arrival " + rate)
	}
	return n
}

func storeKnobs() []entry {
	reads := func(v Knobs) string {
		if w := workloadOf(v); !w.transactions {
			return "workload " + w.name + " looks nothing up"
		}
		if c := txnConfig(v).Resolved(); c.Execution == txn.TwoSided && c.RORead == txn.TwoSided {
			return "two-sided reads look up on the server"
		}
		return ""
	}
	def := presetKnobs(defaultPreset)
	return []entry{
		{Knob: Knob{Name: "cache.enabled", Kind: KindBool, Default: def["cache.enabled"], Label: "Location cache", Section: "4.3.1", Group: groupStore, Live: true,
			Doc: "Remembers where records are, so that one READ fetches a record instead of two or more."}, inactive: reads},
		{Knob: Knob{Name: "cache.bytes", Kind: KindBytes, Default: 300_000_000, Min: 1 << 16, Max: 1 << 36, Unit: "bytes", Label: "Location cache size", Section: "4.3.1", Group: groupStore, Live: true,
			Doc: "Per machine; shrinks with workload.scale. 300 MB in the thesis."}, inactive: func(v Knobs) string {
			if why := reads(v); why != "" {
				return why
			}
			if !v.bool("cache.enabled") {
				return "cache.enabled is off"
			}
			return ""
		}},
		{Knob: Knob{Name: "txn.speculative", Kind: KindBool, Default: def["txn.speculative"], Label: "Speculative execution", Section: "4.4.1", Group: groupPhases, Live: true,
			Doc: "Fetches records that do not depend on each other in parallel: a read does not wait until its value is used."}, inactive: noTransactions},
	}
}

func faultKnobs() []entry {
	return []entry{
		{Knob: Knob{Name: "fault.drop", Kind: KindFloat, Default: 0.0, Min: 0.0, Max: 0.2, Label: "Datagram loss", Unit: "share", Section: "2.2.2", Group: groupFaults, Live: true,
			Doc: "Share of UD datagrams that the network loses; RPCs are sent again and take effect once. RC queue pairs are not affected; over TCP what is lost comes late. With one-sided logging the log ring of a thread, of 8 KB, soon is full while a reclaim of it is repeated, and its transactions wait."}},
		{Knob: Knob{Name: "fault.nic_slowdown", Kind: KindFloat, Default: 1.0, Min: 1.0, Max: 100.0, Label: "Slow RNIC", Unit: "x", Section: "2.2.1", Group: groupFaults, Live: true,
			Doc: "Factor by which the pipelines of one machine's RNICs are slower than the others'. 1: all are as they should be."}},
		{Knob: Knob{Name: "fault.nic_slowdown_node", Kind: KindInt, Default: 0, Min: 0, Max: maxMachines - 1, Label: "Machine with the slow RNIC", Section: "2.2.1", Group: groupFaults, Live: true,
			Doc: "The machine that fault.nic_slowdown is about, counted from 0."}, inactive: noSlowNIC},
		{Knob: Knob{Name: "fault.crash", Kind: KindInt, Default: nobody, Min: nobody, Max: maxMachines - 1, Label: "Crash a machine", Section: "2.3.2", Group: groupFaults, Live: true,
			Doc: "Crashes this machine, counted from 0, at this instant: DRAM and caches are lost, NVM keeps its persistent domain, requests to it end with an error and those of its own clients with it. Reads the machine that crashed last of those that are down; -1: none."}, inactive: noCrash},
		{Knob: Knob{Name: "fault.restart", Kind: KindInt, Default: nobody, Min: nobody, Max: maxMachines - 1, Label: "Restart a machine", Section: "2.3.2", Group: groupFaults, Live: true,
			Doc: "Restarts this machine, which is down: it makes its connections anew, 50 us for each that a thread has, and its clients begin again. Always reads -1."}, inactive: noCrash},
	}
}

func measureKnobs() []entry {
	span := func(name, label, doc string, def, least int) entry {
		return entry{Knob: Knob{Name: name, Kind: KindDuration, Default: def, Min: least, Max: maxDuration, Unit: "ns", Label: label, Doc: doc, Group: groupMeasure}}
	}
	return []entry{
		span("warmup_ns", "Warm-up", "Virtual time before a run measures. 0: automatic, at least five times the p99 latency and 1 ms.", 0, 0),
		span("duration_ns", "Measured interval", "Virtual time that a run measures. 0: automatic, at least 20 mean latencies and 10,000 commits, longer until the 95 % interval is narrow.", 0, 0),
		drainBudget(span("drain_ns", "Drain's budget", "Virtual time that the drain at the end may take until nothing is under way. When it is spent the run ends with its numbers, its checks stay incomplete, and it says what is still under way. 0: automatic, five times as long as the longest request of the measured interval took and as those under way have taken on average, at least 20 ms; 1 s over TCP and with faults.", 0, 0)),
		span("window_ns", "Window", "Length of the windows that the live page and its cards are made of, cut from virtual time 0. The interval of a run comes from spans of 10 us. An automatic span ends with a window, or with a millisecond where windows are longer.", 400_000, 1_000),
		{Knob: Knob{Name: "warm", Kind: KindBool, Default: true, Label: "Warm caches", Section: "4.3.1", Group: groupMeasure,
			Doc: "Fills the location caches before time 0 by the workload's own distribution. Off: they start empty."}},
		{Knob: Knob{Name: "check", Kind: KindChoice, Default: "full", Choices: []string{"full", "sampled", "off"}, Label: "Checks", Group: groupMeasure,
			Doc: "Records what each transaction read and wrote and looks for violations of strict serialisability: of all keys, of a sample of keys, or not at all. Costs no virtual time. A run drains at its end to check the replicas and the tables too, unless it is off."}},
	}
}
