package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// shareSize is about how many trials a share has.
const shareSize = 8

func main() {
	only := flag.String("only", "", "plant these bugs, names with commas between them")
	share := flag.String("share", "", "plant the share of the bugs that this text chooses, such as a commit")
	list := flag.Bool("list", false, "print the bugs and plant none")
	verbose := flag.Bool("v", false, "say of each bug which test catches it")
	build := flag.String("build", "", "only build the tests of these packages, ./engine/kv,./engine/explore, into the folder -dir")
	dir := flag.String("dir", "", "where what is built stays; empty: it is removed")
	flag.Parse()
	if err := plantAll(choice{*only, *share}, *list, *verbose, *build, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "planted:", err)
		os.Exit(1)
	}
}

// choice is which bugs are planted; all without.
type choice struct{ only, share string }

// of is what is chosen, and what the score says of it.
func (x choice) of(bugs []Bug) (trials []Trial, said string, err error) {
	all := trialsOf(bugs)
	switch {
	case x.only != "":
		bugs, err = named(bugs, strings.Split(x.only, ","))
		return trialsOf(bugs), fmt.Sprintf("of %d", len(all)), err
	case x.share != "":
		k, n := shareOf(x.share, len(all))
		return shareAt(all, k, n), fmt.Sprintf("of %d, share %d of %d by %q", len(all), k+1, n, x.share), nil
	}
	return all, fmt.Sprintf("all tests of %d bugs", len(bugs)), nil
}

func plantAll(x choice, list, verbose bool, build, dir string) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	all, err := readLists(filepath.Join(root, "engine/planted/testdata"))
	if err != nil {
		return err
	}
	trials, said, err := x.of(all)
	if err != nil {
		return err
	}
	if list {
		for _, t := range trials {
			fmt.Printf("%s\n  %s\n  caught by %v\n", t.Bug.Name, t.Says, t.Test)
		}
		return nil
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "drtmx-planted-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	p := &plantation{root: root, dir: dir, out: os.Stdout, verbose: verbose}
	if build != "" {
		return p.only(trials, strings.Split(build, ","))
	}
	caught, err := p.score(trials)
	if err != nil {
		return err
	}
	fmt.Printf("planted: %d of %d caught (%s), %.0f s of CPU\n", caught, len(trials), said, p.cpu.Round(time.Second).Seconds())
	if caught < len(trials) {
		return fmt.Errorf("%d not caught", len(trials)-caught)
	}
	return nil
}

// moduleRoot is the folder of go.mod.
func moduleRoot() (string, error) {
	text, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(text))), nil
}

// named picks bugs.
func named(all []Bug, names []string) (list []Bug, err error) {
	for _, name := range names {
		i := slices.IndexFunc(all, func(b Bug) bool { return b.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no bug %q; see -list", name)
		}
		list = append(list, all[i])
	}
	return list, nil
}

// shareOf is which of n shares a text chooses.
func shareOf(text string, trials int) (k, n int) {
	n = max((trials+shareSize-1)/shareSize, 1)
	h := fnv.New32a()
	h.Write([]byte(text))
	return int(h.Sum32() % uint32(n)), n
}

// shareAt is one of n shares. Neighbours, which are caught by the tests of one package, are in one share.
func shareAt(all []Trial, k, n int) []Trial { return all[k*len(all)/n : (k+1)*len(all)/n] }
