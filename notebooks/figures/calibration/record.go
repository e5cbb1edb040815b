package calibration

import (
	_ "embed"
	"fmt"
	"strings"
)

// passedFile has the rows that passed when they were last recorded, an id a line:
// one of them that is off now is a step back.
//
//go:embed passed.txt
var passedFile string

// passedBefore are the ids of a record.
func passedBefore(record string) map[string]bool {
	out := map[string]bool{}
	for _, id := range strings.Fields(record) {
		out[id] = true
	}
	return out
}

// Lost are the rows that passed when they were recorded and do not now.
func (v *Report) Lost() []string {
	var ids []string
	for _, r := range v.Rows {
		if r.Before && !r.Pass {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// Err names the rows that are lost.
func (v *Report) Err() error {
	lost := v.Lost()
	if len(lost) == 0 {
		return nil
	}
	return fmt.Errorf("rows of the calibration table passed before and are off now: %s", strings.Join(lost, ", "))
}

// Record is the file of the rows that pass now, to take the place of passed.txt.
func (v *Report) Record() []byte {
	var b strings.Builder
	for _, r := range v.Rows {
		if r.Pass {
			fmt.Fprintln(&b, r.ID)
		}
	}
	return []byte(b.String())
}
