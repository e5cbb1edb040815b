package diagram

import "strconv"

// milestones follow a request on its way: sender, network, receiver, and back to the coroutine.
var milestones = []struct{ id, colour, words string }{
	{"post", "#56B4E9", "being posted"},
	{"doorbell", "#0072B2", "doorbell and fetch of the request"},
	{"nic_send", "#E69F00", "send pipeline"},
	{"wire", "#999999", "wire and switch"},
	{"nic_receive", "#D55E00", "receive pipeline"},
	{"pcie", "#CC79A7", "PCIe"},
	{"memory", "#009E73", "memory"},
	{"handler_queue", "#F0E442", "waiting for the handler's thread"},
	{"handler", "#7A5195", "handler"},
	{"completion", "#8C6D31", "completion"},
	{"poll", "#BBBBBB", "waiting to be polled"},
	{"compute", "#3D7A8C", "its own computing"},
	{"asleep", "#E8E4DC", "asleep or waiting on purpose"},
}

func milestoneColour(id string) string {
	for _, m := range milestones {
		if m.id == id {
			return m.colour
		}
	}
	return "#444444"
}

func milestoneWords(id string) string {
	for _, m := range milestones {
		if m.id == id {
			return m.words
		}
	}
	return id
}

// phases are told apart by the colour-blind.
var phases = []struct{ id, colour, words string }{
	{"execution", "#0072B2", "execution"}, {"lock", "#D55E00", "lock"}, {"validation", "#E69F00", "validation"}, {"logging", "#009E73", "logging"},
	{"commit", "#CC79A7", "commit"}, {"ro_read", "#56B4E9", "read-only read"}, {"ro_validation", "#F0E442", "read-only validation"},
	{"reclaim", "#8C6D31", "log reclaim"}, {"backoff", "#7F7F7F", "back-off"}, {"other", "#B8B8B8", "other"},
}

func phaseColour(id string) string {
	for _, p := range phases {
		if p.id == id {
			return p.colour
		}
	}
	return "#B8B8B8"
}

func phaseName(id string) string {
	for _, p := range phases {
		if p.id == id {
			return p.words
		}
	}
	return id
}

// inkOn is black or white, whichever can be read on a colour.
func inkOn(colour string) string {
	n, _ := strconv.ParseUint(colour[1:], 16, 32)
	if 299*(n>>16&255)+587*(n>>8&255)+114*(n&255) > 128_000 {
		return "#111111"
	}
	return "#ffffff"
}
