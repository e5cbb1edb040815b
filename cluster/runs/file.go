package runs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// FileVariable is the environment variable that names the file.
const FileVariable = "DRTMX_RUNS"

// chosen is the file that this process was told to use, and what it has open.
var chosen struct {
	mu   sync.Mutex
	file string
	open map[string]*Store
}

// Use makes file the one that Default opens; "" is that of the environment, or the user's own.
func Use(file string) {
	chosen.mu.Lock()
	chosen.file = file
	chosen.mu.Unlock()
}

// Named says that the file was named: by Use or the environment.
func Named() bool {
	chosen.mu.Lock()
	defer chosen.mu.Unlock()
	return chosen.file != "" || os.Getenv(FileVariable) != ""
}

// File is the file that Default opens.
func File() (string, error) {
	chosen.mu.Lock()
	defer chosen.mu.Unlock()
	return file()
}

func file() (string, error) {
	if chosen.file != "" {
		return chosen.file, nil
	}
	if f := os.Getenv(FileVariable); f != "" {
		return f, nil
	}
	dir := os.Getenv("XDG_DATA_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("run store: no folder for data: set XDG_DATA_HOME or HOME, or name a file with %s", FileVariable)
		}
		dir = filepath.Join(home, ".local", "share")
		if runtime.GOOS == "darwin" {
			dir = filepath.Join(home, "Library", "Application Support")
		}
	}
	return filepath.Join(dir, "drtmx", "runs.db"), nil
}

// Default is the store of this process, shared by all callers: a run is computed once, however many need it.
func Default() (*Store, error) {
	chosen.mu.Lock()
	defer chosen.mu.Unlock()
	f, err := file()
	if err != nil {
		return nil, err
	}
	if s := chosen.open[f]; s != nil {
		return s, nil
	}
	s, err := Open(Options{File: f})
	if err != nil {
		return nil, err
	}
	if chosen.open == nil {
		chosen.open = map[string]*Store{}
	}
	chosen.open[f] = s
	return s, nil
}

// CloseDefault closes what Default opened.
func CloseDefault() error {
	chosen.mu.Lock()
	defer chosen.mu.Unlock()
	var errs []error
	for f, s := range chosen.open {
		errs = append(errs, s.Close())
		delete(chosen.open, f)
	}
	return errors.Join(errs...)
}
