package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/handbook"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures"
)

const readmeFile = "../../README.md"

// commandLine is a command of drtmx as it stands in a text.
type commandLine struct{ in, text string }

var (
	fenced = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```$")
	inline = regexp.MustCompile("`((?:bin/)?drtmx(?: [^`]*)?)`")
)

// commandLines are those of the handbook and of the README: lines of blocks of code, and code within sentences.
func commandLines(t *testing.T) (out []commandLine) {
	t.Helper()
	readme, err := os.ReadFile(readmeFile)
	if err != nil {
		t.Fatal(err)
	}
	texts := []commandLine{{"README.md", string(readme)}}
	for _, p := range handbook.Pages() {
		texts = append(texts, commandLine{p.Name, p.Text})
	}
	for _, at := range texts {
		for _, block := range fenced.FindAllStringSubmatch(at.text, -1) {
			for line := range strings.Lines(block[1]) {
				line = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "$ "), "bin/")
				if strings.HasPrefix(line, "drtmx ") {
					out = append(out, commandLine{at.in, line})
				}
			}
		}
		for _, m := range inline.FindAllStringSubmatch(fenced.ReplaceAllString(at.text, ""), -1) {
			out = append(out, commandLine{at.in, strings.TrimPrefix(m[1], "bin/")})
		}
	}
	return out
}

// arguments splits a line as a shell does, as far as the handbook goes: quotes, and a comment at its end.
func arguments(line string) (out []string, err error) {
	word, in, quote := "", false, rune(0)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == '#' && !in:
			return out, nil
		case r == ' ' || r == '\t':
			if in {
				out, word, in = append(out, word), "", false
			}
		default:
			word, in = word+string(r), true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if in {
		out = append(out, word)
	}
	return out, nil
}

// Every command line of the handbook and of the README is one that drtmx takes: command, flags, arguments, spec and knobs, each of
// which has an effect.
func TestCommandsOfTheHandbook(t *testing.T) {
	lines := commandLines(t)
	if len(lines) < 120 {
		t.Errorf("%d command lines are found", len(lines))
	}
	for _, l := range lines {
		if err := resolves(l.text); err != nil {
			t.Errorf("%s: %s: %v", l.in, l.text, err)
		}
	}
	for _, wrong := range []string{"drtmx rum now", "drtmx run --sett a=b", "drtmx run nope", "drtmx run --set coroutines=0", "drtmx run --set workload.warehouses=2", "drtmx sweep --over thread=1,2",
		"drtmx figure 9-9", "drtmx help nope-nope", "drtmx knobs nope", "drtmx run 'a", "drtmx run a b", "drtmx sweep --over replicas=1,9"} {
		if resolves(wrong) == nil {
			t.Errorf("%s passes", wrong)
		}
	}
}

// standIns are words of sentences that stand for what a reader has.
var standIns = strings.NewReplacer("TOPIC", "results", "WORD", "bandwidth", "KNOB", "coroutines", "NAME", "val", "cc=mine", "cc=occ")

func resolves(line string) error {
	args, err := arguments(standIns.Replace(line))
	if err != nil {
		return err
	}
	return taken(args[1:])
}

// taken says what is wrong with arguments of drtmx.
func taken(args []string) error {
	root := rootCommand()
	root.InitDefaultHelpCmd()
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if cmd.Name() == "help" {
		if code, _, errs := call(args...); code != success {
			return errors.New(errs)
		}
		return nil
	}
	if err := cmd.ParseFlags(rest); err != nil {
		if errors.Is(err, pflag.ErrHelp) { // --help of a command that there is
			return nil
		}
		return err
	}
	rest = cmd.Flags().Args()
	if len(args) == 1 { // a sentence that names the command
		return nil
	}
	if err := cmd.ValidateArgs(rest); err != nil {
		return err
	}
	switch cmd.Name() {
	case "run", "up", "sweep", "why", "trace", "explore":
		return specResolves(cmd, rest)
	case "figure":
		return figureResolves(cmd, rest)
	case "knobs", "specs", "profiles":
		if code, _, errs := call(args...); code != success {
			return errors.New(errs)
		}
	}
	return nil
}

// specResolves: the spec opens, its knobs take their values at all points of the axes, and those that are set do something.
func specResolves(cmd *cobra.Command, args []string) error {
	var f exploreFlags
	probe := &cobra.Command{}
	f.Add(probe)
	var err error
	cmd.Flags().Visit(func(g *pflag.Flag) {
		if probe.Flags().Lookup(g.Name) == nil {
			return
		}
		values := []string{g.Value.String()}
		if list, several := g.Value.(pflag.SliceValue); several {
			values = list.GetSlice()
		}
		for _, v := range values {
			err = errors.Join(err, probe.Flags().Set(g.Name, v))
		}
	})
	if err != nil {
		return err
	}
	open := f.Spec
	if cmd.Name() == "explore" {
		open = f.tiny
	}
	spec, err := open(probe, args)
	if err != nil {
		return err
	}
	var axes []experiment.Axis
	over, _ := cmd.Flags().GetStringArray("over")
	for _, s := range over {
		a, err := experiment.ParseAxis(s)
		if err != nil {
			return err
		}
		axes = append(axes, a)
	}
	points, err := experiment.Product(axes)
	if err != nil {
		return err
	}
	for _, set := range points {
		at, err := spec.With(set)
		if err != nil {
			return err
		}
		each, err := at.Each()
		if err != nil {
			return err
		}
		for _, one := range each {
			if _, err := experiment.Describe(one); err != nil {
				return err
			}
		}
	}
	var names []string
	for _, s := range f.Set {
		name, _, err := experiment.ParseSetting(s)
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	for _, a := range axes {
		names = append(names, a.Knob)
	}
	return cli.RefuseIdle(spec, names, axes...)
}

func figureResolves(cmd *cobra.Command, args []string) error {
	for _, id := range args {
		if id == "all" || id == "list" {
			continue
		}
		if _, err := figures.Find(id); err != nil {
			return err
		}
	}
	set, _ := cmd.Flags().GetStringArray("set")
	_, err := cli.SetFlags(set)
	return err
}

// brief makes a run of the handbook one of a fraction of a second, in as far as the line itself does not say otherwise.
var brief = map[string]string{"threads": "2", "coroutines": "2", "warmup_ns": "20us", "duration_ns": "100us", "workload.scale": "0.01"}

// The short commands of the handbook run, at small sizes: run, trace and explore, and all that only print.
func TestShortCommandsRun(t *testing.T) {
	t.Setenv("DRTMX_RUNS", filepath.Join(t.TempDir(), "runs.db"))
	lines, ran := commandLines(t), map[string]bool{}
	t.Chdir(t.TempDir())
	for _, l := range lines {
		args, err := arguments(standIns.Replace(l.text))
		if err != nil || len(args) < 2 {
			continue
		}
		args = args[1:]
		switch args[0] {
		case "run", "trace":
			args = smaller(args)
		case "explore":
			args = append(args, "--bound", "1", "--steps", "1", "--budget", "1s")
		case "predict", "doctor", "figure":
			if args[0] == "figure" && !(len(args) == 2 && (args[1] == "list" || strings.HasPrefix(args[1], "t4-"))) || slices.Contains(args, "--run") {
				continue
			}
		default:
			continue
		}
		line := strings.Join(args, " ")
		if ran[line] {
			continue
		}
		ran[line] = true
		wants := []int{success}
		if args[0] == "explore" || strings.Contains(line, "cc=rc") { // may find what they are about
			wants = append(wants, failed)
		}
		if code, _, errs := call(args...); !slices.Contains(wants, code) {
			t.Errorf("%s: %s: status %d\n%s", l.in, line, code, errs)
		}
	}
	if len(ran) < 25 {
		t.Errorf("%d commands ran", len(ran))
	}
}

// smaller sets what is brief, in as far as it is not set and has an effect.
func smaller(args []string) []string {
	line := strings.Join(args, " ")
	for _, name := range slices.Sorted(maps.Keys(brief)) {
		more := append(slices.Clone(args), "--set", name+"="+brief[name])
		if !strings.Contains(line, " "+name+"=") && taken(more) == nil {
			args = more
		}
	}
	return args
}

// What the README shows of its commands is what they print: every line but those that are left out.
func TestOutputOfTheREADME(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the default cluster; not in short mode")
	}
	t.Setenv("DRTMX_RUNS", filepath.Join(t.TempDir(), "runs.db"))
	readme, err := os.ReadFile(readmeFile)
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(readme), "```console\n")
	block, _, _ = strings.Cut(block, "```")
	shown := 0
	for _, part := range strings.Split("\n"+block, "\n$ bin/drtmx ")[1:] {
		line, lines, _ := strings.Cut(part, "\n")
		args, err := arguments(line)
		if err != nil {
			t.Fatal(err)
		}
		shown++
		out := ok(t, args...)
		for want := range strings.Lines(lines) {
			if want = strings.TrimRight(want, "\n"); want != "…" && !strings.Contains("\n"+out, "\n"+want+"\n") {
				t.Errorf("bin/drtmx %s\nthe README has\n%s\nit prints\n%s", line, want, out)
			}
		}
	}
	if shown != 6 {
		t.Errorf("%d commands", shown)
	}
}
