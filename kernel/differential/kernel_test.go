package differential_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// kernel is the interpreter in a process of its own.
type kernel struct {
	in  *json.Encoder
	out *json.Decoder
	end func() error
}

// answer is what comes of a cell.
type answer struct{ Value, Error string }

const kernelEnded = "the kernel ended"

var folder string // of the kernel, to be removed

// binary builds the kernel with what runs cells without Jupyter.
var binary = sync.OnceValues(func() (file string, err error) {
	if folder, err = os.MkdirTemp("", "drtmx-differential"); err != nil {
		return "", err
	}
	for _, sources := range []string{"../mkkernel/*.go", "../mkkernel/*/*.go", "../gophernotes/*.go", "../bind/*"} {
		names, err := filepath.Glob(sources)
		if err != nil {
			return "", err
		}
		for _, name := range names { // what is read here is what a cached result of this test depends on
			if _, err := os.ReadFile(name); err != nil {
				return "", err
			}
		}
	}
	file = filepath.Join(folder, "kernel")
	if out, err := exec.Command("go", "run", "drtmx/kernel/mkkernel", "-tags", "drtmxprobe", "-o", file).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return file, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if folder != "" {
		os.RemoveAll(folder)
	}
	os.Exit(code)
}

func start(t testing.TB) *kernel {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the kernel; not in short mode")
	}
	file := os.Getenv("DRTMX_KERNEL") // one to try, which is not built
	if file == "" {
		var err error
		if file, err = binary(); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(file, "cells")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if testing.Verbose() {
		cmd.Stderr = os.Stderr
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &kernel{
		in:  json.NewEncoder(in),
		out: json.NewDecoder(bufio.NewReader(out)),
		end: func() error { return errors.Join(in.Close(), cmd.Wait()) },
	}
}

// run runs a cell.
func (k *kernel) run(t testing.TB, cell string) (a answer) {
	t.Helper()
	if err := k.in.Encode(cell); err != nil {
		return answer{Error: kernelEnded}
	}
	if err := k.out.Decode(&a); err == io.EOF {
		return answer{Error: kernelEnded}
	} else if err != nil {
		t.Fatal(err)
	}
	return a
}
