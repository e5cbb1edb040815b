package twopl

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func parties(n int) []*party {
	out := make([]*party, n)
	for i := range out {
		out[i] = &party{id: uint64(i + 1), age: uint64(10 * (i + 1))}
	}
	return out
}

func rulesOf(d Deadlock) waitRule {
	if d == WaitDie {
		return mayWait
	}
	return alwaysWaits
}

// names lists who goes on, by the numbers of their parties.
func names(x *list) (s string) {
	for r := x.pop(); r != nil; r = x.pop() {
		s += fmt.Sprint(r.party.id)
	}
	return s
}

// want asks for a lock and checks what becomes of it.
func want(t *testing.T, l *lock, p *party, m mode, rules waitRule, expect verdict) *request {
	t.Helper()
	r := &request{party: p}
	if v, _ := l.request(r, m, rules); v != expect {
		t.Fatalf("party %d asks for the lock %v: %d, expected %d", p.id, m, v, expect)
	}
	return r
}

func TestFirstComeFirstServed(t *testing.T) {
	l, p, rules := &lock{}, parties(7), rulesOf(Timeout)
	want(t, l, p[0], shared, rules, granted)
	want(t, l, p[1], shared, rules, granted)
	want(t, l, p[2], exclusive, rules, waits)
	want(t, l, p[3], shared, rules, waits) // not past the one who waits
	want(t, l, p[4], shared, rules, waits)
	want(t, l, p[5], exclusive, rules, waits)
	var next list
	for _, step := range []struct {
		of  int
		who string
	}{{0, ""}, {1, "3"}, {2, "45"}, {3, ""}, {4, "6"}, {5, ""}} {
		l.release(p[step.of])
		l.grant(&next)
		if got := names(&next); got != step.who {
			t.Fatalf("after %d has released it, %q get it, expected %q", step.of+1, got, step.who)
		}
	}
	if l.mode != none || l.word() != 0 || len(p[2].held) != 1 {
		t.Errorf("at the end it is held %v, word %#x", l.mode, l.word())
	}
}

func TestUpgrade(t *testing.T) {
	rules := rulesOf(Timeout)
	l, p := &lock{}, parties(4)
	want(t, l, p[0], shared, rules, granted)
	want(t, l, p[1], exclusive, rules, waits)
	want(t, l, p[0], exclusive, rules, granted) // alone, whoever waits
	if l.mode != exclusive || len(p[0].held) != 1 {
		t.Fatalf("held %v, %d times", l.mode, len(p[0].held))
	}

	l = &lock{}
	want(t, l, p[1], shared, rules, granted)
	want(t, l, p[2], shared, rules, granted)
	want(t, l, p[3], exclusive, rules, waits)
	second := want(t, l, p[1], exclusive, rules, waits) // to the front
	if l.queue[0] != second {
		t.Fatal("an upgrade is not in front")
	}
	if v, victim := l.request(&request{party: p[2]}, exclusive, rules); v != refused || victim != nil {
		t.Fatalf("the younger of two upgrades: %d, victim %v", v, victim)
	}
	var next list
	l.release(p[2])
	if l.grant(&next); names(&next) != "2" || l.mode != exclusive {
		t.Fatalf("the upgrade is not granted, held %v", l.mode)
	}
}

func TestOlderUpgradeWins(t *testing.T) {
	l, p, rules := &lock{}, parties(2), rulesOf(Timeout)
	want(t, l, p[0], shared, rules, granted)
	want(t, l, p[1], shared, rules, granted)
	young := want(t, l, p[1], exclusive, rules, waits)
	if v, victim := l.request(&request{party: p[0]}, exclusive, rules); v != waits || victim != young || len(l.queue) != 1 {
		t.Fatalf("the older of two upgrades: %d, victim %v", v, victim)
	}
}

func TestDissolve(t *testing.T) {
	l, p, rules := &lock{}, parties(3), rulesOf(Timeout)
	want(t, l, p[0], exclusive, rules, granted)
	want(t, l, p[1], exclusive, rules, waits)
	want(t, l, p[2], shared, rules, waits)
	var next list
	if l.dissolve(&next); names(&next) != "23" || len(l.queue) != 0 || len(p[1].held) != 0 {
		t.Error("those who wait are not sent away in their order, without the lock")
	}
}

// TestLocksAtRandom: whatever is asked for and released when, holders are compatible, nobody waits who could have the lock,
// and under wait-die nobody waits in a circle.
func TestLocksAtRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.SampledFrom([]Deadlock{Timeout, WaitDie}).Draw(t, "rule")
		rules, p := rulesOf(rule), parties(6)
		locks := make([]*lock, 3)
		for i := range locks {
			locks[i] = &lock{}
		}
		waiting := map[*party]*request{}
		ended := func(r *request) { delete(waiting, r.party) }
		end := func(x *party) { // its attempt aborts or commits
			if r := waiting[x]; r != nil {
				r.at.remove(r)
				ended(r)
			}
			for _, l := range locks {
				var next list
				l.release(x)
				l.grant(&next)
				for r := next.pop(); r != nil; r = next.pop() {
					ended(r)
				}
			}
			x.held = x.held[:0]
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			x := rapid.SampledFrom(p).Draw(t, "party")
			l := rapid.SampledFrom(locks).Draw(t, "lock")
			m := rapid.SampledFrom([]mode{shared, exclusive}).Draw(t, "mode")
			if waiting[x] != nil || rapid.IntRange(0, 5).Draw(t, "ends") == 0 {
				end(x)
			} else {
				r := &request{party: x}
				v, victim := l.request(r, m, rules)
				if victim != nil {
					ended(victim)
					end(victim.party)
				}
				switch v {
				case waits:
					if r.at = l; victim == nil || waiting[x] == nil {
						waiting[x] = r
					}
				case refused:
					end(x)
				}
			}
			for _, l := range locks {
				checkLock(t, l)
			}
			if rule == WaitDie {
				noCircle(t, p, waiting)
			}
		}
	})
}

func checkLock(t *rapid.T, l *lock) {
	if l.mode == exclusive && len(l.holders) != 1 || (l.mode == none) != (len(l.holders) == 0) {
		t.Fatalf("held %v by %d", l.mode, len(l.holders))
	}
	if l.mode == none && len(l.queue) > 0 {
		t.Fatalf("%d wait for a lock that is free", len(l.queue))
	}
	for i, r := range l.queue {
		if r.upgrades && (i > 0 || len(l.holders) == 1 || !l.holds(r.party)) {
			t.Fatalf("an upgrade is number %d of the queue, there are %d holders", i, len(l.holders))
		}
		if i == 0 && !r.upgrades && compatible(l, r.want) {
			t.Fatal("who is first in the queue could have the lock")
		}
	}
}

// noCircle follows who waits for whom.
func noCircle(t *rapid.T, all []*party, waiting map[*party]*request) {
	for _, from := range all {
		seen := map[*party]bool{}
		var follow func(x *party)
		follow = func(x *party) {
			r := waiting[x]
			if r == nil || seen[x] {
				return
			}
			seen[x] = true
			for _, h := range r.at.holders {
				if h == from && h != x {
					t.Fatalf("party %d waits for itself", from.id)
				}
				if h != x {
					follow(h)
				}
			}
			for _, q := range r.at.queue {
				if q == r {
					break
				}
				if q.want == exclusive || r.want == exclusive {
					if q.party == from {
						t.Fatalf("party %d waits for itself", from.id)
					}
					follow(q.party)
				}
			}
		}
		follow(from)
	}
}
