package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"drtmx/cluster/words"
	"drtmx/cluster/work"
	"drtmx/engine/batch"
	"drtmx/engine/code"
	"drtmx/engine/experiment"
)

// Lab is where workers compute the points of sweeps and figures: a NATS server with JetStream that they and this process
// are connected to. See package work.
type Lab struct {
	URL string
	q   *work.Remote
	s   *sender

	// Of one on this machine.
	dir   string
	procs []*process
}

// Open connects to a lab, as "nats://host:4222".
func Open(ctx context.Context, o work.Options) (*Lab, error) {
	q, err := work.Dial(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Lab{URL: o.URL, q: q, s: newSender(q, underWay, 0)}, nil
}

// Runner computes runs in the lab.
func (l *Lab) Runner() batch.Runner { return l.s }

// Close leaves the lab. One that StartLab started ends.
func (l *Lab) Close() {
	l.q.Close()
	for i := len(l.procs) - 1; i >= 0; i-- { // the server last
		l.procs[i].end()
	}
	if l.dir != "" {
		_ = os.RemoveAll(l.dir) // it is in the folder for temporary files
	}
}

// Workers are the workers of a lab.
type Workers struct {
	Same   []work.Info // those with the code of this process, which take its points
	Others []work.Info
	// Beyond is how many points under way no worker has the memory for, BeyondBytes what the largest needs.
	Beyond      int
	BeyondBytes int64
}

// Ask lists the workers of the lab now.
func (l *Lab) Ask(ctx context.Context) (*Workers, error) {
	list, err := l.q.Workers(ctx)
	if err != nil {
		return nil, err
	}
	var w Workers
	for _, i := range list {
		if i.Code == code.Build() {
			w.Same = append(w.Same, i)
		} else {
			w.Others = append(w.Others, i)
		}
	}
	w.Beyond, w.BeyondBytes = l.s.beyond(w.Same)
	return &w, nil
}

// AtOnce is how many points the workers with this code compute at once.
func (w *Workers) AtOnce() (n int) {
	for _, i := range w.Same {
		n += i.Parallel
	}
	return n
}

// Trouble says in a line why points wait; "" where none has to.
func (w *Workers) Trouble() string {
	switch {
	case len(w.Same) == 0 && len(w.Others) == 0:
		return "no worker is there: points wait; start workers with drtmx worker --server URL"
	case len(w.Same) == 0:
		return fmt.Sprintf("no worker has this code (%s), %d have another: points wait; start workers of the same build", code.Build(), len(w.Others))
	case w.Beyond > 0:
		return fmt.Sprintf("no worker takes points that need %s, of which %d wait; start one with more memory: drtmx worker --memory", experiment.BytesText(w.BeyondBytes), w.Beyond)
	}
	return ""
}

// Line is how many there are and what they do, in a line.
func (w *Workers) Line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d workers", len(w.Same))
	if len(w.Same) == 1 {
		b.Reset()
		b.WriteString("1 worker")
	}
	if n := len(w.Others); n > 0 {
		fmt.Fprintf(&b, " (%d of other code)", n)
	}
	const most = 6 // that a terminal has room for
	for i, x := range w.Same {
		if i == most {
			fmt.Fprintf(&b, ", %d more", len(w.Same)-most)
			break
		}
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		fmt.Fprintf(&b, "%s%s %d/min", sep, x.Name, x.PerMinute)
	}
	return b.String()
}

func (w *Workers) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d workers with this code, %d points at once; %d of other code", len(w.Same), w.AtOnce(), len(w.Others))
	for _, i := range w.Same {
		fmt.Fprintf(&b, "\n%-32s %3d at once %8s %6d done %4d/min", i.Name, i.Parallel, memoryText(i.MemoryBytes), i.Done, i.PerMinute)
	}
	return b.String()
}

func memoryText(n int64) string {
	if n == 0 {
		return "-"
	}
	return experiment.BytesText(n)
}

// HTML is the same as a table.
func (w *Workers) HTML() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<p>%d workers with this code, %d of other code</p><table><tr><th>worker</th><th>points at once</th><th>memory</th><th>points done</th><th>per minute</th></tr>", len(w.Same), len(w.Others))
	for _, i := range w.Same {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%d</td><td>%s</td><td>%d</td><td>%d</td></tr>", html.EscapeString(i.Name), i.Parallel, memoryText(i.MemoryBytes), i.Done, i.PerMinute)
	}
	return b.String() + "</table>"
}

func (l *Lab) String() string { return "lab at " + l.URL }

// HTML is String for a notebook.
func (l *Lab) HTML() string { return "<p>" + html.EscapeString(l.String()) + "</p>" }

const (
	maxLocal   = 64
	startLimit = 20 * time.Second
)

// Start starts a server and so many workers on this machine, each a process of its own with one point at once. It needs the
// command drtmx; see CommandPath. Close ends them, and so does the end of this process.
func Start(ctx context.Context, workers int) (_ *Lab, err error) {
	if workers < 1 || workers > maxLocal {
		return nil, &experiment.SpecError{Field: "workers", Value: fmt.Sprint(workers), Rule: fmt.Sprintf("must be from 1 to %d", maxLocal), Next: "one per core is enough"}
	}
	command, err := CommandPath()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "drtmx-lab-")
	if err != nil {
		return nil, err
	}
	lab := &Lab{dir: dir}
	defer func() {
		if err != nil {
			for _, p := range lab.procs {
				p.end()
			}
			_ = os.RemoveAll(dir)
		}
	}()
	server, err := startCommand(command, "serve-work", "--listen", "127.0.0.1:0", "--store", dir, "--until-eof")
	if err != nil {
		return nil, err
	}
	lab.procs = append(lab.procs, server)
	joined, err := Open(ctx, work.Options{URL: server.first})
	if err != nil {
		return nil, err
	}
	lab.URL, lab.q, lab.s = joined.URL, joined.q, joined.s
	for i := range workers {
		w, err := startCommand(command, "worker", "--server", lab.URL, "--parallel", "1", "--name", fmt.Sprintf("worker-%d", i+1), "--until-eof")
		if err != nil {
			return nil, err
		}
		lab.procs = append(lab.procs, w)
	}
	return lab, lab.gather(ctx, workers)
}

// gather waits until so many workers answer.
func (l *Lab) gather(ctx context.Context, workers int) error {
	for began := time.Now(); time.Since(began) < startLimit; {
		w, err := l.Ask(ctx)
		if err != nil {
			return err
		}
		if len(w.Same) >= workers {
			return nil
		}
		if len(w.Others) > 0 {
			return errors.New("the command drtmx is of another version than this kernel; build both: make build")
		}
	}
	return fmt.Errorf("%d workers did not start within %v", workers, startLimit)
}

// CommandPath finds the command drtmx: what DRTMX_COMMAND names, else a file beside this program, else in the path.
func CommandPath() (string, error) {
	if named := os.Getenv("DRTMX_COMMAND"); named != "" {
		return named, nil
	}
	if own, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(own), "drtmx")
		if fi, err := os.Stat(beside); err == nil && fi.Mode().IsRegular() {
			return beside, nil
		}
	}
	found, err := exec.LookPath("drtmx")
	if err != nil {
		return "", errors.New("the command drtmx is not in the path; make build makes bin/drtmx: add that folder to PATH, or name the file in DRTMX_COMMAND")
	}
	return found, nil
}

// process is a command that ends with its standard input, so with this process at the latest.
type process struct {
	cmd   *exec.Cmd
	input io.Closer
	first string // the first line it wrote
}

// startCommand starts a command and waits for its first line.
func startCommand(command string, args ...string) (*process, error) {
	cmd := exec.Command(command, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var trouble strings.Builder
	cmd.Stderr = &trouble
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, input: in}
	line, err := bufio.NewReader(out).ReadString('\n')
	if p.first = strings.TrimSpace(line); err != nil {
		p.end()
		return nil, fmt.Errorf("%s %s: %s", command, args[0], words.OneLine(trouble.String()))
	}
	return p, nil
}

// end lets the command end, and ends it where it does not.
func (p *process) end() {
	_ = p.input.Close()
	late := time.AfterFunc(startLimit/4, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	_ = p.cmd.Wait() // how it ended is of no interest
}
