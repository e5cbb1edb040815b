package card

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"drtmx/cluster/session"
	"drtmx/dashboard/windows"
)

// remembering is p50 and throughput of windows of which so much is what the one before had.
func remembering(seed uint64, memory float64, levels ...level) []windows.Moment {
	ms, r, x := sampled(seed, levels...), rand.New(rand.NewPCG(seed, 2)), 0.0
	for i := range ms {
		x = memory*x + math.Sqrt(1-memory*memory)*r.NormFloat64()
		l := levels[ms[i].Version-1]
		ms[i].Throughput, ms[i].P50 = l.throughput*(1-0.02*x), l.p50*(1+0.02*x)
	}
	return ms
}

// p50 34.1 and 32.2 after 400 and 281 windows differ, and DDIO's 100 and 95.4 M: that neighbouring windows
// are alike makes the interval wider and takes no verdict back, at whatever moment one looks.
func TestCardsSeeWhatTheEyeSees(t *testing.T) {
	was := level{windows: 401, throughput: 100e6, p50: 34.1, limit: "cpu"}
	is := level{windows: 281, throughput: 95.4e6, p50: 32.2, limit: "cpu"}
	for _, memory := range []float64{0, 0.5, 0.8, 0.9} {
		lost := 0
		const tries = 40
		for seed := range uint64(tries) {
			ms := remembering(seed, memory, was, is)
			for name, want := range map[string]string{"throughput": "worse", "p50": "better"} { // order-free: the rows are independent
				r := row(t, OfChanges("a", "e", ms, []session.Event{change(ms, 2)})[0], name)
				if r.Verdict != want {
					lost++
				}
			}
		}
		if lost > 2*tries*10/100 {
			t.Errorf("memory %v: %d of %d rows say nothing of what is plain to see", memory, lost, 2*tries)
		}
	}
}

// A verdict does not come and go: who looks at every window sees it come once.
func TestVerdictsStay(t *testing.T) {
	flips, told := 0, 0
	for seed := range uint64(20) {
		ms := remembering(seed, 0.7, level{windows: 401, throughput: 100e6, p50: 34.1}, level{windows: 300, throughput: 98.5e6, p50: 33.6})
		event := change(ms, 2)
		was := ""
		for n := 401 + 4*Least; n < len(ms); n += 13 {
			r := row(t, OfChanges("a", "e", ms[:n], []session.Event{event})[0], "throughput")
			if was == "worse" && r.Verdict != was {
				flips++
			}
			if was = r.Verdict; r.Verdict == "worse" && r.High >= 0 {
				t.Fatalf("worse, and the interval has zero in it: %+v", r)
			}
		}
		if was == "worse" {
			told++
		}
	}
	if flips > 0 || told < 5 {
		t.Errorf("%d verdicts went again; of 20 small differences %d were told in the end", flips, told)
	}
}

// Between two looks, at each doubling of the windows, nothing of a card moves, and it says when the next is.
func TestCardsLookAtEachDoubling(t *testing.T) {
	ms := sampled(3, before, level{windows: 200, throughput: 7e6, p50: 15})
	event := change(ms, 2)
	seen := map[int]int{}
	var at64 string
	for n := before.windows + 64; n <= len(ms); n++ {
		c := OfChanges("a", "e", ms[:n], []session.Event{event})[0]
		seen[c.After.Windows]++
		if c.NextLook != 2*c.After.Windows {
			t.Errorf("%d windows, next look at %d", c.After.Windows, c.NextLook)
		}
		if c.After.Windows == 64 {
			if at64 != "" && at64 != fmt.Sprintf("%+v", c.Rows) {
				t.Error("a row moved between two looks")
			}
			at64 = fmt.Sprintf("%+v", c.Rows)
		}
	}
	if len(seen) != 2 || seen[64] < 60 || seen[128] < 60 {
		t.Errorf("looks at %v", seen)
	}
}

// A difference that the eye sees and chance may make: the card says how many windows would tell, and
// they do. Where what is before the change is too short, or the change has ended, only a ghost has them.
func TestCardSaysWhatLengthWouldTell(t *testing.T) {
	told, offered := 0, 0
	for seed := range uint64(40) {
		ms := remembering(seed, 0.6, level{windows: 401, throughput: 100e6, p50: 34}, level{windows: 3000, throughput: 97e6, p50: 34})
		event := change(ms, 2)
		c := OfChanges("a", "e", ms[:401+32], []session.Event{event})[0]
		r := row(t, c, "throughput")
		if r.Verdict != "same" || r.Needs == 0 {
			continue
		}
		offered++
		if n := c.Needs; n.Ghost != (n.Windows > 400) || !n.Ghost && n.MoreNS != int64(n.Windows-c.After.Windows)*spanNS {
			t.Errorf("%+v", n)
		}
		c = OfChanges("a", "e", ms[:401+min(2*r.Needs, 3000)], []session.Event{event})[0]
		if r := row(t, c, "throughput"); r.Verdict == "worse" {
			told++
		}
	}
	if offered < 5 || told < offered*8/10 {
		t.Errorf("of %d offers %d told", offered, told)
	}
	short := before
	short.windows = 30
	ms := remembering(9, 0.6, short, level{windows: 40, throughput: 0.985 * before.throughput, p50: 15}, short)
	for _, c := range OfChanges("a", "e", ms, []session.Event{change(ms, 2), change(ms, 3)}) {
		if c.Final && c.Needs != nil && !c.Needs.Ghost {
			t.Errorf("a change that has ended gets no more windows: %+v", c.Needs)
		}
		if strings.Contains(c.Sentence, "independent") {
			t.Error(c.Sentence)
		}
	}
}

// A card whose windows are all there is not made again, and one that is not is.
func TestKeptCards(t *testing.T) {
	ms := sampled(4, before, before, before)
	events := []session.Event{change(ms, 2), change(ms, 3)}
	var k Kept
	whole := k.OfChanges("a", "e", ms, events)
	ms[0].Throughput, ms[2*before.windows-9].Throughput = 1e3, 1e3 // a card that is made again would see it
	again := k.OfChanges("a", "e", ms, events)
	if fmt.Sprint(again[1].Rows) != fmt.Sprint(whole[1].Rows) || len(whole[1].Rows) == 0 {
		t.Error("the card of the first change was made again")
	}
	if fmt.Sprint(again[0].Rows) == fmt.Sprint(whole[0].Rows) {
		t.Error("the card of the latest change was not made again")
	}
	if other := k.OfChanges("a", "e2", ms, events); fmt.Sprint(other[1].Rows) == fmt.Sprint(whole[1].Rows) {
		t.Error("another life of the system has the cards of the one before")
	}
}
