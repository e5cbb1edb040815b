package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pairs are what the UDP program of ns-3 sends in one measurement: some two seconds.
const pairs = 100_000

// comparePair compares READs of 64 bytes with ns-3's requests and responses of 64 bytes over UDP, as many on their way per host, in turns.
func comparePair(ctx context.Context, dir, one string, reps int) (row, error) {
	r := row{what: "READ: rate / that of ns-3's UDP requests with responses", required: "at least 20", text: "not measured here", absent: true}
	root, err := sourceOf(ctx, "drtmx")
	if err != nil {
		return r, err
	}
	if err := outputOf(ctx, root, "make", "-s", "-C", "engine/sim/peers", "OUT="+dir, "udppair"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return r, ctx.Err()
	}
	var ours sample
	var theirs []float64
	for rep := range reps {
		fmt.Fprintf(os.Stderr, "\r\x1b[K%d of %d: READ and ns-3's UDP", rep+1, reps)
		v, err := runProgram(ctx, one, "-spec", "read")
		if err != nil {
			return r, err
		}
		ours = ours.with(v)
		text, err := exec.CommandContext(ctx, filepath.Join(dir, "udppair"), "16", "288", fmt.Sprint(pairs)).Output()
		if err != nil {
			return r, fmt.Errorf("udppair: %w", err)
		}
		var done, ns float64
		if _, err := fmt.Sscan(strings.TrimSpace(string(text)), &done, &ns); err != nil {
			return r, fmt.Errorf("udppair printed %q: %w", text, err)
		}
		theirs = append(theirs, done/ns*1e9)
	}
	r.value, r.absent = ours.median("rate")/median(theirs), false
	r.text, r.ok = fmt.Sprintf("%.1f", r.value), r.value >= 20
	return r, nil
}
