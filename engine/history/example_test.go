package history_test

import (
	"fmt"

	"drtmx/engine/history"
)

// Two transactions read the same version of a record and both overwrite it.
func ExampleRecorder() {
	account := history.MakeKey(1, 7)
	r := history.New(history.Options{
		Claim:   history.Serializable,
		KeyName: func(k history.Key) string { return fmt.Sprintf("account/%d", k.Row()) },
	})
	r.Begin(0, 1_000_000)
	r.Begin(1, 1_200_000)
	r.Add(&history.Txn{
		ID: 1, Session: 0, Begin: 1_000_000, End: 3_000_000,
		Reads:  []history.Read{{Key: account, Version: 2}},
		Writes: []history.Write{{Key: account, Old: 2, New: 4}},
	})
	r.Add(&history.Txn{
		ID: 2, Session: 1, Begin: 1_200_000, End: 3_500_000,
		Reads:  []history.Read{{Key: account, Version: 2}},
		Writes: []history.Write{{Key: account, Old: 4, New: 6}},
	})
	rep := r.Finish()
	fmt.Println(rep.OK)
	for _, a := range rep.Anomalies {
		fmt.Printf("%s: %s\n", a.Kind, a.Text)
	}
	// Output:
	// false
	// G-single: T2 read account/7 at version 2, which T1 overwrote with version 4; T1 wrote account/7 at version 4, which T2 overwrote with version 6: each would have to come before the other
}
