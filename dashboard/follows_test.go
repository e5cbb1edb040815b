package dashboard

import (
	"reflect"
	"testing"

	"drtmx/dashboard/lineage"
	"drtmx/engine/experiment"
)

// A page that comes late learns of earlier changes from the session; one that is
// there follows the events.
func TestLineageFollows(t *testing.T) {
	f := newFake(t)
	f.set(t, experiment.Knobs{"ddio": false})
	ls := lineage.New(f)
	l, err := ls.Get(t.Context(), f.systems[0])
	if err != nil {
		t.Fatal(err)
	}
	if l.Start["ddio"] != true || l.At(2).Values["ddio"] != false || l.At(3).Values != nil {
		t.Errorf("after one change: %v", l.At(2))
	}
	f.set(t, experiment.Knobs{"coroutines": 4})
	if l, err = ls.Get(t.Context(), f.systems[0]); err != nil {
		t.Fatal(err)
	}
	if got := l.Inverse(3); !reflect.DeepEqual(got, experiment.Knobs{"coroutines": 8}) {
		t.Errorf("undo of the latest: %v", got)
	}
	f.systems[0].Epoch, f.systems[0].KnobsVersion, f.events = "e2", 1, nil
	if l, err = ls.Get(t.Context(), f.systems[0]); err != nil || l.Epoch != "e2" || l.At(1).Values == nil || l.At(2).Values != nil || l.Start["ddio"] != true {
		t.Errorf("after a reset: %+v, %v", l, err)
	}
}
