package profile

import (
	"strings"
	"testing"
)

// What the kernel takes of a core grows with lines and segments.
func TestTCPCosts(t *testing.T) {
	p, err := Load("vale")
	if err != nil {
		t.Fatal(err)
	}
	c := p.TCPCosts()
	if c.Send(8) != c.Send(64) || c.Send(8) != c.sendCall || c.Receive(64) != c.receiveCall {
		t.Error("a message of one line costs its call")
	}
	if c.Send(65)-c.Send(64) != c.copyLine || c.Send(1449)-c.Send(1448) != c.sendSegment || c.Receive(1449) != c.Receive(1448) {
		t.Errorf("65 bytes %d ps more than 64, 1449 %d and %d more than 1448; segments are merged before a call receives", c.Send(65)-c.Send(64), c.Send(1449)-c.Send(1448), c.Receive(1449)-c.Receive(1448))
	}
}

// A profile says of RDMA all or nothing.
func TestTCPProfile(t *testing.T) {
	text, err := Text("vale")
	if err != nil {
		t.Fatal(err)
	}
	good := string(text)
	for _, c := range []struct{ name, old, new, has string }{
		{"a number of RNICs", "  tx_gather:", "  tx_read:", `"tx_read"`},
		{"no kernel", good[strings.Index(good, "\ntcp:")+1 : strings.Index(good, "\nnic:")+1], "", `"post_wqe" is missing`},
		{"a call for nothing", "value: 1590,", "value: 0,", "tcp.send_call"},
		{"a look for nothing", "value: 300, unit: ns, kind: assumed,\n      meaning: \"an epoll_wait", "value: 0, unit: ns, kind: assumed,\n      meaning: \"an epoll_wait", "tcp.poll"},
		{"no queue", "value: 8, unit: count, kind: datasheet,\n      meaning: \"receive queues", "value: 0, unit: count, kind: datasheet,\n      meaning: \"receive queues", "tcp.queues"},
		{"huge segments", "value: 1448,", "value: 65000,", "wire.mtu"},
	} {
		bad := strings.Replace(good, c.old, c.new, 1)
		if bad == good {
			t.Errorf("%s: the replacement does not fit the file any more", c.name)
		}
		if _, err := Parse([]byte(bad)); err == nil || !strings.Contains(err.Error(), c.has) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.has)
		}
	}
	p, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	q, seen := p.Clone(), 0
	q.TCP.Poll.Value++
	p.Each(func(name string, n *Number) {
		seen++
		if n.Kind == Fitted {
			t.Errorf("%s is fitted, and there is nothing to fit it to", name)
		}
	})
	if p.TCP.Poll.Value == q.TCP.Poll.Value || seen < 50 {
		t.Errorf("a clone shares its numbers, or some of the %d are not listed", seen)
	}
}
