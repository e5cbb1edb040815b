package dst

import (
	"strings"
	"testing"

	"drtmx/engine/knob"
	"drtmx/engine/testbed"
	"drtmx/engine/timestamp"
)

// A printed form is DST's: it has no effect under another scheme, which refuses it, and hosts are told by its traits.
func TestFormsAreOfDSTAlone(t *testing.T) {
	schemes := timestamp.Kinds{DST, TrueTime}
	row := formRow(func(knob.Values) *testbed.Load { return &testbed.Load{Transactions: true, ReadOnly: true} })
	for _, x := range []struct {
		scheme, form    string
		refused         bool
		byTuple, goBack bool
	}{
		{scheme: name, form: Sound},
		{scheme: name, form: AsPublishedWait, byTuple: true},
		{scheme: name, form: AsPublishedCommit, goBack: true},
		{scheme: TrueTime.Name, form: Sound},
		{scheme: TrueTime.Name, form: AsPublishedWait, refused: true},
		{scheme: timestamp.None, form: AsPublishedCommit},
	} {
		v := knob.Values{timestamp.Knob: x.scheme, formKnob: x.form}
		err := schemes.ValidElsewhere(v)
		if (err != nil) != x.refused || err != nil && !strings.Contains(err.Error(), "set ts.variant=sound, or ts.scheme=dst") {
			t.Errorf("%+v: %v", x, err)
		}
		if idle := row.Inactive(v) != ""; idle != (x.scheme != name) {
			t.Errorf("%+v: has no effect: %v", x, idle)
		}
		if k := schemes.Of(v); k != nil && !x.refused {
			if got := k.Traits(v); got.WaitsByTuple != x.byTuple || got.SetsTupleBack != x.goBack {
				t.Errorf("%+v: %+v", x, got)
			}
		}
	}
}
