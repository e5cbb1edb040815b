package batch

import (
	"fmt"
	"slices"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/knob"
	"drtmx/engine/testbed"
)

// speedup is what one experiment of MeasureCauses makes faster: a group, a member of one, or everything.
type speedup struct {
	what     string // for people
	name     string // of the number or cost; of a group its id
	group    string // id of its group
	overlaps bool   // with other groups: the sum leaves it out
	members  []member
}

// member is one number of the profile, or one cost in code.
type member struct {
	name, what string
	number     bool
}

// The groups, by the floor that their costs belong to.
const (
	groupTransaction = "transaction"
	groupMessaging   = "messaging"
	groupMemory      = "memory"
	groupNIC         = "nic"
	groupPCIe        = "pcie"
	groupWire        = "wire"
	groupNVM         = "nvm"
	groupTCP         = "tcp"
	groupWaits       = "waits"
	groupLocks       = "locks"
	everything       = "everything"
)

// causeGroups are all groups in the order in which they are measured.
var causeGroups = []struct{ id, what string }{
	{groupTransaction, "CPU: transaction code"},
	{groupMessaging, "CPU: posting, polling, RPC dispatch"},
	{groupMemory, "memory: LLC, DRAM, TLB"},
	{groupNIC, "NIC"},
	{groupPCIe, "PCIe"},
	{groupWire, "wire: link and switch"},
	{groupNVM, "NVM"},
	{groupTCP, "kernel TCP"},
	{groupWaits, "back-off and timers"},
	{groupLocks, "time while locks are held"},
}

// CauseGroups are the ids of the groups that a cause may belong to.
func CauseGroups() []string {
	var ids []string
	for _, g := range causeGroups {
		ids = append(ids, g.id)
	}
	return ids
}

// groupOfNumber is the group of a number of the profile; "" for counts and sizes, and for a core's
// clock, which scales what the costs in code scale.
func groupOfNumber(name string, n *profile.Number) string {
	if n.Unit != "ns" && n.Unit != "GB/s" || n.Value == 0 || testbed.Unread(name) != "" {
		return ""
	}
	section, _, _ := strings.Cut(name, ".")
	switch section {
	case "cpu":
		return groupMessaging
	case "memory", "node_types":
		return groupMemory
	}
	return section
}

// causeParts are the experiments for a spec: its groups, or the members of one group.
func causeParts(p *profile.Profile, v experiment.Knobs, group string) ([]speedup, error) {
	by := map[string][]member{}
	used := testbed.NodeTypes(p, v)
	p.Each(func(name string, n *profile.Number) {
		if rest, ok := strings.CutPrefix(name, "node_types."); ok && !slices.Contains(used, rest[:strings.LastIndexByte(rest, '.')]) {
			return
		}
		if g := groupOfNumber(name, n); g != "" {
			by[g] = append(by[g], member{name: name, what: name + ": " + n.Meaning, number: true})
		}
	})
	if !testbed.HasNVM(v) {
		delete(by, groupNVM)
	}
	if experiment.Workloads.Of(v).Transactions {
		for _, cost := range experiment.Protocols.Of(v).Costs() {
			g := groupTransaction
			switch {
			case cost.Wait:
				g = groupWaits
			case cost.Held:
				g = groupLocks
			}
			by[g] = append(by[g], member{name: cost.Name, what: cost.What})
		}
	}
	by[groupWaits] = append(by[groupWaits], member{name: experiment.CostReceipts, what: "timer of receipts and repetitions"})
	return chooseParts(by, group)
}

func chooseParts(by map[string][]member, group string) ([]speedup, error) {
	var all speedup
	var groups, members []speedup
	for _, g := range causeGroups {
		if len(by[g.id]) == 0 {
			continue
		}
		x := speedup{what: g.what, name: g.id, group: g.id, overlaps: g.id == groupLocks, members: by[g.id]}
		groups = append(groups, x)
		if !x.overlaps {
			all.members = append(all.members, x.members...)
		}
		if g.id == group {
			for _, m := range x.members {
				members = append(members, speedup{what: m.what, name: m.name, group: g.id, overlaps: x.overlaps, members: []member{m}})
			}
		}
	}
	all.what, all.name, all.group, all.overlaps = "everything at once", everything, everything, true
	switch {
	case group == "":
		return append([]speedup{all}, groups...), nil
	case members == nil:
		var ids []string
		for _, g := range groups {
			ids = append(ids, g.group)
		}
		return nil, &experiment.SpecError{Field: "group", Value: knob.Clip(group), Rule: "this system has no such group of causes" + knob.DidYouMean(group, ids), Next: "its groups are " + strings.Join(ids, ", ")}
	}
	for _, g := range groups {
		if g.group == group { // the group beside its members
			members = append([]speedup{g}, members...)
		}
	}
	return members, nil
}

// factor is by how much the part's durations change. Locks cannot be held for shorter than the work
// takes that is done meanwhile, but for longer.
func (p *speedup) factor() float64 {
	if p.group == groupLocks {
		return 1 / faster
	}
	return faster
}

// scaling is what changes the part.
func (p *speedup) scaling() *experiment.Scaling {
	x := &experiment.Scaling{Factor: p.factor(), Numbers: map[string]bool{}, Costs: map[string]bool{}}
	for _, m := range p.members {
		if m.number {
			x.Numbers[m.name] = true
		} else {
			x.Costs[m.name] = true
		}
	}
	return x
}

func (p *speedup) String() string { return fmt.Sprintf("%s (%s)", p.what, p.group) }
