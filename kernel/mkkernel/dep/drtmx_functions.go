//go:build drtmxkernel

package dep

// breakFunctions takes functions that call each other apart: their names are declared before their bodies, so that any of them may
// come first. What uses one of them waits for all. It is false where nothing was to be taken apart.
func (g *graph) breakFunctions() bool {
	broken := false
	for name := range g.Nodes {
		circle := g.circle(name, g.isFunction)
		if len(circle) < 2 || !g.isFunction(name) {
			continue
		}
		broken = true
		for user, uses := range g.Edges {
			_, inside := circle[user]
			waits := false
			for other := range circle {
				_, ok := uses[other]
				waits = waits || ok
			}
			for other := range circle {
				if inside {
					delete(uses, other)
				} else if waits {
					uses[other] = void{}
				}
			}
		}
	}
	return broken || g.breakVariables()
}

// breakVariables lets functions come before a variable that needs them, though they have its name in their bodies: that is one of their own
// variables, or an error in Go, too.
func (g *graph) breakVariables() bool {
	broken := false
	for name := range g.Nodes {
		if !g.isFunction(name) {
			continue
		}
		for other := range g.circle(name, func(string) bool { return true }) {
			if _, ok := g.Edges[name][other]; ok && !g.isFunction(other) {
				delete(g.Edges[name], other)
				broken = true
			}
		}
	}
	return broken
}

// circle is what a declaration needs, directly or not, that needs it, too, going through those that may be gone through.
func (g *graph) circle(name string, through func(string) bool) set {
	found := set{}
	for other := range g.reach(name, through) {
		if _, back := g.reach(other, through)[name]; back {
			found[other] = void{}
		}
	}
	return found
}

// reach is what a declaration needs, directly or not, itself included.
func (g *graph) reach(name string, through func(string) bool) set {
	found := set{name: void{}}
	for queue := []string{name}; len(queue) > 0; queue = queue[1:] {
		for next := range g.Edges[queue[0]] {
			if _, ok := found[next]; !ok && through(next) {
				found[next] = void{}
				queue = append(queue, next)
			}
		}
	}
	return found
}

func (g *graph) isFunction(name string) bool {
	for _, d := range g.Nodes[name] {
		if d.Kind != Func {
			return false
		}
	}
	return len(g.Nodes[name]) > 0
}
