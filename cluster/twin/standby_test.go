package twin

import (
	"context"
	"testing"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// still is a system that stands, on a host that has no room for a twin.
type still struct {
	rec       *session.Recorder
	short     string
	announced []Twin
	of        *Standby
}

func (x *still) ID() string                    { return "a" }
func (x *still) Snapshot() *system.Snapshot    { return &system.Snapshot{Epoch: "1"} }
func (x *still) Recorder() *session.Recorder   { return x.rec }
func (x *still) WindowNS() int64               { return 1 }
func (x *still) Member(string) (Member, error) { return x, nil }
func (x *still) Open(context.Context, experiment.Spec, engine.Progress) (system.System, error) {
	panic("there is no room")
}
func (x *still) Hide(Member, system.System, *Follower) (Member, func()) { panic("there is no twin") }
func (x *still) Go(func(context.Context))                               {}
func (x *still) Announce()                                              { x.announced = append(x.announced, *x.of.Now()) }
func (x *still) ShortOfMemory(experiment.Spec) string                   { return x.short }

// What comes after a switch is announced, also where it is what was announced before the switch.
func TestStateAfterSwitchIsAnnounced(t *testing.T) {
	x := &still{rec: session.NewRecorder(session.Header{}, nil), short: "memory is short"}
	x.of = NewStandby(x, new(Spare), Options{})
	x.of.Open().Show("a")
	now := time.Now()
	x.of.tick(now)
	x.of.Switch(false)
	x.short = "something else is short"
	x.of.Switch(true)
	x.short = "memory is short"
	x.of.tick(now.Add(time.Hour))
	var said []string
	for _, s := range x.announced {
		said = append(said, s.State+" "+s.Why)
	}
	want := []string{"none memory is short", "off ", "none something else is short", "none memory is short"}
	if len(said) != len(want) {
		t.Fatalf("announced %q, want %q", said, want)
	}
	for i := range want {
		if said[i] != want[i] {
			t.Errorf("announced %q, want %q", said, want)
			break
		}
	}
}
