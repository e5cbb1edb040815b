package cluster

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"drtmx/cluster/web"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Cluster is a Client for notebooks: where a Client returns an error, a Cluster
// fails the cell with its line.
type Cluster struct{ c *Client }

// Up opens a cluster in this process: of a spec that lists several systems the first, with the others in Systems.
// Its virtual time moves only in Run and the like.
func Up(spec Spec) *Cluster {
	c, err := start(spec, "notebook")
	must(err)
	return &Cluster{c}
}

// Attach drives a running agent, as "127.0.0.1:7070". What is set here is a
// mark on its page.
func Attach(addr string) *Cluster {
	c, err := Dial(addr)
	must(err)
	c.by = "notebook"
	return &Cluster{c}
}

// AttachToken is Attach for an agent that wants a token; tokenFile holds it.
func AttachToken(addr, tokenFile string) *Cluster {
	t, err := web.ReadToken(tokenFile)
	must(err)
	c, err := DialToken(addr, t)
	must(err)
	c.by = "notebook"
	return &Cluster{c}
}

// Client is the same cluster with errors returned.
func (c *Cluster) Client() *Client { return c.c }

// Run measures d of virtual time.
func (c *Cluster) Run(d time.Duration) *Result {
	r, err := c.c.Run(d)
	must(err)
	return r
}

// Set changes a knob now.
func (c *Cluster) Set(name string, value any) *Changed {
	ch, err := c.c.Set(name, value)
	must(resettable(err, Knobs{name: value}))
	return ch
}

// SetAll changes knobs now: all of them or none.
func (c *Cluster) SetAll(k Knobs) *Changed {
	ch, err := c.c.SetAll(k)
	must(resettable(err, k))
	return ch
}

// resettable adds to an error of Set the cell that does what was meant: to begin again with the knobs.
func resettable(err error, k Knobs) error {
	if !experiment.NeedsReset(err) {
		return err
	}
	var set []string
	for _, name := range slices.Sorted(maps.Keys(k)) {
		set = append(set, fmt.Sprintf("%q: %#v", name, k[name]))
	}
	return fmt.Errorf("%w: c.Reset(cluster.Knobs{%s}) begins again with it", err, strings.Join(set, ", "))
}

// Spec is what the cluster was opened with, every change applied.
func (c *Cluster) Spec() Spec {
	s, err := c.c.Spec()
	must(err)
	return s
}

// Systems are all that run side by side here, this one included, in the order of their names: those that a spec
// lists, and forks.
func (c *Cluster) Systems() []*Cluster {
	all, err := c.c.Systems()
	must(err)
	var out []*Cluster
	for _, x := range all {
		out = append(out, &Cluster{x})
	}
	return out
}

// Knob is the present value of a knob.
func (c *Cluster) Knob(name string) any {
	for _, k := range c.Knobs() {
		if k.Name == name {
			return k.Value
		}
	}
	must(&experiment.SpecError{Field: name, Rule: "no such knob", Next: "Knobs() lists them"})
	return nil
}

// Knobs is the registry as it stands in this cluster.
func (c *Cluster) Knobs() KnobList {
	ks, err := c.c.Knobs()
	must(err)
	return ks
}

// Windows are the kept windows from a virtual time on.
func (c *Cluster) Windows(from time.Duration) []result.Window {
	ws, err := c.c.Windows(from)
	must(err)
	return ws
}

// NowNS is the virtual time.
func (c *Cluster) NowNS() int64 {
	s, err := c.c.State()
	must(err)
	return s.VirtualNS
}

// Reset begins again at 0 with some knobs changed, live ones or not.
func (c *Cluster) Reset(k Knobs) *Cluster {
	must(c.c.Reset(k))
	return c
}

// Fork is a second cluster that replays this one to now and then differs only
// in k. There may be four systems at once; one that no variable holds any more
// makes room for another.
func (c *Cluster) Fork(k Knobs) *Cluster {
	f, err := c.c.Fork(k)
	must(err)
	return &Cluster{f}
}

// Dashboard serves the page of this very cluster; what is set here is a mark
// there, and the reverse.
func (c *Cluster) Dashboard() *Link {
	l, err := c.c.Dashboard()
	must(err)
	return l
}

// Close ends the cluster, or the fork that it is. A notebook that ends closes all
// of them.
func (c *Cluster) Close() { must(c.c.Close()) }

// Link is where a page is.
type Link struct{ URL string }

func (l *Link) String() string { return "the page is on " + l.URL }

// HTML is a link that opens beside the notebook.
func (l *Link) HTML() string {
	return fmt.Sprintf(`<p>The page of this cluster: <a href="%s" target="_blank" rel="noopener">%s</a></p>`, esc(l.URL), esc(l.URL))
}

// Dashboard serves the page of the cluster, or names where it is.
func (c *Client) Dashboard() (*Link, error) {
	defer runtime.KeepAlive(c)
	u, err := c.d.Page(c.context())
	if err != nil {
		return nil, err
	}
	return &Link{u}, nil
}
