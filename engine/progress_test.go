package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"drtmx/engine/experiment"
)

// mapped is how many bytes of address space this process has mapped, 0 where nobody says.
func mapped() (n int64) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var from, to int64
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x", &from, &to); err == nil {
			n += to - from
		}
	}
	return n
}

// nothingLeft says how a system that was to be closed can be told from one that was not.
func nothingLeft(t *testing.T, goroutines int, bytes, oneSystem int64) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines are left", n-goroutines)
	}
	if more := mapped() - bytes; more > oneSystem/2 {
		t.Errorf("%d MB of address space are left, a system takes %d", more>>20, oneSystem>>20)
	}
}

// An opening ends at any of the places where it looks at its context, and leaves nothing.
func TestOpenIsCancelled(t *testing.T) {
	for name, spec := range map[string]experiment.Spec{
		"hot":     {Set: experiment.Knobs{"nodes": 4, "threads": 4, "workload.accounts": 100_000}},
		"zipfian": {Set: experiment.Knobs{"nodes": 4, "threads": 4, "workload.accounts": 20_000, "workload.theta": 0.9, "cache.bytes": "1MB"}},
		"tpcc":    {Workload: "tpcc", Set: experiment.Knobs{"nodes": 3, "threads": 2, "workload.scale": 0.01}},
	} {
		t.Run(name, func(t *testing.T) {
			goroutines, bytes := runtime.NumGoroutine(), mapped()
			all := &impatient{context.Background(), math.MaxInt}
			s, err := OpenWith(all, spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			looks, size := math.MaxInt-all.looks, mapped()-bytes
			s.Close()
			nothingLeft(t, goroutines, bytes, size)
			if least := s.cl.Machines() + 3; looks < least {
				t.Errorf("the context was looked at %d times, want at least %d", looks, least)
			}
			for n := 0; n < looks; n += max(1, looks/7) {
				if s, err := OpenWith(&impatient{context.Background(), n}, spec, nil); s != nil || err != context.Canceled {
					t.Errorf("cancelled at look %d: %v", n, err)
				}
			}
			nothingLeft(t, goroutines, bytes, size)
		})
	}
}

// A drain and the checks behind it end at any of the places where they look at their context.
func TestDrainIsCancelled(t *testing.T) {
	goroutines, bytes := runtime.NumGoroutine(), mapped()
	drain := func(looks int) (left int, size int64, digest string, err error) {
		s, oerr := Open(small(nil))
		if oerr != nil {
			t.Fatal(oerr)
		}
		defer s.Close()
		advance(t, s, 100_000)
		ctx := &impatient{context.Background(), looks}
		err = s.DrainWith(ctx, nil)
		if again := s.Drain(); !errors.Is(again, err) {
			t.Errorf("the drain said %v, another %v", err, again)
		}
		if want := map[bool]string{true: StateDrained, false: StateFailed}[err == nil]; s.State() != want || s.Result() == nil {
			t.Errorf("after %v the system is %s, want %s", err, s.State(), want)
		}
		return ctx.looks, mapped() - bytes, s.Digest(), err
	}
	left, size, digest, err := drain(math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	looks := math.MaxInt - left
	if looks < 8 {
		t.Errorf("the context was looked at %d times", looks)
	}
	for n := range looks {
		if _, _, _, err := drain(n); err != context.Canceled {
			t.Errorf("cancelled at look %d of %d: %v", n, looks, err)
		}
	}
	nothingLeft(t, goroutines, bytes, size)
	s := open(t, small(nil))
	advance(t, s, 100_000)
	if err := s.Drain(); err != nil || s.Digest() != digest {
		t.Errorf("a drain that nobody watches: %v, digest %s, watched %s", err, s.Digest(), digest)
	}
}

// What a run does is named in the order in which it does it, and its progress never goes back.
func TestProgressNamesWhatIsDone(t *testing.T) {
	var names []string
	last := 0
	_, err := RunWith(context.Background(), small(nil), func(doing string, done, total int) {
		if done < last || total != ProgressTotal {
			t.Errorf("%s: progress %d of %d after %d", doing, done, total, last)
		}
		last = done
		if len(names) == 0 || names[len(names)-1] != doing {
			names = append(names, doing)
		}
	})
	if err != nil || last != ProgressTotal {
		t.Fatalf("%v at %d", err, last)
	}
	want := "building 0 of 3 machines, building 1 of 3 machines, building 2 of 3 machines, making the tables, warming the caches, " +
		"starting the clients, warming up, measuring, draining, checking, done"
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("a run did %s\nwant %s", got, want)
	}
}

// While an automatic interval grows its progress does too: it does not stand at its end.
func TestProgressOfAnAutomaticInterval(t *testing.T) {
	var shares []int
	texts := map[string]bool{}
	_, err := RunWith(context.Background(), small(experiment.Knobs{"warmup_ns": 0, "duration_ns": 0, "check": "off", "workload.mix.balance": 0, "workload.accounts": 100}), func(doing string, done, _ int) {
		if strings.HasPrefix(doing, "measuring") {
			shares = append(shares, done)
			texts[strings.NewReplacer("0", "", "1", "", "2", "", "3", "", "4", "", "5", "", "6", "", "7", "", "8", "", "9", "", ".", "").Replace(doing)] = true
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !texts["measuring,  of at least  commits"] || !texts["measuring,  of at most  ms"] {
		t.Errorf("told %v", texts)
	}
	stands, longest := 0, 0
	for i := 1; i < len(shares); i++ {
		if stands++; shares[i] > shares[i-1] {
			stands = 0
		}
		longest = max(longest, stands)
	}
	if longest > len(shares)/4 || shares[len(shares)-2] >= measuredShare {
		t.Errorf("progress stood for %d of %d reports: %v", longest, len(shares), shares)
	}
}
