package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// measured is what one test binary took.
type measured struct {
	Folder       string
	User, System time.Duration
	Yardstick    time.Duration
}

func (m measured) cpu() time.Duration { return m.User + m.System }

// write leaves a file of its own in a folder, as test binaries run side by side.
func (m measured) write(folder string) error {
	f, err := os.CreateTemp(folder, "*.json")
	if err != nil {
		return err
	}
	if err := json.NewEncoder(f).Encode(m); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func readMeasured(folder string) (list []measured, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var m measured
		if err := json.Unmarshal(text, &m); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, m)
	}
	return list, nil
}

// budgets are CPU seconds of packages, by their path in the module.
type budgets struct {
	yardstick time.Duration // on the machine that the budgets were written on
	rest      float64       // of a package that is not listed
	of        map[string]float64
}

// parseBudgets reads lines of a name and a number: "yardstick" in milliseconds, "default" and packages in seconds. A # begins
// a comment.
func parseBudgets(text string) (*budgets, error) {
	b := &budgets{of: map[string]float64{}}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) != 2 {
			return nil, fmt.Errorf("line %d: %q is not a name and a number", i+1, strings.TrimSpace(line))
		}
		n, err := strconv.ParseFloat(words[1], 64)
		if err != nil || !(n > 0) {
			return nil, fmt.Errorf("line %d: %s is not a positive number", i+1, words[1])
		}
		_, again := b.of[words[0]]
		switch name := words[0]; {
		case name == "yardstick" && b.yardstick == 0:
			b.yardstick = time.Duration(n * float64(time.Millisecond))
		case name == "default" && b.rest == 0:
			b.rest = n
		case again || name == "yardstick" || name == "default":
			return nil, fmt.Errorf("line %d: a second line for %s", i+1, name)
		default:
			b.of[name] = n
		}
	}
	if b.yardstick == 0 || b.rest == 0 {
		return nil, fmt.Errorf("a line is missing: yardstick and default are required")
	}
	return b, nil
}

// scale is how much longer the yardstick takes here than where the budgets were written.
func (b *budgets) scale(list []measured) float64 {
	if len(list) == 0 {
		return 1
	}
	sticks := make([]time.Duration, len(list))
	for i, m := range list {
		sticks[i] = m.Yardstick
	}
	slices.Sort(sticks)
	if median := sticks[len(sticks)/2]; median > 0 {
		return float64(median) / float64(b.yardstick)
	}
	return 1 // a clock that is too coarse
}

// print writes the table, the longest first, and returns the packages that took more than twice their budget.
func (b *budgets) print(w io.Writer, list []measured) (over []string) {
	slices.SortFunc(list, func(x, y measured) int { return cmp.Or(cmp.Compare(y.cpu(), x.cpu()), cmp.Compare(x.Folder, y.Folder)) })
	root, scale := rootOf(list), b.scale(list)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "user s\tsystem s\tscaled s\tbudget s\t package")
	var sum measured
	for _, m := range list {
		name := strings.TrimPrefix(strings.TrimPrefix(filepath.ToSlash(m.Folder), root), "/")
		if name == "" {
			name = "."
		}
		limit, listed := b.of[name]
		if !listed {
			limit = b.rest
		}
		mark := ""
		if m.cpu().Seconds()/scale > 2*limit {
			over, mark = append(over, name), "  over twice its budget"
		}
		fmt.Fprintf(t, "%.1f\t%.1f\t%.1f\t%.0f\t %s%s\n", m.User.Seconds(), m.System.Seconds(), m.cpu().Seconds()/scale, limit, name, mark)
		sum.User, sum.System = sum.User+m.User, sum.System+m.System
	}
	fmt.Fprintf(t, "%.1f\t%.1f\t%.1f\t\t %d packages; the yardstick takes %.2f times what budgets.txt says\n", sum.User.Seconds(), sum.System.Seconds(), sum.cpu().Seconds()/scale, len(list), scale)
	t.Flush()
	return over
}

// rootOf is the module's folder: the nearest one above a measured folder that has a go.mod.
func rootOf(list []measured) string {
	if len(list) == 0 {
		return ""
	}
	for dir := list[0].Folder; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.ToSlash(dir)
		}
	}
	return ""
}
