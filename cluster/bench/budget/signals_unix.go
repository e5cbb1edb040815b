//go:build unix

package main

import (
	"os"
	"syscall"
)

var passedOn = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
