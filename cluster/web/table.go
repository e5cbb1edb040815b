package web

import (
	"net/http"

	"drtmx/cluster/agent"
	"drtmx/cluster/job"
	"drtmx/cluster/twin"
	"drtmx/engine/experiment"
	"drtmx/engine/knob"
	"drtmx/engine/result"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
)

// The rows that the client asks as well have names.
var (
	knobsOf = route[none, knobStates]{method: "GET", path: "/api/knobs", serve: func(s *server, c call, _ none) (knobStates, error) {
		return s.jobs.Knobs(c, c.sys)
	}}
	setKnobs   = route[experiment.Knobs, changes]{method: "PATCH", path: "/api/knobs", serve: (*server).set}
	stateRoute = route[none, state]{method: "GET", path: "/api/state", serve: func(s *server, c call, _ none) (state, error) {
		return s.state(c.sys)
	}}
	windowsOf = route[windowsQuery, []result.Window]{method: "GET", path: "/api/windows", serve: (*server).windows, file: windowsFile}
	command   = route[agent.Command, state]{method: "POST", path: "/api/control", long: true, serve: func(s *server, c call, in agent.Command) (state, error) {
		if in.Seed != nil {
			in.Seed = knob.Known("seed", in.Seed)
		}
		if err := s.jobs.Control(c, c.sys, in, c.by); err != nil {
			return state{}, err
		}
		return s.state(c.sys)
	}}
	systems = route[none, []system.Snapshot]{method: "GET", path: "/api/systems", serve: func(s *server, _ call, _ none) ([]system.Snapshot, error) {
		return s.jobs.Systems(), nil
	}}
	fork        = route[forkOrder, system.Snapshot]{method: "POST", path: "/api/systems", long: true, serve: (*server).fork}
	closeSystem = route[none, []system.Snapshot]{method: "DELETE", path: "/api/systems", serve: func(s *server, c call, _ none) ([]system.Snapshot, error) {
		if err := s.jobs.CloseSystem(c.sys); err != nil {
			return nil, err
		}
		return s.jobs.Systems(), nil
	}}
	sessionOf = route[none, []byte]{method: "GET", path: "/api/session",
		serve: func(s *server, c call, _ none) ([]byte, error) { return s.jobs.Session(c, c.sys) },
		file: func(_ none, b []byte) (file, bool, error) {
			return file{"application/x-ndjson", "session.jsonl", b}, true, nil
		},
	}
	specOf = route[none, strictSpec]{method: "GET", path: "/api/spec", serve: func(s *server, c call, _ none) (strictSpec, error) {
		spec, err := s.jobs.Spec(c, c.sys)
		return strictSpec{spec}, err
	}}
	run = route[runOrder, *result.Result]{method: "POST", path: "/api/run", long: true, serve: func(s *server, c call, in runOrder) (*result.Result, error) {
		return s.jobs.Run(c, c.sys, in.VirtualNS)
	}}
	trace   = route[traceOrder, traced]{method: "POST", path: "/api/trace", long: true, serve: (*server).trace}
	nodesOf = route[nodesQuery, []result.NodeInside]{method: "GET", path: "/api/nodes", serve: func(s *server, c call, in nodesQuery) ([]result.NodeInside, error) {
		ns, err := s.jobs.Inside(c, c.sys, in.Measured)
		return append([]result.NodeInside{}, ns...), err
	}}
)

// table are all routes but the history and the feed of frames, which are streams.
var table = []row{
	&knobsOf, &setKnobs, &stateRoute, &windowsOf, &command, &systems, &fork, &closeSystem, &sessionOf, &specOf, &run, &trace, &nodesOf,
	&route[none, *result.Result]{method: "GET", path: "/api/result", serve: func(s *server, c call, _ none) (*result.Result, error) {
		return s.jobs.Result(c, c.sys)
	}},
	&route[none, []session.Event]{method: "GET", path: "/api/events", serve: func(s *server, c call, _ none) ([]session.Event, error) {
		ev, err := s.jobs.Events(c, c.sys)
		return append([]session.Event{}, ev...), err
	}},

	&route[none, []job.FigureInfo]{method: "GET", path: "/api/figures", serve: func(s *server, _ call, _ none) ([]job.FigureInfo, error) {
		return s.jobs.Figures(), nil
	}},
	&route[none, job.Figure]{method: "GET", path: "/api/figures/{id}", serve: func(s *server, c call, _ none) (job.Figure, error) {
		return s.jobs.Latest(c.id)
	}},
	&route[none, job.FigureState]{method: "GET", path: "/api/figures/{id}/state", serve: func(s *server, c call, _ none) (job.FigureState, error) {
		return s.jobs.Figure(c.id)
	}},
	&route[job.FigureOrder, begunTask]{method: "POST", path: "/api/figures/{id}", code: http.StatusAccepted, serve: func(s *server, c call, in job.FigureOrder) (begunTask, error) {
		task, err := s.jobs.StartFigure(c.id, in)
		return begunTask{task}, err
	}},
	&route[none, cancelled]{method: "DELETE", path: "/api/figures/{id}", serve: func(s *server, c call, _ none) (cancelled, error) {
		return cancelled{true}, s.jobs.StopFigure(c.id)
	}},
	&route[job.ChapterOrder, begunTasks]{method: "POST", path: "/api/figures", code: http.StatusAccepted, serve: func(s *server, _ call, in job.ChapterOrder) (begunTasks, error) {
		tasks, err := s.jobs.StartChapter(in)
		return begunTasks{tasks}, err
	}},
	&route[job.ChapterOrder, cancelledTasks]{method: "DELETE", path: "/api/figures", serve: func(s *server, _ call, in job.ChapterOrder) (cancelledTasks, error) {
		n, err := s.jobs.StopChapter(in)
		return cancelledTasks{n}, err
	}},
	&route[job.FigurePoint, system.Snapshot]{method: "POST", path: "/api/figures/{id}/live", long: true, serve: func(s *server, c call, in job.FigurePoint) (system.Snapshot, error) {
		return s.jobs.OpenFigurePoint(c, c.id, in)
	}},

	&route[none, job.CausesState]{method: "GET", path: "/api/causes", serve: func(s *server, c call, _ none) (job.CausesState, error) {
		return s.jobs.Causes(c.sys)
	}},
	&route[job.CausesOrder, begunTask]{method: "POST", path: "/api/causes", code: http.StatusAccepted, serve: func(s *server, c call, in job.CausesOrder) (begunTask, error) {
		task, err := s.jobs.StartCauses(c, c.sys, in)
		return begunTask{task}, err
	}},
	&route[none, cancelled]{method: "DELETE", path: "/api/causes", serve: func(s *server, c call, _ none) (cancelled, error) {
		return cancelled{true}, s.jobs.StopCauses(c.sys)
	}},

	&route[none, job.SweepState]{method: "GET", path: "/api/sweep", serve: func(s *server, c call, _ none) (job.SweepState, error) {
		return s.jobs.Sweep(c.sys)
	}},
	&route[job.SweepOrder, begunTask]{method: "POST", path: "/api/sweep", code: http.StatusAccepted, serve: func(s *server, c call, in job.SweepOrder) (begunTask, error) {
		task, err := s.jobs.StartSweep(c, c.sys, in)
		return begunTask{task}, err
	}},
	&route[none, cancelled]{method: "DELETE", path: "/api/sweep", serve: func(s *server, c call, _ none) (cancelled, error) {
		return cancelled{true}, s.jobs.StopSweep(c.sys)
	}},
	&route[job.SweepPoint, system.Snapshot]{method: "POST", path: "/api/sweep/live", long: true, serve: func(s *server, c call, in job.SweepPoint) (system.Snapshot, error) {
		return s.jobs.OpenSweepPoint(c, c.sys, in)
	}},

	&route[runsQuery, RunList]{method: "GET", path: "/api/runs", serve: func(_ *server, _ call, in runsQuery) (RunList, error) { return listRuns(in) }},
	&route[none, RunInfo]{method: "GET", path: "/api/runs/{id}", serve: func(_ *server, c call, _ none) (RunInfo, error) { return showRun(c.id) }},
	&route[pairQuery, *result.Comparison]{method: "GET", path: "/api/runs/compare", serve: func(_ *server, _ call, in pairQuery) (*result.Comparison, error) {
		return compareRuns(in)
	}},
	&route[replaceOrder, system.Snapshot]{method: "POST", path: "/api/runs/{id}/live", long: true, serve: (*server).openRun},

	&route[none, *twin.Twin]{method: "GET", path: "/api/twin", serve: func(s *server, _ call, _ none) (*twin.Twin, error) { return s.twin(), nil }},
	&route[twinOrder, *twin.Twin]{method: "POST", path: "/api/twin", serve: (*server).setTwin},

	&route[none, []agent.Task]{method: "GET", path: "/api/tasks", serve: func(s *server, _ call, _ none) ([]agent.Task, error) { return s.jobs.Tasks(), nil }},
	&route[taskQuery, cancelled]{method: "DELETE", path: "/api/tasks", serve: (*server).cancelTask},
}
