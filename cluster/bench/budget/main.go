// Command budget runs go test and holds each package's tests to a budget of CPU time.
//
//	budget [-budgets FILE] [go test's flags and packages]
//
// It runs "go test" with itself as -exec, so that each test binary is a child whose CPU time, user and system with that
// of its own children, is known when it ends. Go test prints what it always prints. At the end comes a table of CPU
// seconds by package. A package that takes more than twice its budget fails the run; budgets.txt has the budgets.
//
// Budgets are seconds of the machine that they were written on. Before each test binary runs, the program measures a
// yardstick, a fixed computation of the kind that the simulator does. The ratio of its median to the yardstick in
// budgets.txt scales what was measured.
//
// Caveats. Go test keeps no results of runs with -exec: every package runs. A child that a test leaves behind does not
// count. Neighbours on the machine slow the yardstick as well, though not always by as much: hence twice the budget.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

const usage = "usage: budget [-budgets FILE] go test's flags and packages"

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "budget:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(args []string) (code int, err error) {
	switch {
	case len(args) == 1 && args[0] == "-yardstick":
		work(yardstickEvents)
		return 0, nil
	case len(args) > 2 && args[0] == "-into":
		return child(args[1], args[2:])
	}
	file := "cluster/bench/budget/budgets.txt"
	if len(args) > 1 && args[0] == "-budgets" {
		file, args = args[1], args[2:]
	}
	if len(args) == 0 {
		return 2, errors.New(usage)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return 1, err
	}
	b, err := parseBudgets(string(text))
	if err != nil {
		return 1, fmt.Errorf("%s: %w", file, err)
	}
	return test(b, args)
}

// test runs go test and prints the table. Its status is go test's, or 1 if a package is over its budget.
func test(b *budgets, args []string) (code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	into, err := os.MkdirTemp("", "budget")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(into)
	cmd := exec.Command("go", append([]string{"test", "-exec", fmt.Sprintf("'%s' -into '%s'", self, into)}, args...)...)
	if code, err = status(cmd); err != nil {
		return 1, err
	}
	list, err := readMeasured(into)
	if err != nil {
		return 1, err
	}
	if over := b.print(os.Stdout, list); len(over) > 0 {
		return 1, fmt.Errorf("more than twice the budget: %v; make their tests cheaper, or raise the budget in budgets.txt and say why", over)
	}
	return code, nil
}

// child runs a test binary where go test wants it to run: in the folder of its package.
func child(into string, args []string) (code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	folder, err := os.Getwd()
	if err != nil {
		return 1, err
	}
	stick := exec.Command(self, "-yardstick")
	if err := stick.Run(); err != nil {
		return 1, fmt.Errorf("yardstick: %w", err)
	}
	cmd := exec.Command(args[0], args[1:]...)
	if code, err = status(cmd); err != nil {
		return 1, err
	}
	m := measured{Folder: folder, User: cmd.ProcessState.UserTime(), System: cmd.ProcessState.SystemTime(), Yardstick: stick.ProcessState.UserTime()}
	return code, m.write(into)
}

// status runs a command on our own streams and returns its exit status. Signals to us are passed on: go test ends a test
// that takes too long with one, and the test then says where it is.
func status(cmd *exec.Cmd) (code int, err error) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, passedOn...)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	ended := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-signals:
				cmd.Process.Signal(s) // a process that has ended needs none
			case <-ended:
				return
			}
		}
	}()
	err = cmd.Wait()
	close(ended)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case !errors.As(err, &exit):
		return 1, err
	case exit.ExitCode() < 0: // a signal ended it
		fmt.Fprintln(os.Stderr, exit)
		return 1, nil
	}
	return exit.ExitCode(), nil
}
