package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"drtmx/cluster/agent"
	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/drtmx/progress"
	"drtmx/cluster/job"
	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
	"drtmx/cluster/system"
	"drtmx/cluster/web"
	_ "drtmx/dashboard"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
)

// registers the page

type upFlags struct {
	cli.SpecFlags
	listen, pace, session, resume string
	forWall                       time.Duration
	tokenFile, viewTokenFile      string
	hosts                         []string
	cdn, noTwin                   bool
	keep                          cli.KeepFlags
}

func upCommand() *cobra.Command {
	var f upFlags
	cmd := &cobra.Command{
		Use:        "up [SPEC]",
		Short:      "Start a live cluster with its page",
		SuggestFor: []string{"start", "serve", "live", "dashboard"},
		Long:       "Starts a live cluster and serves its page. Ctrl-C ends it. With --session the session is written as it grows; replay runs it again, --resume continues it. With --keep its end is kept in the run store: what each system came to, and its recording.",
		Args:       cli.AtMost(1, "one spec at most"),
		RunE:       func(cmd *cobra.Command, args []string) error { return f.up(cmd, args) },
	}
	f.Add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", web.DefaultListen, "`ADDRESS` of the page; one that others can reach needs --token-file")
	fl.StringVar(&f.pace, "pace", defaultPace, "virtual time per second of wall time, or max")
	fl.StringVar(&f.session, "session", "", "`FILE` to write the session to; must not exist")
	fl.StringVar(&f.resume, "resume", "", "session `FILE` to continue")
	fl.DurationVar(&f.forWall, "for", 0, "end after this much wall time")
	fl.StringVar(&f.tokenFile, "token-file", "", "`FILE` with the token that may control")
	fl.StringVar(&f.viewTokenFile, "view-token-file", "", "`FILE` with the token that may only look")
	fl.StringArrayVar(&f.hosts, "host", nil, "`NAME` under which browsers may reach the page, besides localhost")
	fl.BoolVar(&f.cdn, "cdn", false, "let the page load its chart library from "+web.CDN+" if it is not built in")
	fl.BoolVar(&f.noTwin, "no-twin", false, "keep no hidden twin of the shown system: saves memory and CPU time, but ghosts must be replayed")
	f.keep.Add(cmd, "how each system ends, with its recording,")
	return cmd
}

func (f *upFlags) up(cmd *cobra.Command, args []string) error {
	pace, err := parsePace(f.pace)
	if err != nil {
		return err
	}
	if f.forWall <= 0 && cmd.Flags().Changed("for") {
		return &experiment.SpecError{Field: "for", Value: f.forWall.String(), Rule: "must be above 0", Next: "such as 30s, or leave it out to run until Ctrl-C"}
	}
	if f.resume != "" && (len(args) > 0 || f.Preset != "" || len(f.Set) > 0 || cmd.Flags().Changed("seed")) {
		return cli.Usage("--resume takes spec and knobs from the session; drop SPEC, --preset, --set and --seed")
	}
	spec, err := f.Spec(cmd, args)
	if err != nil {
		return err
	}
	if !sets(spec, "check") { // a live cluster runs for long
		if spec, err = spec.With(experiment.Knobs{"check": "sampled"}); err != nil {
			return err
		}
	}
	if err := f.keep.Check(cmd); err != nil {
		return err
	}
	access := web.Access{Hosts: f.hosts}
	if access.Control, err = tokenOf("token-file", f.tokenFile); err != nil {
		return err
	}
	if access.View, err = tokenOf("view-token-file", f.viewTokenFile); err != nil {
		return err
	}
	l, err := web.Listen(f.listen, access)
	if err != nil {
		return err
	}
	defer l.Close()
	b := progress.New(cmd.ErrOrStderr(), "open")
	live, err := agent.New(spec, agent.Options{Pace: pace, Session: f.session, Resume: f.resume, NoTwin: f.noTwin, Context: cmd.Context(), Progress: b.Tell})
	b.End()
	if err != nil {
		return err
	}
	h, err := web.Handler(job.For(live), web.Options{Access: access, CDN: f.cdn})
	if err != nil {
		live.Close()
		return err
	}
	say := cli.SayTo(cmd)
	say("the page of this cluster is on http://%s/ (Ctrl-C ends it)", pageHost(l.Addr(), f.hosts))
	if !charts.HasLibrary() && !f.cdn {
		say("charts are plain SVG: echarts was not there at build time (install npm and build again, or --cdn)")
	}
	return f.serve(cmd.Context(), live, func(ctx context.Context) error { return web.Serve(ctx, l, h) }, say)
}

// pageHost is the name and port under which browsers get the page. An address that
// stands for all of this machine is no name, and would be refused as one.
func pageHost(addr net.Addr, hosts []string) string {
	host, port, err := net.SplitHostPort(addr.String())
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return addr.String()
	}
	name := "localhost"
	if len(hosts) > 0 {
		name = hosts[0]
		if h, _, err := net.SplitHostPort(name); err == nil {
			name = h
		}
		name = strings.Trim(name, "[]") // an IPv6 address may come in brackets
	}
	return net.JoinHostPort(name, port)
}

// serve runs until Ctrl-C, --for or a failure of the server.
func (f *upFlags) serve(ctx context.Context, live *agent.Agent, serve func(context.Context) error, say func(string, ...any)) error {
	if f.forWall > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.forWall)
		defer cancel()
	}
	stop := tellLost(live, say)
	err := serve(ctx)
	stop()
	failure := errors.Join(failureOf(live), f.keepSessions(live, say))
	if cerr := live.Close(); err == nil {
		err = cerr
	}
	if file := f.session + f.resume; file != "" && err == nil {
		say("the session is in %s; drtmx replay %s runs it again", file, file)
	}
	if err == nil {
		err = failure
	}
	return err
}

// keepSessions keeps how the systems end that were not forked from others, if that is wanted.
func (f *upFlags) keepSessions(live *agent.Agent, say func(string, ...any)) error {
	if !f.keep.Kept() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), keepTime) // the command's has ended
	defer cancel()
	var errs []error
	for _, s := range live.Systems() {
		if s.ForkedFrom != "" || s.CatchingUp {
			continue
		}
		r, recording, err := live.Recorded(ctx, s.Sys)
		if err != nil {
			errs = append(errs, fmt.Errorf("system %s: not kept: %w", s.Sys, err))
			continue
		}
		if r.Commits == 0 {
			continue // nothing happened
		}
		errs = append(errs, f.keep.Keep(say, func(store *runs.Store) (runs.ID, error) { return keep.Session(store, f.keep.Note, r, recording) }))
	}
	return errors.Join(errs...)
}

// keepTime is how long the end of systems may take to be kept.
const keepTime = 30 * time.Second

// tellLost says at once that the session is no longer written, until it is stopped;
// after that the end of the agent does.
func tellLost(live *agent.Agent, say func(string, ...any)) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case err := <-live.RecordingErrors():
			say("%v (the cluster runs on; what was written before is kept)", err)
		case <-quit:
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// failureOf reports a system that ended failed.
func failureOf(live *agent.Agent) error {
	for _, s := range live.Systems() {
		if s.State == system.StateFailed {
			return fmt.Errorf("system %s failed: %s", s.Sys, s.Error)
		}
	}
	return nil
}

// tokenOf reads the token that a flag names the file of.
func tokenOf(flag, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	t, err := web.ReadToken(path)
	var bad *experiment.SpecError
	if errors.As(err, &bad) {
		bad.Field = flag
	}
	return t, err
}

// defaultPace is 6ms/s.
var defaultPace = time.Duration(agent.DefaultPace).String() + "/s"

// parsePace reads virtual time per second: "6ms/s", "6ms", or for flat out
// "max" or, as in the HTTP API, "0".
func parsePace(s string) (int64, error) {
	if s == "max" || s == "0" {
		return 0, nil
	}
	d, err := time.ParseDuration(strings.TrimSuffix(s, "/s"))
	if err != nil || d <= 0 {
		return 0, &experiment.SpecError{Field: "pace", Value: s, Rule: "must be virtual time per second such as 6ms/s, or max (flat out)", Next: "the default is " + defaultPace}
	}
	return d.Nanoseconds(), agent.CheckPace("pace", s, d.Nanoseconds())
}
