//go:build drtmxkernel && drtmxprobe

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"drtmx/dashboard/charts"
)

func init() { runCells = cells }

// cells runs cells as Jupyter's would be, each a JSON string on r, and writes to w what comes of it: the text of its
// last value, or its error.
func cells(r io.Reader, w io.Writer) error {
	os.Stdout = os.Stderr // what cells print is not what comes of them
	s := newInterpreter()
	in, out := json.NewDecoder(r), json.NewEncoder(w)
	for {
		var code string
		if err := in.Decode(&code); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		ExecCounter++
		charts.BeginCell(code)
		s.stop.begin()
		late := time.AfterFunc(30*time.Second, s.interrupt) // one that does not end
		c := cell{s: s, code: code}
		err := recovered(func() error { return c.run(OutErr{io.Discard, io.Discard}) })
		var answer struct{ Value, Error string }
		if err == nil {
			err = recovered(func() error { answer.Value = fmt.Sprint(c.values...); return nil })
		}
		if err != nil {
			answer.Error = explain(err.Error(), s.names())
		}
		late.Stop()
		s.stop.end()
		charts.EndCell()
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
}
