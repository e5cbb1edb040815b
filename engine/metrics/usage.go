package metrics

import "slices"

// Resource names, in the order in which ties are broken and lists are printed.
// Names that are not here come after them, in order of first appearance.
const (
	CPU       = "cpu"
	NICTx     = "nic_tx"
	NICRx     = "nic_rx"
	NICAtomic = "nic_atomic"
	Link      = "link"
	PCIeBus   = "pcie"
	MemoryBus = "memory"
)

var resourceOrder = [...]string{CPU, NICTx, NICRx, NICAtomic, Link, PCIeBus, MemoryBus}

// Usage is how long one unit of a resource has been busy since time 0. A unit is
// what saturates by itself: one NIC's pipeline, one direction of a link. Servers
// that share a queue are one unit with Servers > 1, and BusyPS is their sum.
type Usage struct {
	Node     int
	Resource string
	Index    int // which of the node's units of that resource
	BusyPS   int64
	Servers  int // 0 means 1
}

// ResourceUse is the utilisation of one resource over the cluster.
type ResourceUse struct {
	Resource string  `json:"resource"`
	Mean     float64 `json:"mean"` // over all servers of all nodes
	Max      float64 `json:"max"`  // of the busiest unit
}

// NodeUse is the utilisation of one resource on one node.
type NodeUse struct {
	Node     int     `json:"node"`
	Resource string  `json:"resource"`
	Mean     float64 `json:"mean"`
	Max      float64 `json:"max"`
}

// Saturated is the share of time from which on a unit that is busy limits something:
// below, more load finds room. Chosen.
const Saturated = 0.85

// labels are the names of resources in sentences.
var labels = map[string]string{
	"cpu": "CPU", "nic_tx": "NIC send", "nic_rx": "NIC receive", "nic_atomic": "NIC atomics", "nic_context": "NIC contexts",
	"softirq": "softirq cores", "pcie": "PCIe", "nvm_read": "NVM read", "nvm_write": "NVM write",
}

// Label is the name of a resource in sentences, such as "NIC send" of "nic_tx".
func Label(resource string) string {
	if l, ok := labels[resource]; ok {
		return l
	}
	return resource
}

// Limit is the unit that is closest to saturation.
type Limit struct {
	Resource    string  `json:"resource"`
	Node        int     `json:"node"`
	Index       int     `json:"index"`
	Utilization float64 `json:"utilization"`
}

// Utilization is how busy everything was over a span of time.
type Utilization struct {
	Resources  []ResourceUse // in resource order
	Nodes      []NodeUse     // by node, then in resource order
	Bottleneck Limit         // Resource is "" when there is nothing to name
}

// Utilize compares two snapshots dt ps apart. Before may be nil (time 0); units
// that are missing in it count from 0. Values are not clamped: a station that
// charges its service when it accepts a request may show slightly more than 1.
func Utilize(before, after []Usage, dt int64) Utilization {
	var u Utilization
	if dt <= 0 {
		return u
	}
	units := spans(before, after)
	names := resourceNames(after)
	for _, name := range names {
		if m, ok := meter(units, func(x *Usage) bool { return x.Resource == name }, dt); ok {
			u.Resources = append(u.Resources, ResourceUse{name, m.mean(dt), m.max})
			if m.max > u.Bottleneck.Utilization {
				u.Bottleneck = Limit{name, m.at.Node, m.at.Index, m.max}
			}
		}
	}
	nodes := make([]int, 0, len(after))
	for i := range after {
		nodes = append(nodes, after[i].Node)
	}
	slices.Sort(nodes)
	for _, n := range slices.Compact(nodes) {
		for _, name := range names {
			m, ok := meter(units, func(x *Usage) bool { return x.Node == n && x.Resource == name }, dt)
			if ok {
				u.Nodes = append(u.Nodes, NodeUse{n, name, m.mean(dt), m.max})
			}
		}
	}
	return u
}

// spans is after minus before, sorted by node and index.
func spans(before, after []Usage) []Usage {
	out := slices.Clone(after)
	same := func(a, b *Usage) bool {
		return a.Node == b.Node && a.Resource == b.Resource && a.Index == b.Index
	}
	for i := range out {
		u := &out[i]
		if u.Servers == 0 {
			u.Servers = 1
		}
		// Snapshots of one fabric list their units in one order.
		if i < len(before) && same(u, &before[i]) {
			u.BusyPS -= before[i].BusyPS
			continue
		}
		for j := range before {
			if same(u, &before[j]) {
				u.BusyPS -= before[j].BusyPS
				break
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Usage) int {
		if a.Node != b.Node {
			return a.Node - b.Node
		}
		return a.Index - b.Index
	})
	return out
}

func resourceNames(units []Usage) []string {
	names := make([]string, 0, len(resourceOrder))
	for _, name := range resourceOrder {
		if slices.ContainsFunc(units, func(u Usage) bool { return u.Resource == name }) {
			names = append(names, name)
		}
	}
	for i := range units {
		if !slices.Contains(names, units[i].Resource) {
			names = append(names, units[i].Resource)
		}
	}
	return names
}

type reading struct {
	busy, servers int64
	max           float64
	at            *Usage
}

func (r *reading) mean(dt int64) float64 {
	return float64(r.busy) / float64(dt) / float64(r.servers)
}

func meter(units []Usage, want func(*Usage) bool, dt int64) (r reading, ok bool) {
	for i := range units {
		u := &units[i]
		if !want(u) {
			continue
		}
		r.busy += u.BusyPS
		r.servers += int64(u.Servers)
		share := float64(u.BusyPS) / float64(dt) / float64(u.Servers)
		if r.at == nil || share > r.max {
			r.max, r.at = share, u
		}
	}
	return r, r.at != nil
}
