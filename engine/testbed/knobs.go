package testbed

import "drtmx/engine/knob"

// ClusterKnobs are the machines and their threads.
func ClusterKnobs() []knob.Row {
	symmetric := func(v knob.Values) string {
		if Asymmetric(v) {
			return "servers and clients are set"
		}
		return ""
	}
	split := func(v knob.Values) string {
		if !Asymmetric(v) {
			return "every machine is both server and client; set servers and clients to split them"
		}
		return ""
	}
	oracle := func(v knob.Values) string {
		if !v.Bool("oracle") {
			return "there is no machine for an oracle; set oracle=true"
		}
		return ""
	}
	return []knob.Row{
		{Knob: knob.Knob{Name: "nodes", Kind: knob.Int, Default: 4, Min: 2, Max: MaxMachines, Label: "Machines", Section: "4.3", Group: knob.Cluster,
			Doc: "Machines of a symmetric cluster: each holds a partition and runs transactions."}, Inactive: symmetric},
		{Knob: knob.Knob{Name: "servers", Kind: knob.Int, Default: 0, Min: 0, Max: MaxMachines, Label: "Servers", Section: "4.3", Group: knob.Cluster,
			Doc: "Machines that only hold data, in an asymmetric cluster. 0 with clients = 0: symmetric, see nodes."}},
		{Knob: knob.Knob{Name: "clients", Kind: knob.Int, Default: 0, Min: 0, Max: MaxMachines, Label: "Clients", Section: "4.3", Group: knob.Cluster,
			Doc: "Machines that only run transactions, in an asymmetric cluster."}},
		{Knob: knob.Knob{Name: "threads", Kind: knob.Int, Default: 4, Min: 1, Max: 64, Label: "Threads per machine", Section: "2.2.4", Group: knob.Cluster,
			Doc: "Worker threads per machine, each on a core of its own; the thesis runs one per core, 24."}},
		{Knob: knob.Knob{Name: "server.threads", Kind: knob.Int, Default: 0, Min: 0, Max: 64, Label: "Threads per server", Section: "2.2.4", Group: knob.Cluster,
			Doc: "Worker threads of each server of an asymmetric cluster. 0: as threads."}, Inactive: split},
		{Knob: knob.Knob{Name: "client.threads", Kind: knob.Int, Default: 0, Min: 0, Max: 64, Label: "Threads per client", Section: "2.2.4", Group: knob.Cluster,
			Doc: "Worker threads of each client of an asymmetric cluster. 0: as threads."}, Inactive: split},
		{Knob: knob.Knob{Name: "oracle", Kind: knob.Bool, Default: false, Label: "Oracle machine", Section: "5.2.1", Group: knob.Cluster,
			Doc: "One machine more, the last: it holds no data and runs no transactions, and hands out timestamps to a scheme that takes them from one place (gts, vts). Schemes that need none leave it idle, for a comparison on equal clusters."}},
		{Knob: knob.Knob{Name: "oracle.threads", Kind: knob.Int, Default: 0, Min: 0, Max: 64, Label: "Threads of the oracle", Section: "5.5.1", Group: knob.Cluster,
			Doc: "Worker threads of the oracle's machine. 0: as threads."}, Inactive: oracle},
	}
}

// HardwareKnobs are the profile and what it leaves open. Its numbers are found by NumberRow.
func HardwareKnobs(load LoadOf) []knob.Row {
	return []knob.Row{
		{Knob: knob.Knob{Name: "profile", Kind: knob.Choice, Default: "val", Choices: ProfileNames(), Label: "Hardware profile", Section: "2.1", Group: knob.Hardware,
			Doc: "The machines, RNICs and network: every number with unit, meaning and source in `drtmx profiles`. hardware.NUMBER changes one."}},
		{Knob: knob.Knob{Name: "emulated_nodes", Kind: knob.Int, Default: 0, Min: 0, Max: 1024, Label: "Emulated cluster size", Section: "2.2.4", Group: knob.Hardware,
			Doc: "Opens as many RC queue pairs as a cluster of this size needs, to load the RNIC's context cache; 80 in the thesis. 0: the real size."}, Inactive: NoRDMA},
		{Knob: knob.Knob{Name: "nics", Kind: knob.Int, Default: 0, Min: 0, Max: 8, Label: "RNICs per machine", Section: "2.1", Group: knob.Hardware,
			Doc: "How many of a machine's RNICs its threads use. 0: all; each thread uses the RNIC of its socket."}},
		{Knob: knob.Knob{Name: "nic.context", Kind: knob.Choice, Default: "thread", Choices: []string{"thread", "shared"}, Label: "Driver contexts", Section: "2.2.2", Group: knob.Hardware,
			Doc: "thread: each thread opens the RNIC for itself. shared: all threads of a machine use one context per RNIC, whose queue pairs beyond seven share a doorbell buffer and its lock."}, Inactive: NoRDMA},
		{Knob: knob.Knob{Name: "ddio", Kind: knob.Bool, Default: true, Label: "DDIO", Section: "2.3.4", Group: knob.Hardware, Live: true,
			Doc: "Lets the RNIC write into the socket's last-level cache. Off: its writes go to memory."}, Alias: "nvm.ddio"},
		{Knob: knob.Knob{Name: "nvm.enabled", Kind: knob.Bool, Default: true, Label: "Data in NVM", Section: "2.3.3", Group: knob.Hardware, Live: true,
			Doc: "The memory that a micro-benchmark reads and writes is persistent memory. Off: DRAM."}, Inactive: func(v knob.Values) string {
			if !HasNVM(v) {
				return "profile " + v.Text("profile") + " has no NVM"
			}
			if l := load(v); l.Transactions || l.Ordered {
				return "workload " + l.Name + " keeps its data in DRAM"
			}
			return ""
		}},
		{Knob: knob.Knob{Name: "nvm.generation", Kind: knob.Choice, Default: "first", Choices: []string{"first", "next"}, Label: "Generation of the NVM", Section: "2.4", Group: knob.Hardware,
			Doc: "first: Optane as the thesis has it. next: its successor, with 25 % more bandwidth."}, Inactive: func(v knob.Values) string {
			if !HasNVM(v) {
				return "profile " + v.Text("profile") + " has no NVM"
			}
			return ""
		}},
		{Knob: knob.Knob{Name: "nvm.durability", Kind: knob.Bool, Default: false, Label: "Keep what a crash leaves of the NVM", Section: "2.3.2", Group: knob.Hardware,
			Doc: "Tracks for every line of NVM which bytes are in the persistent domain, as fault.crash needs. It takes no virtual time, but makes the simulator a third slower."}, Inactive: func(v knob.Values) string {
			if !HasNVM(v) {
				return "profile " + v.Text("profile") + " has no NVM"
			}
			return ""
		}},
		{Knob: knob.Knob{Name: "torn_reads", Kind: knob.Bool, Default: true, Label: "Torn reads", Section: "4.3.2", Group: knob.Hardware,
			Doc: "Lets a read that overlaps a write see part of it, line by line, as hardware does. Off: accesses are atomic, whatever their size."}},
	}
}
