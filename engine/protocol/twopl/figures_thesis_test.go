package twopl

import (
	"os"
	"strings"
	"testing"
)

// What the worked examples of chapter 5 say, by section. TestScripts holds the scripts against what the protocol does; this holds them against
// the numbers of the figures, so that -update cannot change those.
func TestFiguresOfChapter5(t *testing.T) {
	for _, f := range []struct {
		section, file string
		want          []string // in this order: commands, and lines of what they say
	}{
		{"5.1.2, GTS", "figure-5-3", []string{
			"stamp tx1", "tx1: 4", "tx2: committed", "stamp tx2", "tx2: 5", // TX2 has the larger number and commits first
			"oracle", "GlobalTS=5 StableGTS=3", "point tx4", "tx4: reads at 3",
			"read tx4 1", "tx4: 10", "read tx4 2", "tx4: 7", "read tx4 3", "tx4: 30", // neither TX1 nor TX2
			"await tx1", "tx1: committed", "GlobalTS=5 StableGTS=5", "tx5: reads at 5", "tx5: 8", "tx5: 5",
		}},
		{"5.1.2, VTS", "figure-5-5", []string{
			"oracle", "StableVTS=(3,2,5)", "version <1:2>", // of C
			"tx1: <1:4>", "tx2: <2:3>", "tx3: committed", "tx3: <3:6>",
			"oracle", "StableVTS=(3,2,5)", "tx4: reads at (3,2,5)", "tx4: 10", "tx4: 1", "tx4: 30", // the whole vector, and nothing newer
			"await tx2", "StableVTS=(3,3,6)", "tx5: reads at (3,3,6)", "tx5: 8", "tx5: 6", "tx5: 30",
			"await tx1", "StableVTS=(4,3,6)",
		}},
		{"5.2.1, 5.2.2, DST", "figure-5-8", []string{
			"tuple 4 version 4 value 5", // TX1: A = 5 at 4
			"read tx4 3 &", "tx4: waits", "tx3: committed", "await tx4", "tx4: 3", "tx4: 2",
			"tuple 7 version 5 value 2", "tuple 7 version 5 value 3", // TX3 has 5, and A.ts stays at TX4's 7
		}},
		{"5.2.3, Lemma 1 through a transaction that writes nothing", "reads-only", []string{
			"commit t1", "tuple 6553601 version 0 value 10", // beyond the stamp of what T1 has read
			"commit t2", "version 6553602 value 8", "ro: reads at 3276800", "ro: 10", "ro: 30",
		}},
	} {
		text, err := os.ReadFile("testdata/" + f.file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		left := string(text)
		for _, want := range f.want {
			_, after, ok := strings.Cut(left, want)
			if !ok {
				t.Errorf("%s (%s): %q does not follow", f.file, f.section, want)
				break
			}
			left = after
		}
	}
}
