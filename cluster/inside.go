package cluster

import (
	"fmt"

	"drtmx/dashboard/charts"
	"drtmx/dashboard/charts/diagram"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Node is the inside of a machine while a result was measured, or of several beside each other. As
// last value of a cell it draws itself.
type Node struct {
	Raw   []result.NodeInside
	names []string
}

// Node is the inside of a machine while this was measured: its cores, RNICs, PCIe, LLC and memory,
// with what went through them and what was saturated.
func (r *Result) Node(i int) *Node {
	n, err := r.node(i)
	must(err)
	return n
}

func (r *Result) node(i int) (*Node, error) {
	switch {
	case len(r.Raw.Inside) == 0:
		return nil, fmt.Errorf("this result does not say what went on inside the machines: only what Run returns does")
	case i < 0 || i >= len(r.Raw.Inside):
		return nil, &experiment.SpecError{Field: "node", Value: fmt.Sprint(i), Rule: fmt.Sprintf("must be from 0 to %d", len(r.Raw.Inside)-1), Next: "there is one for each machine"}
	}
	return &Node{Raw: r.Raw.Inside[i : i+1], names: []string{fmt.Sprintf("Node %d", i)}}, nil
}

// Beside puts another machine to the right, with flows on the same scale; it may be of another run.
func (n *Node) Beside(o *Node) *Node {
	return &Node{Raw: append(append([]result.NodeInside(nil), n.Raw...), o.Raw...), names: append(append([]string(nil), n.names...), o.names...)}
}

// drawings has the machines, all on one scale.
func (n *Node) drawings() (out []string) {
	var all []*result.NodeInside
	for i := range n.Raw {
		all = append(all, &n.Raw[i])
	}
	for i, x := range all {
		title := n.names[i]
		if len(all) > 1 {
			title = fmt.Sprintf("%c: %s", 'A'+i, title)
		}
		out = append(out, diagram.Node(x, diagram.NodeOptions{Title: title, Widest: diagram.Widest(all...)}))
	}
	return out
}

// SVG is the first machine.
func (n *Node) SVG() string { return n.drawings()[0] }

// HTML draws the machines beside each other.
func (n *Node) HTML() string {
	out := `<div style="display:flex;flex-wrap:wrap;gap:12px">`
	for i, svg := range n.drawings() {
		out += charts.New("the inside of "+n.names[i], nil, svg).HTML()
	}
	return out + "</div>"
}

// String says how busy the parts were.
func (n *Node) String() string {
	s := ""
	for i := range n.Raw {
		if i > 0 {
			s += "\n"
		}
		s += n.names[i] + ": " + diagram.Saturated(&n.Raw[i])
	}
	return s
}
