package points

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/lab"
	"drtmx/cluster/work"
	"drtmx/engine/code"
	"drtmx/engine/experiment"
)

const defaultServer = "nats://127.0.0.1:4222"

func WorkerCommand() *cobra.Command {
	var f cli.LabFlags
	var parallel int
	var lost time.Duration
	var memory, name string
	var untilEOF bool
	cmd := &cobra.Command{
		Use:   "worker --server URL",
		Short: "Computes points of sweeps and figures that others send",
		Long: "Takes points from a NATS server with JetStream (drtmx serve-work starts one) and computes them, until Ctrl-C, which hands back what is under way. " +
			"It takes points of its own version of the code only.",
		Args: cli.Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Server == "" {
				f.Server = defaultServer
			}
			if parallel < 0 || parallel > 4096 {
				return &experiment.SpecError{Field: "parallel", Value: strconv.Itoa(parallel), Rule: "must be from 1 to 4096", Next: "0 is one per core"}
			}
			bytes, err := memoryFlag(memory)
			if err != nil {
				return err
			}
			if lost < time.Second || lost > time.Hour {
				return &experiment.SpecError{Field: "lost-after", Value: lost.String(), Rule: "must be from 1s to 1h", Next: "such as --lost-after 15s"}
			}
			say := cli.LineWriter(cmd.ErrOrStderr())
			ctx, stop := withStdinEOF(cmd.Context(), untilEOF)
			defer stop()
			o := f.Options(say)
			o.AckWait = lost
			q, err := dialPatiently(ctx, o, say)
			if err != nil {
				return err
			}
			defer q.Close()
			w := work.Worker{Name: name, Code: code.Build(), Parallel: parallel, MemoryBytes: bytes, Compute: lab.Compute, Log: say}
			if w.Parallel == 0 {
				w.Parallel = runtime.GOMAXPROCS(0)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "worker of %s: %d at once, %s of memory, code %s\n", f.Server, w.Parallel, memoryText(bytes), w.Code)
			room := make([]byte, collectorRoom)
			defer runtime.KeepAlive(room)
			return q.Work(ctx, w)
		},
	}
	f.Add(cmd, "take points")
	fl := cmd.Flags()
	fl.IntVar(&parallel, "parallel", 0, "points at once; 0 is one per core")
	fl.StringVar(&memory, "memory", "", "memory for all points together, as `8GB`; default: what is available when it starts")
	fl.DurationVar(&lost, "lost-after", 15*time.Second, "a worker that is silent for so long is lost, and its points go to others; the same for all workers of a server")
	fl.StringVar(&name, "name", "", "`NAME` that senders see; default: host and process")
	fl.BoolVar(&untilEOF, "until-eof", false, "end when standard input ends, as with the program that started it")
	return cmd
}

// collectorRoom is allocated and never touched, so it is not resident. It counts as heap: the collector begins when the
// heap has doubled, so it comes for small points, of which there are many, less often. That is a sixth of a worker's CPU time, for at most so
// much more memory, however large the points are.
const collectorRoom = 64 << 20

func memoryText(n int64) string {
	if n == 0 {
		return "any amount"
	}
	return experiment.BytesText(n)
}

// memoryFlag reads an amount of memory; "" is what is available.
func memoryFlag(text string) (int64, error) {
	if text == "" {
		return experiment.AvailableMemory(), nil
	}
	n, ok := parseBytes(text)
	if !ok || n < 1<<20 {
		return 0, &experiment.SpecError{Field: "memory", Value: text, Rule: "must be an amount of at least 1MB", Next: "such as --memory 8GB"}
	}
	return n, nil
}

// parseBytes reads an amount such as 300MB; without a unit it is bytes.
func parseBytes(text string) (int64, bool) {
	unit := int64(1)
	number := strings.TrimSpace(text)
	for _, u := range []struct {
		name  string
		bytes int64
	}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}} {
		if rest, ok := strings.CutSuffix(strings.ToUpper(number), u.name); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !(x >= 0 && x*float64(unit) < 1<<62) {
		return 0, false
	}
	return int64(x * float64(unit)), true
}

// withStdinEOF is a context that also ends with standard input, if wanted.
func withStdinEOF(ctx context.Context, untilEOF bool) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if untilEOF {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // an error ends it as well
			cancel()
		}()
	}
	return ctx, cancel
}

// dialPatiently waits for a server that is not there yet: in a batch system workers may be sooner.
func dialPatiently(ctx context.Context, o work.Options, say func(string)) (*work.Remote, error) {
	const again = time.Second
	said := false
	for {
		q, err := work.Dial(ctx, o)
		if err == nil || work.Refused(err) {
			return q, err
		}
		if !said {
			say("waiting: " + err.Error())
			said = true
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		}
	}
}
